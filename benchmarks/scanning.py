"""Looking for secrets: `python -m benchmarks.scanning 10M`.

`pivcs scan` of a synced session, as a whole process: the first time, when everything is looked through, and when
nothing is new. Beside it `rg -F -i` with the texts that the rules look for first, which reads the file's bytes and
tells lines, no secrets, and the library's own program, `detect-secrets scan`, without the plugins that guess: it reads
lines of JSON as they are, and has a third of the rules. The output is a Markdown table. Needs `rg`.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.generate import size_of, write_session
from benchmarks.measure import Once, alternate, machine, run_process
from pivcs.ops.scan_text import TRIGGERS, _by_keyword

GUESSING = ("Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector")
"""Plugins of the library that have no counterpart among the rules."""


def competitors_for(file: Path, store: Path, words: Path) -> dict[str, Callable[[], Once]]:
    """Return what is run; each begins as if it had never seen the file, but for the last."""
    scan = [sys.executable, "-m", "pivcs", "scan", "--store", str(store), str(file)]
    options = " ".join(f"--disable-plugin {name}" for name in GUESSING)
    # It passes over files that are not below the current directory.
    library = f"cd {file.parent} && exec {sys.executable} -m detect_secrets scan {file.name} -n --all-files {options}"

    def first() -> Once:
        connection = sqlite3.connect(store / "store.db", isolation_level=None)
        connection.execute("DELETE FROM scan")
        connection.close()
        return run_process(scan)

    return {
        "`rg` for the first texts": lambda: run_process(["rg", "-c", "-F", "-i", "-f", str(words), str(file)]),
        "`detect-secrets scan`": lambda: run_process(["sh", "-c", library]),
        "first `pivcs scan`": first,
        "`pivcs scan`, nothing new": lambda: run_process(scan),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scanning", description="Looking for secrets.")
    parser.add_argument("sizes", nargs="*", type=size_of, default=[size_of("10M")])
    parser.add_argument("--rounds", type=int, default=3, help="rounds whose median counts (default: 3)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.\n")
    print("| MB | what | seconds | range | MB/s | CPU seconds |")
    print("|---|---|---|---|---|---|")
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as name:
            file, store, words = Path(name, "session.jsonl"), Path(name, "store"), Path(name, "words")
            write_session(file, size, seed=chosen.seed)
            words.write_text("\n".join([*(word.decode() for word in _by_keyword()), *TRIGGERS]) + "\n")
            run_process([sys.executable, "-m", "pivcs", "sync", "--quiet", "--store", str(store), str(file)])
            for what, runs in alternate(competitors_for(file, store, words), chosen.rounds).items():
                spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
                rate, work = size / 1e6 / runs.median, median(runs.work)
                print(f"| {size / 1e6:.0f} | {what} | {runs.median:.3f} | {spread} | {rate:.0f} | {work:.3f} |")


if __name__ == "__main__":
    main()
