"""How a session file differs from what the store has of it: the first line that is not what it was, and in what way."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pivcs.objects.hashing import chunk_id
from pivcs.objects.table import Table
from pivcs.session.fields import SALVAGED
from pivcs.session.source import PIECE
from pivcs.store.content import Readable, layout_of
from pivcs.store.records import Stream
from pivcs.store.store import Store

WINDOW: Final = 256
"""Lines behind the first different one in which the same line is looked for."""
WINDOW_BYTES: Final = 64 << 20
"""Bytes in which it is looked for."""

Progress = Callable[[int], None]
"""Told how many bytes have been compared since the last call."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place at which a file is not what it was.

    `kind` is `bytes-changed` (same length), `line-changed`, `line-missing`, `line-inserted`, `lines-swapped` or `cut`.
    `line` counts from 1 and begins at `line_offset`; `offset` is the first different byte. `count` says how many bytes
    or lines; `other` is the line that was swapped with the first one. `was` and `now` are the different byte.
    """

    kind: str
    line: int
    line_offset: int
    offset: int
    count: int = 1
    other: int | None = None
    was: int | None = None
    now: int | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    offset: int
    length: int
    digest: bytes


def differing_chunk(store: Store, stream: Stream, file: Readable, progress: Progress) -> int | None:
    """Return the position of the first chunk, or the tail, that a file does not have; None when it begins with all
    bytes of the stream. Raises `StoreDamaged`."""
    for offset, length, digest in layout_of(store.database, stream):
        if chunk_id(file.read_range(offset, length)).digest != digest:
            return offset
        progress(length)
    start, length = stream.tail_start, stream.size - stream.tail_start
    known = store.bytes_of(stream, checked=False)  # damaged chunks are findings of their own
    for at in range(start, stream.size, PIECE):
        count = min(PIECE, stream.size - at)
        if file.read_range(at, count) != known.read_range(at, count):
            return at
    progress(length)
    return None


def find_difference(store: Store, stream: Stream, rows: Table, file: Readable, size: int, chunk: int) -> Difference:
    """Say how a file of `size` bytes differs from a stream, knowing the first different chunk; `rows` are the stream's.

    Raises `StoreDamaged`.
    """
    known = store.bytes_of(stream, checked=False)  # damaged chunks are findings of their own
    offset = first_different_byte(known, file, chunk, stream.size)
    line, start = line_at(rows, offset)
    old = _window(known, start, stream.size)
    new = _window(file, start, size)
    return _compare(known, file, offset, line, start, old, new, size <= offset)


def _compare(
    known: Readable, file: Readable, offset: int, line: int, start: int, old: list[_Line], new: list[_Line], cut: bool
) -> Difference:
    if cut:
        return Difference("cut", line, start, offset)
    was, now = [each.digest for each in old], [each.digest for each in new]
    if was and now:
        if now[0] in was[1:]:
            at = was.index(now[0], 1)
            if now[at : at + 1] == was[:1] and now[1:at] == was[1:at]:
                return Difference("lines-swapped", line, start, offset, other=line + at)
            if was[0] not in now:
                return Difference("line-missing", line, start, offset, count=at)
        if was[0] in now[1:]:
            return Difference("line-inserted", line, start, offset, count=now.index(was[0], 1))
    old_byte, new_byte = known.read_range(offset, 1), file.read_range(offset, 1)
    same_length = bool(old and new) and old[0].length == new[0].length
    count = _different_bytes(known, file, old[0]) if same_length else 1
    return Difference(
        "bytes-changed" if same_length else "line-changed",
        line,
        start,
        offset,
        count=count,
        was=old_byte[0] if old_byte else None,
        now=new_byte[0] if new_byte else None,
    )


def first_different_byte(known: Readable, file: Readable, start: int, end: int) -> int:
    """Return the first position from `start` at which a file has not the byte of a stream; `end` when there is none."""
    for at in range(start, end, PIECE):
        was, now = known.read_range(at, min(PIECE, end - at)), file.read_range(at, min(PIECE, end - at))
        if was != now:
            return at + _common(was, now)
    return end


def _common(was: bytes, now: bytes) -> int:
    """Return the length of the longest common prefix, by halving: comparing is faster than a loop over bytes."""
    low, high = 0, min(len(was), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if was[low:middle] == now[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def line_at(rows: Table, offset: int) -> tuple[int, int]:
    """Return number and position of the line that has a byte; the pending line is the one behind all others."""
    if offset >= rows.end:
        return rows.line_count() + 1, rows.end
    row = bisect_right(rows.offset, offset) - 1
    while rows.kind[row] == SALVAGED:
        row -= 1
    return rows.line_number(row), rows.offset[row]


def _window(source: Readable, start: int, size: int) -> list[_Line]:
    """Return the lines from a position on, at most `WINDOW` and about `WINDOW_BYTES`; the first one in any case."""
    return list(islice(_lines(source, start, min(size, start + WINDOW_BYTES), size), WINDOW))


def _lines(source: Readable, start: int, limit: int, size: int) -> Iterator[_Line]:
    state, begin, at = hashlib.blake2b(), start, start
    while at < size and (at < limit or begin == start):
        piece = source.read_range(at, min(PIECE, size - at))
        if not piece:
            break
        done = 0
        while (stop := piece.find(b"\n", done)) >= 0:
            state.update(piece[done : stop + 1])
            yield _Line(begin, at + stop + 1 - begin, state.digest())
            state, begin, done = hashlib.blake2b(), at + stop + 1, stop + 1
        state.update(piece[done:])
        at += len(piece)
    if begin < at == size:
        yield _Line(begin, at - begin, state.digest())


def _different_bytes(known: Readable, file: Readable, line: _Line) -> int:
    """Return how many bytes of a line of the same length differ."""
    count = 0
    for at in range(line.offset, line.offset + line.length, PIECE):
        length = min(PIECE, line.offset + line.length - at)
        was, now = known.read_range(at, length), file.read_range(at, length)
        both = int.from_bytes(was, "little") ^ int.from_bytes(now.ljust(length, b"\0")[:length], "little")
        count += length - both.to_bytes(length, "little").count(0)
    return count
