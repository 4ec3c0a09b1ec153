"""Reading many entries of a path: rows that stand near each other in the file are read together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pivcs.ops.view import SHOWN_WHOLE, SessionView
from pivcs.session.entries import Entry
from pivcs.session.jsontext import NotJson, parse_json

TOGETHER: Final = 1 << 18
"""Bytes that are read at once; a longer record is read alone."""


def iter_entries(
    view: SessionView, rows: Sequence[int], read_range: Callable[[int, int], bytes] | None = None
) -> Iterator[Entry]:
    """Yield the typed view of each row, as `view.entry` gives it, with as few reads as possible.

    `read_range` takes offset and length; without it the view's source is read.
    """
    for record in iter_records(view, rows, read_range or view.source.read_range):
        try:
            yield Entry(None if record is None else parse_json(record))
        except NotJson:
            yield Entry(None)


def iter_records(
    view: SessionView, rows: Sequence[int], read_range: Callable[[int, int], bytes]
) -> Iterator[bytes | None]:
    """Yield the bytes of each row with as few reads as possible, None for one that is too long to be shown."""
    offsets, lengths = view.table.offset, view.table.length
    held, begin, end = b"", 0, 0
    for place, row in enumerate(rows):
        offset, length = offsets[row], lengths[row]
        if length > SHOWN_WHOLE:
            yield None
            continue
        if not (begin <= offset and offset + length <= end):
            begin, end = offset, offset + length
            for at in range(place + 1, len(rows)):
                following = rows[at]
                if not (end <= offsets[following] and offsets[following] + lengths[following] - begin <= TOGETHER):
                    break
                end = offsets[following] + lengths[following]
            held = read_range(begin, end - begin)
        yield held[offset - begin : offset - begin + length]
