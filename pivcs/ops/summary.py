"""What is kept beside each stream so that lists of sessions need not read them: a few facts, brought up to date by each
sync from the new rows alone where that can be done."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, NamedTuple

from pivcs.errors import DataError
from pivcs.objects.table import NO_ROW, NO_TIME, NODE, Table
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind
from pivcs.store.errors import DAMAGE_HINT, StoreDamaged

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
    forgotten: int = 0

    def encode(self) -> bytes:
        """Return the facts as the store keeps them."""
        facts = {key: value for key, value in self._asdict().items() if value is not None}
        if not self.forgotten:
            del facts["forgotten"]
        return json.dumps(facts).encode()


_NUMBERS: Final = frozenset(("time", "entries", "tips", "headers", "damaged", "lines", "forgotten"))
_KINDS: Final = {name: int if name in _NUMBERS else str for name in Summary._fields}


class SummaryDamaged(StoreDamaged):
    """What is kept of a stream is not what was written."""

    def __init__(self) -> None:
        DataError.__init__(self, "the store is damaged: what it keeps of a session cannot be read", hint=DAMAGE_HINT)


def decode_summary(data: bytes) -> Summary:
    """Read the facts back; unknown ones, of a newer pivcs, are passed over. Raises `SummaryDamaged`."""
    try:
        values = json.loads(data or b"{}")
    except ValueError as error:
        raise SummaryDamaged from error
    if not isinstance(values, dict):
        raise SummaryDamaged
    facts = {key: value for key, value in values.items() if key in _KINDS}
    if not all(type(value) is _KINDS[key] for key, value in facts.items()):
        raise SummaryDamaged
    return Summary(**facts)


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
        forgotten=len(table.forgotten_rows()),
    )


class Tips(NamedTuple):
    """What new rows do to the tips of a stream: earlier rows that have a child now, and new rows without one."""

    gone: list[int]
    new: list[int]


def tips_after(table: Table, first_row: int, is_tip: Callable[[int], bool]) -> Tips:
    """Return what the rows of `table`, which stand at `first_row`, do to the tips; `is_tip` tells of earlier rows."""
    has_child = bytearray(len(table))
    parents: set[int] = set()
    for row in table.nodes():
        parent = table.parent[row]
        if parent == NO_ROW:
            continue
        if parent >= first_row:
            has_child[parent - first_row] = 1
        else:
            parents.add(parent)
    gone = [row for row in sorted(parents) if is_tip(row)]
    return Tips(gone, [first_row + row for row in table.nodes() if not has_child[row]])


def advance(before: Summary, new: SessionView, tips: Tips) -> Summary | None:
    """Return the facts after the rows of `new`, which follow those that `before` is about.

    None when they cannot be told from the new rows alone: when the first header comes.
    """
    table = new.table
    counts = table.counts()
    if counts[LineKind.HEADER] and before.id is None:
        return None
    times = [] if before.time is None else [before.time]
    times += [time for time, flags in zip(table.time, table.flags, strict=True) if flags & NODE and time != NO_TIME]
    return before._replace(
        name=new.name if table.name_rows() else before.name,
        first_prompt=before.first_prompt if before.first_prompt is not None else _short(new.first_prompt),
        time=max(times, default=None),
        entries=before.entries + new.node_count(),
        tips=before.tips + len(tips.new) - len(tips.gone),
        headers=before.headers + counts[LineKind.HEADER],
        damaged=before.damaged + counts[LineKind.DAMAGED] + counts[LineKind.GLUED],
        lines=before.lines + table.line_count(),
        forgotten=before.forgotten + len(table.forgotten_rows()),
    )


def _short(text: str | None) -> str | None:
    return None if text is None else text[:FIRST_PROMPT]
