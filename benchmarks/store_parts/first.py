"""The first sync of a session beside pi's open of the same file: time and memory. And what the store takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from benchmarks.measure import Once, alternate
from benchmarks.reading import PI
from benchmarks.store_parts.bench import (
    Bench,
    emptied,
    has_command,
    megabytes,
    print_table,
    ratio,
    seconds_of,
    size_of_store,
    work_of,
)

SYNC = "first `pivcs sync FILE`"


def first(bench: Bench, sizes: Sequence[str]) -> None:
    """Print how long a first sync takes. Each has a store of its own, which is empty before."""
    columns = [
        "size",
        "what",
        "seconds",
        "range",
        "of pi's open",
        "CPU seconds",
        "of pi's",
        "peak memory, MB",
        "of all",
    ]
    print_table("First sync, stored durably; whole process", columns, _rows(bench, sizes))


def _rows(bench: Bench, sizes: Sequence[str]) -> Iterator[Sequence[str]]:
    for size in sizes:
        file, store = bench.session(size), bench.scratch / "first"

        def sync(file=file, store=store) -> Once:  # type: ignore[no-untyped-def]
            return bench.pivcs(emptied(store), "sync", file)

        competitors: dict[str, Callable[[], Once]] = {SYNC: sync}
        if bench.interop is not None:
            competitors = {PI: lambda file=file: bench.pi(file), **competitors}
        results = alternate(competitors, bench.rounds)
        once = bench.python("benchmarks.peers.sync_memory", file, environment={"PIVCS_DIR": str(emptied(store))})
        own, child = map(int, once.output.split())
        emptied(store)
        pi = results.get(PI)
        for name, runs in results.items():
            peaks = megabytes(runs.peak), megabytes(runs.peak)
            if name == SYNC:
                peaks = megabytes(max(own, child)), f"{megabytes(own + child)} ({megabytes(own)} + {megabytes(child)})"
            of_pi = ratio(runs.median, pi.median) if pi is not None else ""
            work_of_pi = ratio(median(runs.work), median(pi.work)) if pi is not None else ""
            yield size, name, *seconds_of(runs), of_pi, work_of(runs), work_of_pi, *peaks


def size(bench: Bench, sizes: Sequence[str]) -> None:
    """Print what a store takes, of the raw bytes."""
    columns = ["size", "raw, MB", "store, MB", "of raw"]
    if has_command("gc"):
        columns += ["after `gc`, MB", "of raw", "seconds of `gc`"]
    print_table("Size of the store after one session", columns, _sizes(bench, sizes))


def _sizes(bench: Bench, sizes: Sequence[str]) -> Iterator[Sequence[str]]:
    for size in sizes:
        file, store = bench.session(size), emptied(bench.scratch / "size")
        bench.pivcs(store, "sync", file)
        raw, stored = file.stat().st_size, size_of_store(store)
        row = [size, megabytes(raw), megabytes(stored), f"{stored / raw:.3f}"]
        if has_command("gc"):
            seconds = bench.pivcs(store, "gc", "--apply").seconds
            after = size_of_store(store)
            row += [megabytes(after), f"{after / raw:.3f}", f"{seconds:.1f}"]
        emptied(store)
        yield row
