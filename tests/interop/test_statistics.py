"""Statistics are those of the real pi."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pivcs.ops.stats import Asked, Statistics, count_sessions
from pivcs.ops.view import open_file
from tests.builders import CLOCK, entry_line, header_line, message_line, tool_call_line, tool_result_line
from tests.interop.pi import MANAGER, find_pi

SCRIPT = Path(__file__).with_name("pi_statistics.mjs")
FIXTURES = os.environ.get("PIVCS_FIXTURES")


def ask(files: Sequence[Path], scratch: Path) -> list[dict[str, Any]]:
    """Return what pi says of sessions, which it may change."""
    folder = find_pi()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
    done = subprocess.run(
        [folder / "node", SCRIPT],
        input=json.dumps({"core": str((folder / MANAGER).parent), "files": [str(file) for file in files]}).encode(),
        env=kept | {"HOME": str(scratch), "PI_CODING_AGENT_DIR": str(scratch / "agent")},
        cwd=scratch,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def ours(file: Path, by: str | None = None) -> Statistics:
    return count_sessions(iter([open_file(file)]), Asked(by))


def check(files: Sequence[Path], scratch: Path) -> int:
    """Compare all numbers that both tell; return how many sessions have a cost."""
    copies = [scratch / f"copy of {file.name}" for file in files]
    for file, copy in zip(files, copies, strict=True):
        copy.write_bytes(file.read_bytes())
    with_cost = 0
    for file, theirs in zip(files, ask(copies, scratch), strict=True):
        stats, total = theirs["stats"], ours(file).counts.total
        tokens = {"input": total.input, "output": total.output, "total": total.tokens}
        tokens |= {"cacheRead": total.cache_read, "cacheWrite": total.cache_write}
        assert tokens == stats["tokens"], file.name
        assert total.cost == pytest.approx(stats["cost"], rel=1e-9), file.name
        counts = (total.prompts, total.answers, total.tool_calls)
        assert counts == (stats["userMessages"], stats["assistantMessages"], stats["toolCalls"]), file.name
        models = {group.key.name: group.counts.total for group in ours(file, "model").groups}
        for model in theirs["models"]:
            sums = models[None if model["key"] == "Tools/summaries" else model["key"]]
            assert sums.tokens == model["tokens"], file.name
            assert sums.cost == pytest.approx(model["cost"], rel=1e-9), file.name
        with_cost += stats["cost"] > 0
    return with_cost


@pytest.mark.skipif(FIXTURES is None, reason="PIVCS_FIXTURES is not set")
def test_totals_of_sessions_that_pi_wrote(tmp_path: Path) -> None:
    folder = Path(str(FIXTURES)) / "pi"
    files = []
    for expected in sorted(folder.glob("*.expected.json")):
        told = json.loads(expected.read_bytes())
        file = folder / f"{told['fixture']}.jsonl"
        opened = told.get("open", {}).get("ok") and told.get("entryCount") == told.get("distinctIds")
        if opened and file.exists() and _complete(file):
            files.append(file)
    assert len(files) >= 25
    assert check(files, tmp_path) >= 20


def _complete(file: Path) -> bool:
    """Whether every answer has the usage that pi adds up without a look."""
    with open_file(file) as view:
        entries = [view.entry(row).message for row in view.table.nodes()]
    answers = [message for message in entries if message is not None and message.role == "assistant"]
    return all(message.usage.cost is not None and message.usage.input is not None for message in answers)


def test_totals_of_made_up_sessions(tmp_path: Path) -> None:
    random = Random(45)
    files = []
    for number in range(40):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(_session(random))
        files.append(file)
    assert check(files, tmp_path) >= 30


def _session(random: Random) -> bytes:
    lines, above = [header_line()], None
    for number in range(random.randrange(2, 30)):
        ident, ms = f"{number:08x}", CLOCK + number * 1000
        amounts = {name: random.randrange(1000) for name in ("input", "output", "cacheRead", "cacheWrite")}
        usage = amounts | {"totalTokens": sum(amounts.values()), "cost": {"total": random.randrange(1000) / 512}}
        kind = random.choice(("user", "answer", "call", "result", "paid", "usage", "compaction", "branch_summary"))
        if kind == "user":
            made = message_line(ident, above, ms=ms)
        elif kind == "answer":
            more = random.choice(({}, {"responseModel": "routed"}, {"model": "small"}))
            made = message_line(ident, above, "assistant", ms=ms, usage=usage, **more)
        elif kind == "call":
            made = tool_call_line(ident, above, "bash", {}, ms=ms)
        elif kind == "result":
            made = tool_result_line(ident, above, "bash", ms=ms)
        elif kind == "paid":
            made = message_line(ident, above, "toolResult", ms=ms, toolName="agent", usage=usage)
        else:
            more = {"provider": "p", "model": "m"} if kind == "usage" else {"summary": "s", "firstKeptEntryId": ident}
            made = entry_line(kind, ident, above, ms=ms, **more, usage=usage)
        lines.append(made.replace(b'"total":0.0', b'"total":0'))
        above = random.choice((ident, ident, ident, above))
    return b"".join(lines)
