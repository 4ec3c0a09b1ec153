"""Searching the texts of a session: `python -m benchmarks.searching 10M 100M`.

`pivcs grep` of a synced session, as a whole process, beside `rg PATTERN FILE` piped into `jq`, which parses the lines
that rg found and keeps those with the pattern in what was said, thought, called or answered. Patterns: one that is in
no line, one in some, one with alternatives, one in many, one that is a key of most lines, one without a text that every
match must have. The entries that each finds are counted; jq looks at fewer kinds of text. The output is a Markdown
table. Needs `rg` and `jq`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.generate import size_of, write_session
from benchmarks.measure import Once, alternate, machine, run_process

PATTERNS = {
    "nowhere": "zzqqxx",
    "some": "cache key",
    "either": "cache key|zzqqxx|merge base",
    "many": "error",
    "a key": "totalTokens",
    "no text": "[0-9]{9,}",
}
SELECT = """
select([.summary, .label, .name, .note, (.content? // empty | if type == "string" then . else empty end),
  (.message? // {} | .command, .output, .errorMessage, .toolName,
    (.content? | if type == "string" then . else (.[]? | .text, .thinking, .name, (.arguments? | .. | strings)) end))
 ] | any(.[] | strings; test($p))) | .id
"""


def competitors_for(file: Path, store: Path, pattern: str) -> dict[str, Callable[[], Once]]:
    """Return what is run for one pattern; each prints the ids of the entries that it finds."""
    words = shlex.quote(pattern)
    piped = f"rg {words} {shlex.quote(str(file))} | jq -r --arg p {words} {shlex.quote(SELECT)} | sort -u"
    return {
        "`rg` and `jq`": lambda: run_process(["sh", "-c", piped]),
        "`pivcs grep -l`": lambda: run_process(
            ["sh", "-c", f"{sys.executable} -m pivcs grep -l --store {store} {words} {file} | sort -u"]
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searching", description="Searching sessions.")
    parser.add_argument("sizes", nargs="*", type=size_of, default=[size_of("10M"), size_of("100M")])
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.\n")
    print("| MB | pattern | entries | what | seconds | range | of rg and jq |")
    print("|---|---|---|---|---|---|---|")
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as name:
            file, store = Path(name) / "session.jsonl", Path(name) / "store"
            write_session(file, size, seed=chosen.seed)
            run_process([sys.executable, "-m", "pivcs", "sync", "--quiet", "--store", store, file])
            for about, pattern in PATTERNS.items():
                competitors = competitors_for(file, store, pattern)
                found = {what: len(run().output.splitlines()) for what, run in competitors.items()}
                results = alternate(competitors, chosen.rounds)
                peer = results["`rg` and `jq`"].median
                for what, runs in results.items():
                    spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
                    ratio = runs.median / peer
                    print(
                        f"| {size / 1e6:.0f} | {about} | {found[what]:,} | {what} "
                        f"| {runs.median:.3f} | {spread} | {ratio:.2f} |"
                    )


if __name__ == "__main__":
    main()
