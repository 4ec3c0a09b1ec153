"""`pivcs log -n 20` of a session that is synced, beside pi's open; sessions of all sizes in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.measure import Once, alternate
from benchmarks.reading import PI
from benchmarks.store_parts.bench import Bench, megabytes, print_table, ratio, seconds_of, work_of

LOG, START = "`pivcs log -n 20 FILE`", "`pivcs log --help`"


def log(bench: Bench, sizes: Sequence[str]) -> None:
    """Print how long the last entries of a synced session take. `--help` shows what the start of the program takes."""
    columns = ["size", "what", "seconds", "range", "of pi's open", f"of {sizes[0]}", "CPU seconds", "peak memory, MB"]
    print_table("Log of a synced session; whole process", columns, _rows(bench, sizes))


def _rows(bench: Bench, sizes: Sequence[str]) -> Iterator[Sequence[str]]:
    competitors: dict[tuple[str, str], Callable[[], Once]] = {}
    for size in sizes:
        file, store = bench.session(size), bench.store_dir(size)
        if bench.interop is not None:
            competitors[size, PI] = lambda file=file: bench.pi(file)  # type: ignore[misc]
        competitors[size, LOG] = lambda file=file, store=store: bench.pivcs(store, "log", "-n", "20", file)  # type: ignore[misc]
    competitors["", START] = lambda: bench.pivcs(bench.scratch / "none", "log", "--help")
    names = {f"{size}|{what}": run for (size, what), run in competitors.items()}
    results = alternate(names, max(bench.rounds, 5))
    for name, runs in results.items():
        size, what = name.split("|")
        pi = results.get(f"{size}|{PI}")
        small = results.get(f"{sizes[0]}|{what}")
        of_pi = ratio(runs.median, pi.median if pi is not None else None)
        of_small = ratio(runs.median, small.median if small is not None else None)
        yield size, what, *seconds_of(runs), of_pi, of_small, work_of(runs), megabytes(runs.peak)
