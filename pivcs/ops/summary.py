"""What is kept beside each stream so that lists of sessions need not read them: a few facts, brought up to date by each
sync from the new rows alone where that can be done."""

from __future__ import annotations

import json
from typing import NamedTuple

from pivcs.objects.table import DOUBLED, NO_ROW, NO_TIME, NODE
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind

FIRST_PROMPT = 300
"""Characters of the first prompt that are kept."""


class Summary(NamedTuple):
    """Facts of one stream. `time` is that of the latest entry in milliseconds since 1970."""

    id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    parent_session: str | None = None
    name: str | None = None
    first_prompt: str | None = None
    time: int | None = None
    entries: int = 0
    tips: int = 0
    headers: int = 0
    damaged: int = 0
    lines: int = 0

    def encode(self) -> bytes:
        """Return the facts as the store keeps them."""
        return json.dumps({key: value for key, value in self._asdict().items() if value is not None}).encode()


def decode_summary(data: bytes) -> Summary:
    """Read the facts back; unknown ones, of a newer pivcs, are passed over."""
    known = Summary._fields
    return Summary(**{key: value for key, value in json.loads(data or b"{}").items() if key in known})


def summarise(view: SessionView) -> Summary:
    """Return the facts of a whole stream."""
    table, header = view.table, view.header
    counts = table.counts()
    times = [time for time, flags in zip(table.time, table.flags, strict=True) if flags & NODE and time != NO_TIME]
    return Summary(
        id=header.id,
        timestamp=header.timestamp,
        cwd=header.cwd,
        parent_session=header.parent_session,
        name=view.name,
        first_prompt=_short(view.first_prompt),
        time=max(times, default=None),
        entries=view.node_count(),
        tips=len(view.tips()),
        headers=counts[LineKind.HEADER],
        damaged=counts[LineKind.DAMAGED] + counts[LineKind.GLUED],
        lines=table.line_count(),
    )


def advance(before: Summary, new: SessionView, first_row: int, last_row: int) -> Summary | None:
    """Return the facts after the rows of `new`, which follow `first_row` rows.

    `last_row` is the node of the last record when it is known to be a tip, else `NO_ROW`. None when the facts cannot be
    told from the new rows: when a branch begins, a header comes, or a line is doubled.
    """
    table = new.table
    counts = table.counts()
    if counts[LineKind.HEADER]:
        return None
    tips, entries, previous = before.tips, before.entries, last_row
    times = [] if before.time is None else [before.time]
    for row, (flags, parent, time) in enumerate(zip(table.flags, table.parent, table.time, strict=True)):
        if not flags & NODE:
            continue
        if flags & DOUBLED or (parent != NO_ROW and parent != previous):
            return None
        tips += parent == NO_ROW
        entries += 1
        previous = first_row + row
        if time != NO_TIME:
            times.append(time)
    return before._replace(
        name=new.name if table.name_rows() else before.name,
        first_prompt=before.first_prompt if before.first_prompt is not None else _short(new.first_prompt),
        time=max(times, default=None),
        entries=entries,
        tips=tips,
        damaged=before.damaged + counts[LineKind.DAMAGED] + counts[LineKind.GLUED],
        lines=before.lines + table.line_count(),
    )


def _short(text: str | None) -> str | None:
    return None if text is None else text[:FIRST_PROMPT]
