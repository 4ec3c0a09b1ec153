"""The lines of a path with their bytes, read in large pieces: what a checkout writes.

Lines that follow each other in the file are one range. Ranges that are near to each other are read together, because a
stored stream gives a whole chunk at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from pivcs.objects.table import POSITIONAL
from pivcs.ops.view import SessionView
from pivcs.session.fields import SALVAGED
from pivcs.session.source import PIECE, ByteSource

LF: Final = b"\n"


class Range(NamedTuple):
    """Bytes of a stream from `start` to `end`; `lacks_lf` for a record that was salvaged from the middle of a line."""

    start: int
    end: int
    lacks_lf: bool = False


def path_pieces(view: SessionView, row: int, source: ByteSource | None = None) -> Iterator[bytes]:
    """Yield the lines of the path to a node, each with its LF, from the view's bytes or another source of the same.

    The records have their bytes and their order, so their object ids in a file of these lines are the same. In a file
    of version 1 the path is everything above: lines that are no records go with it, because its compactions count them.
    """
    source = view.source if source is None else source
    groups = list(_near(ranges_of(view, row)))
    source.expect([(near[0].start, near[-1].end) for near in groups])
    for near in groups:
        first, last = near[0], near[-1]
        if len(near) == 1:
            yield from source.iter_range(first.start, first.end - first.start)
            if first.lacks_lf:
                yield LF
        else:
            data = source.read_range(first.start, last.end - first.start)
            lines = (
                data[each.start - first.start : each.end - first.start] + (LF if each.lacks_lf else b"")
                for each in near
            )
            yield b"".join(lines)


def ranges_of(view: SessionView, row: int) -> list[Range]:
    """Return where the lines of the path to a node are, in the order of the file."""
    table = view.table
    rows = rows_above(view, row) if table.flags[row] & POSITIONAL else table.path(row)
    found = []
    for first, last in _runs(rows, set(table.salvaged)):
        end = table.offset[last] + table.length[last]
        lacks_lf = table.kind[last] == SALVAGED
        found.append(Range(table.offset[first], end + (not lacks_lf), lacks_lf))
    return found


def rows_above(view: SessionView, row: int) -> list[int]:
    """Return the rows of a version 1 file from the first line behind its header to a record."""
    table, header = view.table, view.header_row
    first = min(0 if header is None else header + 1, table.path(row)[0])
    glued = row
    while table.kind[row] == SALVAGED and table.kind[glued] == SALVAGED:
        glued -= 1
    return [
        each for each in range(first, row + 1)
        if each != header and (table.kind[each] != SALVAGED or glued < each) and (each != glued or glued == row)
    ]  # fmt: skip


def _runs(rows: list[int], alone: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each run of rows that follow each other; each in `alone` is a run by itself."""
    cuts = [place for place, (row, below) in enumerate(pairwise(rows), 1) if below != row + 1]
    if alone:
        cuts = sorted({*cuts, *(at + step for at, row in enumerate(rows) if row in alone for step in (0, 1))} - {0})
    for begin, end in pairwise([0, *cuts, len(rows)]):
        if begin < end:
            yield rows[begin], rows[end - 1]


def _near(ranges: Iterable[Range]) -> Iterator[list[Range]]:
    """Yield ranges in groups that fit into a piece."""
    near: list[Range] = []
    for each in ranges:
        if near and each.end - near[0].start > PIECE:
            yield near
            near = []
        near.append(each)
    if near:
        yield near
