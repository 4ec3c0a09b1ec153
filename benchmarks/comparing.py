"""Comparing two long branches beside git: `python -m benchmarks.comparing [--entries 10000] [--rounds 5]`.

A session of two branches, which part after their first turn and have `--entries` entries each, is compared in
alternating rounds of one run:

- `pivcs diff A B` shows the page, the session being synced (whole process);
- the comparison in process, the session being open: what the page tells, without laying it out;
- `pivcs log --help`: what starting the program takes;
- `git log --oneline A...B` of a repository with as many commits on two branches (whole process). Its commits are
  empty, so it reads far less: a floor, no goal.

The output is a Markdown table. Trust the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Once, alternate, machine, run_process


def write_session(file: Path, entries: int) -> tuple[str, str]:
    """Write a session of two branches and return the ids of their ends. In a process of its own: see `run_process`."""
    once = run_process([sys.executable, "-m", "benchmarks.peers.two_branches", file, str(entries)])
    first, second = once.output.decode().split()
    return first, second


def write_history(directory: Path, commits: int) -> None:
    """Write a repository with two branches of empty commits."""

    def stream() -> Iterator[bytes]:
        stamp = 1_767_225_600
        yield b"commit refs/heads/a\nmark :1\ncommitter x <x@x> %d +0000\ndata 5\nfirst\n\n" % stamp
        yield b"reset refs/heads/b\nfrom :1\n\n"
        for name in (b"a", b"b"):
            for number in range(commits):
                text = b"%s %d" % (name, number)
                yield b"commit refs/heads/%s\ncommitter x <x@x> %d +0000\n" % (name, stamp + number)
                yield b"data %d\n%s\n\n" % (len(text), text)

    subprocess.run(["git", "init", "-q", str(directory)], check=True)
    subprocess.run(["git", "-C", str(directory), "fast-import", "--quiet"], input=b"".join(stream()), check=True)


def competitors_for(file: Path, ends: tuple[str, str], history: Path, scratch: Path) -> dict[str, Callable[[], Once]]:
    """Return what is run."""
    environment = {"HOME": str(scratch), "PIVCS_DIR": str(scratch / "store"), "COLUMNS": "100"}

    def page() -> Once:
        return run_process([sys.executable, "-m", "pivcs", "diff", file, *ends], environment)

    def in_process() -> Once:
        once = run_process([sys.executable, "-m", "benchmarks.peers.compare_once", file, *ends])
        return Once(float(once.output.split()[0]), once.peak, once.output)

    def nothing() -> Once:
        return run_process([sys.executable, "-m", "pivcs", "log", "--help"], environment)

    def git() -> Once:
        return run_process(["git", "-C", history, "log", "--oneline", "a...b"], {"HOME": str(scratch)})

    return {
        "`pivcs diff A B`": page,
        "comparing, in process": in_process,
        "`pivcs log --help`": nothing,
        "`git log --oneline A...B`": git,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparing", description="Comparing beside git.")
    parser.add_argument("--entries", type=int, default=10_000, help="entries of each branch (default: 10000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        file, history = scratch / "session.jsonl", scratch / "history"
        ends = write_session(file, chosen.entries)
        write_history(history, chosen.entries)
        results = alternate(competitors_for(file, ends, history, scratch), chosen.rounds)
        size = os.stat(file).st_size / 1e6
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.")
    print(f"Two branches of {chosen.entries:,} entries each, {size:.1f} MB.\n")
    print("| what | seconds | CPU seconds | range | peak memory, MB |")
    print("|---|---|---|---|---|")
    for name, runs in results.items():
        spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
        work = sorted(runs.work)[len(runs.work) // 2]
        print(f"| {name} | {runs.median:.3f} | {work:.3f} | {spread} | {runs.peak / 1e6:,.0f} |")


if __name__ == "__main__":
    main()
