"""From the fields of many lines to columns of numbers, one function a column."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from pivcs.objects.table import FAILED, NO_ROW, NO_TIME, NODE, ORPHAN, POSITIONAL, TOOL_USE
from pivcs.session.codes import OTHER, code_of
from pivcs.session.fields import FieldsLike, MessageLike, is_entry
from pivcs.session.times import parse_time

Fields = Sequence[FieldsLike | None]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_HEX_DIGITS: Final = re.compile("[0-9a-f]*").fullmatch
_SWAPPED: Final = array("I", [1]).tobytes()[0] == 1
_STOP_FLAGS: Final = {"toolUse": TOOL_USE, "error": FAILED, "aborted": FAILED}


def codes(fields: Fields) -> bytes:
    """Return the code of each object; `OTHER` where there is none."""
    return bytes(
        [
            OTHER if f is None else code_of(f.type, m.role if (m := f.message) is not None else None)
            for f in fields
        ]
    )


def times(fields: Fields) -> list[int]:
    """Return the time of each object in milliseconds since 1970, or `NO_TIME`."""
    return [NO_TIME if f is None else _time(f.timestamp) for f in fields]


def _time(text: str) -> int:
    # The form that pi writes, read four times as fast; the dashes rule out what only Python takes for a date.
    if len(text) == 24 and text[10] == "T" and text[7] == "-" and text[23] == "Z" and text.isascii():
        try:
            return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
        except ValueError:
            pass
    time = parse_time(text)
    return NO_TIME if time is None else time


def flags(fields: Fields, parents: Iterable[int], *, version1: bool) -> list[int]:
    """Return the flags of each object that follow from it and its parent."""
    if version1:
        return [
            NODE | POSITIONAL | _message_flags(f.message) if f is not None and is_entry(f, version1=True) else 0
            for f in fields
        ]
    return [
        NODE | (ORPHAN if p == NO_ROW and f.parentId is not None else 0) | _message_flags(f.message)
        if f is not None and f.type != "session"
        else 0
        for f, p in zip(fields, parents, strict=True)
    ]


def _message_flags(message: MessageLike | None) -> int:
    if message is None:
        return 0
    return _STOP_FLAGS.get(message.stopReason, 0) | (FAILED if message.isError else 0)


def packed_ids(ids: Sequence[str]) -> array[int] | None:
    """Return ids as numbers when each is eight lower-case hexadecimal digits, else None."""
    joined = "".join(ids)
    if len(joined) != 8 * len(ids) or not _HEX_DIGITS(joined) or set(map(len, ids)) != {8}:
        return None
    column = array("I", bytes.fromhex(joined))
    if _SWAPPED:
        column.byteswap()
    return column
