"""A session recorded turn by turn, beside `git add` and `git commit` of its file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from benchmarks.store_parts.bench import Bench, emptied, megabytes, milliseconds, print_table, ratio

BYTES_PER_TURN = (10 << 20) // 1_000
NAMES = {"git": "`git add`, `git commit`", "process": "`pivcs sync FILE`", "inside": "sync in process"}


def turns(bench: Bench, count: int) -> None:
    """Print time and size of a session recorded in `count` turns of about 10 KB."""
    columns = ["what", "seconds", "of git", "median turn, ms", "95th of 100, ms", "size, MB", "of git's size"]
    title = f"{count:,} turns of a session that grows to {megabytes(count * BYTES_PER_TURN)} MB, recorded each"
    print_table(title, columns, _rows(bench, count))


def _rows(bench: Bench, count: int) -> Iterator[Sequence[str]]:
    scratch = emptied(bench.scratch / "turns")
    scratch.mkdir()
    size = str(count * BYTES_PER_TURN)
    found = json.loads(bench.python("benchmarks.peers.turns", str(count), size, scratch).output)
    sizes, git = found["sizes"], sum(found["seconds"]["git"])
    for name, what in NAMES.items():
        seconds = found["seconds"][name]
        total = sum(seconds)
        of_size = ratio(sizes[name], sizes["git"])
        yield what, f"{total:.2f}", ratio(total, git), *milliseconds(seconds), megabytes(sizes[name]), of_size
    packed = found["git_gc"]
    yield "`git gc` after all", f"{packed['seconds']:.2f}", "", "", "", megabytes(packed["size"]), ""
    emptied(scratch)
