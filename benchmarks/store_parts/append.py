"""One line more, then a sync: in process and as a process, sessions of all sizes in turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from benchmarks.growing import Growing
from benchmarks.measure import Once, alternate
from benchmarks.store_parts.bench import STORE, Bench, milliseconds, print_table, ratio

APPENDS = 200


def append(bench: Bench, sizes: Sequence[str]) -> None:
    """Print how long the sync of one appended line takes."""
    columns = ["size", "what", "median, ms", "95th of 100, ms", f"of {sizes[0]}"]
    print_table("Sync after one appended line of 2 KB", columns, _rows(bench, sizes))


def _rows(bench: Bench, sizes: Sequence[str]) -> Iterator[Sequence[str]]:
    files = [bench.session(size) for size in sizes]
    stores = [bench.store_dir(size) for size in sizes]
    growing = [Growing(file) for file in files]
    pairs = [part for file, store in zip(files, stores, strict=True) for part in (file, store / STORE)]
    inside = json.loads(bench.python("benchmarks.peers.append_many", str(APPENDS), *pairs).output)

    after = dict(zip(sizes, (Growing(file, seed=3) for file in files), strict=True))

    def process(number: int) -> Callable[[], Once]:
        def run() -> Once:
            after[sizes[number]].append()
            return bench.pivcs(stores[number], "sync", files[number])

        return run

    outside = alternate({size: process(number) for number, size in enumerate(sizes)}, max(bench.rounds, 9))
    for grown in growing:
        grown.cut()
    for branches, what in enumerate(("in process", "in process, a branch begins")):
        base = median(inside[0][branches])
        for size, both in zip(sizes, inside, strict=True):
            seconds = both[branches]
            yield size, f"{what} ({len(seconds)} times)", *milliseconds(seconds), ratio(median(seconds), base)
    for size, runs in outside.items():
        of_first = ratio(runs.median, outside[sizes[0]].median)
        yield size, f"`pivcs sync FILE` ({len(runs.seconds)} times)", *milliseconds(runs.seconds), of_first
