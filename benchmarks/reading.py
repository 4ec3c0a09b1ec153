"""Reading a session file beside the real pi: `python -m benchmarks.reading 1M 10M 100M`.

Three competitors read the same made-up session in alternating rounds of one run:

- pi opens it with its session manager (whole process, nothing else of pi loaded);
- `pivcs log -n 20` shows its last entries for the first time, with an empty store (whole process);
- pivcs indexes it (in process, without the start of Python): lines, ids, parents, object ids.

The output is a Markdown table. Trust the ratios, not the seconds: all were measured on one machine in one run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.generate import size_of
from benchmarks.measure import Once, Runs, alternate, machine, run_process

HERE = Path(__file__).parent
MANAGER = Path("node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js")
PI, LOG, INDEX = "pi 1.6.0 opens the file", "first `pivcs log -n 20 FILE`", "indexing, in process"


def competitors_for(file: Path, interop: Path, scratch: Path) -> dict[str, Callable[[], Once]]:
    """Return what is run for one file; pi sees an empty home in `scratch`."""
    home = {"HOME": str(scratch), "PI_CODING_AGENT_DIR": str(scratch / "agent")}

    def pi() -> Once:
        return run_process([interop / "node", HERE / "peers/pi_open.mjs", interop / MANAGER, file], home)

    def log() -> Once:
        store = scratch / "store"
        shutil.rmtree(store, ignore_errors=True)
        environment = {**home, "PIVCS_DIR": str(store)}
        return run_process([sys.executable, "-m", "pivcs", "log", "-n", "20", file], environment)

    def index() -> Once:
        once = run_process([sys.executable, "-m", "benchmarks.peers.index_once", file])
        return Once(float(once.output.split()[0]), once.peak, once.output)

    return {PI: pi, LOG: log, INDEX: index}


def table_rows(size: str, file: Path, results: dict[str, Runs]) -> Iterator[str]:
    """Yield the Markdown rows of one size."""
    bytes_read = file.stat().st_size
    base = results[PI].median if PI in results else None
    for name, runs in results.items():
        ratio = "" if base is None else f"{runs.median / base:.2f}"
        speed = bytes_read / 1e6 / runs.median
        spread = f"{min(runs.seconds):.3f}-{max(runs.seconds):.3f}"
        yield f"| {size} | {name} | {runs.median:.3f} | {spread} | {speed:,.0f} | {ratio} | {runs.peak / 1e6:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description="Reading beside the real pi.")
    parser.add_argument("sizes", nargs="*", default=["1M", "10M", "100M"], help="like 10M or 1G (default: 1M 10M 100M)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", action="append", default=[], choices=["pi", "log", "index"])
    chosen = parser.parse_args()
    interop = Path(os.environ.get("PIVCS_INTEROP_DIR") or HERE.parent / ".cache/interop")
    if "pi" not in chosen.without and not (interop / MANAGER).exists():
        parser.error(f"the real pi is not in '{interop}': run .ci/interop-install, or give --without pi")

    left_out = {{"pi": PI, "log": LOG, "index": INDEX}[name] for name in chosen.without}
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds, page cache warm.\n")
    print("| size | what | seconds | range | MB/s | of pi's open | peak memory, MB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "session.jsonl"
        for size in chosen.sizes:
            size_of(size)  # a mistake is told before minutes are spent
        for size in chosen.sizes:
            # In a process of its own: see `run_process` for why this one stays small.
            generate = [sys.executable, "-m", "benchmarks.generate", "--size", size, "--seed", str(chosen.seed), file]
            run_process(generate)
            competitors = competitors_for(file, interop, Path(scratch))
            kept = {name: run for name, run in competitors.items() if name not in left_out}
            for row in table_rows(size, file, alternate(kept, chosen.rounds)):
                print(row, flush=True)


if __name__ == "__main__":
    main()
