"""Writing the path to an entry as a file of its own: `python -m benchmarks.going_back 10M 100M`.

The session is a generated one; what is checked out is its longest path. Run in alternating rounds, each writing a new
file that is synced to the disk:

- `from the file` and `from the store` check out in process, with the session's file there, or gone;
- `pivcs checkout` is the whole process;
- `copy` writes the same bytes with one read, one write and one fsync: what the disk alone takes.

The output is a Markdown table. Trust the ratios, not the seconds: all were measured on one machine in one run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.generate import size_of, write_session
from benchmarks.measure import Once, alternate, machine, run_process

IN_PROCESS = """
import sys, time
from pathlib import Path
from pivcs.ops.access import view_of
from pivcs.ops.checkout import checkout
from pivcs.session.world import World
from pivcs.store.store import Store
with Store.open(Path(sys.argv[1]) / "store.db") as store:
    (stream,) = store.streams()
    view = view_of(store, stream)
    row = max(view.tips(), key=lambda tip: len(view.table.path(tip)))
    out = Path(sys.argv[2])
    begin = time.perf_counter()
    written = checkout(view, row, world=World.real(), output=out)
    print(time.perf_counter() - begin, written.size, view.table.name(row))
"""
COPY = """
import os, sys, time
begin = time.perf_counter()
with open(sys.argv[1], "rb") as old, open(sys.argv[2], "wb", buffering=0) as new:
    data = old.read()
    new.write(data)
    os.fsync(new.fileno())
print(time.perf_counter() - begin)
"""


def competitors_for(file: Path, scratch: Path) -> tuple[dict[str, Callable[[], Once]], int]:
    """Return what is run for one session file, and how many bytes each writes."""
    stores = {name: scratch / name for name in ("here", "gone")}
    gone = scratch / "gone.jsonl"
    shutil.copyfile(file, gone)
    for name, path in (("here", file), ("gone", gone)):
        run_process([sys.executable, "-m", "pivcs", "sync", "--quiet", "--store", stores[name], path])
    gone.unlink()
    reference = scratch / "reference.jsonl"
    told = run_process([sys.executable, "-c", IN_PROCESS, stores["here"], reference]).output.split()
    size, entry = int(told[1]), told[2].decode()
    out = scratch / "out.jsonl"

    def timed(*command: str | Path) -> Once:
        once = run_process(command)
        out.unlink()
        return Once(float(once.output.split()[0]), once.peak, once.output, once.work)

    def whole() -> Once:
        command = ["checkout", file, entry, "-o", out, "--store", stores["here"]]
        once = run_process([sys.executable, "-m", "pivcs", *command])
        out.unlink()
        return once

    return {
        "copy": lambda: timed(sys.executable, "-c", COPY, reference, out),
        "from the file": lambda: timed(sys.executable, "-c", IN_PROCESS, stores["here"], out),
        "from the store": lambda: timed(sys.executable, "-c", IN_PROCESS, stores["gone"], out),
        "`pivcs checkout`": whole,
    }, size


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.going_back", description="Checking out long paths.")
    parser.add_argument("sizes", nargs="*", type=size_of, default=[size_of("10M"), size_of("100M")])
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.\n")
    print("| MB written | what | seconds | range | MB/s | of a copy | peak memory, MB |")
    print("|---|---|---|---|---|---|---|")
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as name:
            scratch = Path(name)
            file = scratch / "session.jsonl"
            write_session(file, size, seed=chosen.seed)
            competitors, written = competitors_for(file, scratch)
            results = alternate(competitors, chosen.rounds)
            copy = results["copy"].median
            for what, runs in results.items():
                spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
                speed = written / runs.median / 1e6
                print(
                    f"| {written / 1e6:.0f} | {what} | {runs.median:.3f} | {spread} | {speed:.0f} "
                    f"| {runs.median / copy:.2f} | {runs.peak / 1e6:.0f} |"
                )


if __name__ == "__main__":
    main()
