"""Adding up a session beside jq: `python -m benchmarks.statistics 10M 100M [--many 1000]`.

In alternating rounds of one run, all as whole processes:

- `pivcs stats` of a synced session, and with `--by model`, `--by day` and `--by tool`;
- `jq` over the file with the same sums: entries, prompts, answers, tool calls, tokens, cost (of all branches: it does
  not know which are abandoned, nor of copies);
- `rg '"usage"'` piped into that `jq`, which so parses only lines that may have usage (and cannot count entries);
- `pivcs log --help`: what starting the program takes.

The tokens that each prints must be the same. With `--many N` also `pivcs stats --all` over N sessions of 100 kB, for
its memory. The output is Markdown. Needs `jq` and `rg`.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

from benchmarks.generate import size_of, write_session
from benchmarks.measure import Once, alternate, machine, run_process

SUMS = """
def usage: if .type == "message" then (if .message.role == "assistant" or .message.role == "toolResult"
  then .message.usage else null end)
  elif .type == "usage" or .type == "compaction" or .type == "branch_summary" then .usage else null end;
reduce (inputs | select(.type != "session")) as $e ({};
  .entries += 1
  | if $e.message.role == "user" then .prompts += 1 else . end
  | if $e.message.role == "assistant" then .answers += 1
      | .calls += ([$e.message.content[]? | select(.type == "toolCall")] | length) else . end
  | ($e | usage) as $u
  | if $u then .input += $u.input | .output += $u.output | .read += $u.cacheRead | .write += $u.cacheWrite
      | .cost += $u.cost.total else . end)
| .tokens = .input + .output + .read + .write
"""


def competitors_for(file: Path, store: Path) -> dict[str, Callable[[], Once]]:
    """Return what is run over one session."""
    ours: list[str | Path] = [sys.executable, "-m", "pivcs", "stats", "--json", "--store", store, file]
    jq = ["jq", "-nc", SUMS]
    piped = f"rg '\"usage\"' {shlex.quote(str(file))} | {shlex.join(jq)}"
    return {
        "`pivcs stats`": lambda: run_process(ours),
        "`pivcs stats --by model`": lambda: run_process([*ours, "--by", "model"]),
        "`pivcs stats --by day`": lambda: run_process([*ours, "--by", "day"]),
        "`pivcs stats --by tool`": lambda: run_process([*ours, "--by", "tool"]),
        "`jq`": lambda: run_process([*jq, file]),
        "`rg` and `jq`": lambda: run_process(["sh", "-c", piped]),
        "`pivcs log --help`": lambda: run_process([sys.executable, "-m", "pivcs", "log", "--help"]),
    }


def tokens_in(output: bytes) -> int | None:
    """Return the tokens that a run printed."""
    if not output.startswith(b"{"):
        return None
    told = json.loads(output)
    return int(told.get("total", told)["tokens"])


def many_sessions(count: int, seed: int) -> None:
    """Print what counting many sessions takes."""
    with tempfile.TemporaryDirectory() as name:
        home, store = Path(name), Path(name) / "store"
        folder = home / "agent" / "sessions" / "--home-dev-project--"
        folder.mkdir(parents=True)
        made = f"from pathlib import Path; from benchmarks.statistics import write_many as w; \
w(Path({str(folder)!r}), {count}, {seed})"
        run_process([sys.executable, "-c", made])
        size = sum(path.stat().st_size for path in folder.iterdir())
        environment = {"HOME": name, "PI_CODING_AGENT_DIR": str(home / "agent"), "PIVCS_DIR": str(store)}
        run_process([sys.executable, "-m", "pivcs", "sync", "--quiet", "--all"], environment)
        once = run_process([sys.executable, "-m", "pivcs", "stats", "--all", "--json"], environment)
        told = json.loads(once.output)
        assert told["sessions"] == count
        print(
            f"\n`pivcs stats --all` over {count:,} synced sessions, {size / 1e6:.0f} MB, "
            f"{told['total']['entries']:,} entries: {once.seconds:.2f} s, peak memory {once.peak / 1e6:.0f} MB."
        )


def write_many(folder: Path, count: int, seed: int) -> None:
    """Write sessions of 100 kB: one on many days, so that none has an entry of another."""
    first = folder / "00000.jsonl"
    write_session(first, 100_000, seed=seed)
    data = first.read_bytes()
    day = re.search(rb'"timestamp":"([0-9-]{10})T', data)
    assert day is not None
    begin = date.fromisoformat(day[1].decode())
    for number in range(1, count):
        other = (begin + timedelta(days=2 * number)).isoformat().encode()
        (folder / f"{number:05}.jsonl").write_bytes(data.replace(day[1], other))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description="Statistics beside jq.")
    parser.add_argument("sizes", nargs="*", type=size_of, default=[size_of("10M"), size_of("100M")])
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    parser.add_argument("--many", type=int, default=1000, help="sessions for `--all` (default: 1000; 0: none)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.\n")
    print("| MB | what | seconds | range | of jq | peak memory, MB |")
    print("|---|---|---|---|---|---|")
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as name:
            file, store = Path(name) / "session.jsonl", Path(name) / "store"
            made = f"from pathlib import Path; from benchmarks.generate import write_session; \
write_session(Path({str(file)!r}), {size}, seed={chosen.seed})"
            run_process([sys.executable, "-c", made])
            run_process([sys.executable, "-m", "pivcs", "sync", "--quiet", "--store", store, file])
            competitors = competitors_for(file, store)
            tokens = {tokens_in(run().output) for run in competitors.values()} - {None}
            assert len(tokens) == 1, f"not the same sums: {tokens}"
            results = alternate(competitors, chosen.rounds)
            peer = results["`jq`"].median
            for what, runs in results.items():
                spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
                row = (f"{size / 1e6:.0f}", what, f"{runs.median:.3f}", spread, f"{runs.median / peer:.2f}")
                print(f"| {' | '.join(row)} | {runs.peak / 1e6:,.0f} |")
    if chosen.many:
        many_sessions(chosen.many, chosen.seed)


if __name__ == "__main__":
    main()
