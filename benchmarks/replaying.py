"""Replaying a session of many edits: `python -m benchmarks.replaying 1000 10000`.

A made-up session reads files once and then edits them, each time at another place, with a shell command after every
tenth edit; details of results are a diff and a patch, as the client writes them. Three things are run in alternating
rounds, each in a process of its own:

- `indexing` reads the file: lines, ids, parents (what every command needs first);
- `replay` walks to the last entry, and gives the files there;
- `ahead` replays to the middle and looks ahead to the end.

The output is a Markdown table. Trust the ratios, not the seconds: all were measured on one machine in one run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from benchmarks.measure import Once, alternate, machine, run_process

FILES = 40
LINES = 400

ONCE = """
import sys, time
from pathlib import Path
from pivcs.ops.replaying import replay_path
from pivcs.ops.view import open_file
what, file = sys.argv[1:]
start = time.perf_counter()
with open_file(Path(file)) as view:
    assert view.head is not None
    middle = view.table.path(view.head)[len(view.table) // 2]
    if what != "indexing":
        start = time.perf_counter()
        states = replay_path(view, view.head if what == "replay" else middle)
        assert any(state.content for state in states.values())
    print(time.perf_counter() - start)
"""


def session(edits: int, seed: int) -> Iterator[bytes]:
    """Yield the lines of a session with so many edits."""
    random = Random(seed)
    files = {
        f"src/file{number}.py": [f"    value_{number}_{line} = compute({random.random()})" for line in range(LINES)]
        for number in range(FILES)
    }
    yield _line({"type": "session", "version": 3, "id": "replaying", "timestamp": _TIME, "cwd": "/home/dev/project"})
    parent: str | None = None
    count = 0

    def entry(message: dict[str, object]) -> bytes:
        nonlocal parent, count
        count += 1
        ident = f"{count:08x}"
        made = _line({"type": "message", "id": ident, "parentId": parent, "timestamp": _TIME, "message": message})
        parent = ident
        return made

    def call(name: str, arguments: Mapping[str, object], text: str, details: object = None) -> Iterator[bytes]:
        call_id = f"call_{count}"
        block = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
        yield entry({"role": "assistant", "content": [block], "stopReason": "toolUse"})
        yield entry({
            "role": "toolResult", "toolCallId": call_id, "toolName": name, "content": [{"type": "text", "text": text}],
            "details": details, "isError": False,
        })  # fmt: skip

    for path, lines in files.items():
        yield from call("read", {"path": path}, "\n".join(lines) + "\n")
    for number in range(edits):
        path = random.choice(list(files))
        lines = files[path]
        at = random.randrange(5, LINES - 5)
        old, new = lines[at], f"    edited_{number} = compute({random.random()})"
        around = lines[at - 4 : at], lines[at + 1 : at + 5]
        hunk = [*(f" {line}" for line in around[0]), f"-{old}", f"+{new}", *(f" {line}" for line in around[1])]
        patch = "\n".join([f"--- {path}", f"+++ {path}", f"@@ -{at - 3},9 +{at - 3},9 @@", *hunk]) + "\n"
        lines[at] = new
        edit = {"path": path, "edits": [{"oldText": old, "newText": new}]}
        details = {"diff": patch, "patch": patch, "firstChangedLine": at + 1}
        yield from call("edit", edit, f"Successfully replaced 1 block(s) in {path}.", details)
        if number % 10 == 0:
            yield from call("bash", {"command": f"npm test 2>&1 | tail -5 && grep -n edited {path}"}, "ok")


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


_TIME = "2026-01-01T00:00:00.000Z"


def competitors_for(file: Path) -> dict[str, Callable[[], Once]]:
    """Return what is run for one file."""

    def run(what: str) -> Once:
        once = run_process([sys.executable, "-c", ONCE, what, file])
        return Once(float(once.output.split()[0]), once.peak, once.output)

    return {what: lambda what=what: run(what) for what in ("indexing", "replay", "ahead")}  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replaying", description="Replaying many edits.")
    parser.add_argument("edits", nargs="*", type=int, default=[1_000, 10_000], help="numbers of edits")
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.\n")
    print("| edits | MB | what | seconds | range | ms for an edit | peak memory, MB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for edits in chosen.edits:
            file = Path(scratch) / "session.jsonl"
            with file.open("wb") as out:
                out.writelines(session(edits, chosen.seed))
            size = file.stat().st_size / 1e6
            for name, runs in alternate(competitors_for(file), chosen.rounds).items():
                spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
                each = runs.median / edits * 1e3
                peak = runs.peak / 1e6
                print(f"| {edits:,} | {size:,.1f} | {name} | {runs.median:.3f} | {spread} | {each:.3f} | {peak:,.0f} |")


if __name__ == "__main__":
    main()
