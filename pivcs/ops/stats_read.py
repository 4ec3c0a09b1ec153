"""Reading of a session only what statistics need: answers, and what else has usage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pivcs.ops.live_file import LiveReading
from pivcs.ops.records import iter_records
from pivcs.ops.spent import has_usage
from pivcs.ops.view import SessionView
from pivcs.session.codes import TOOL_RESULT
from pivcs.session.entries import Entry
from pivcs.session.jsontext import NotJson, parse_json

_KEY: Final = b'"usage"'
_ESCAPE: Final = b"\\u00"
_SPELLED: Final = (b"\\u006", b"\\u007")
"""How the letters of the key begin when they are spelled as escapes."""


def iter_read(view: SessionView, rows: Sequence[int], *, results: bool = False) -> Iterator[tuple[int, Entry | None]]:
    """Yield each row, and its entry where it may have usage; with `results` those of all tool results, too.

    Of the others nothing is read, and of a tool result without usage nothing is parsed. Where the session's file still
    is what the store has of it, it is read itself, which is quicker.
    """
    with LiveReading(view) as read:
        yield from _iter_read(view, rows, read, results=results)


def _iter_read(
    view: SessionView, rows: Sequence[int], read: LiveReading, *, results: bool
) -> Iterator[tuple[int, Entry | None]]:
    codes = view.table.code
    records = iter_records(view, [row for row in rows if has_usage(codes[row])], read)
    for row in rows:
        code = codes[row]
        if not has_usage(code):
            yield row, None
            continue
        record = next(records)
        if record is None or (code == TOOL_RESULT and not results and not _may_have_usage(record)):
            yield row, None
            continue
        try:
            yield row, Entry(parse_json(record))
        except NotJson:
            yield row, None


def _may_have_usage(record: bytes) -> bool:
    return _KEY in record or (_ESCAPE in record and (_SPELLED[0] in record or _SPELLED[1] in record))
