"""What is unusual about a session as a whole, beyond its single lines (`pivcs.ops.status` names those)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pivcs.objects.table import DOUBLED, NO_ROW, NODE, TOOL_USE
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, is_conversation
from pivcs.session.fields import LineKind
from pivcs.session.migrations import version_of


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something about a session. `kind` is a stable name, `row` the first row that shows it, `count` how many do."""

    kind: str
    row: int
    count: int


def oddities(view: SessionView) -> Iterator[Oddity]:
    """Yield what is unusual, each kind once."""
    for kind, rows in (("two-writers", _interrupted(view)), ("entries-without-id", rows_without_id(view))):
        if rows:
            yield Oddity(kind, rows[0], len(rows))


def _interrupted(view: SessionView) -> list[int]:
    """Return the rows that go on with a turn which another chain interrupted: two programs wrote to one file.

    A tool's result, and an answer after a `toolUse` stop, directly follow what they belong to; only a message of the
    user may go on anywhere (pi's /tree), so these alone tell.
    """
    table = view.table
    found = []
    previous = NO_ROW
    for row, (flags, code) in enumerate(zip(table.flags, table.code, strict=True)):
        if flags & (NODE | DOUBLED) != NODE or not is_conversation(code):
            continue
        if code in (TOOL_RESULT, ASSISTANT):
            above = table.parent[row]
            above = NO_ROW if above == NO_ROW else _or_none(table.conversation_ancestor(above))
            if above not in (NO_ROW, previous) and (code == TOOL_RESULT or _calls_tools(view, above)):
                found.append(row)
        previous = row
    return found


def _or_none(row: int | None) -> int:
    return NO_ROW if row is None else row


def _calls_tools(view: SessionView, row: int) -> bool:
    """Whether an answer that follows `row` goes on after a `toolUse` stop: `row` is that answer or a tool's result."""
    return view.table.code[row] == TOOL_RESULT or bool(view.table.flags[row] & TOOL_USE)


def rows_without_id(view: SessionView) -> list[int]:
    """Return the lines that would be entries in a version 1 file, in a file that says it is of a later version: pi's
    forkFrom copies version 1 entries without giving them ids (pi format 12)."""
    if view.header_row is None or version_of(view.header.fields) < 2:
        return []
    found = []
    for row, kind in enumerate(view.table.kind):
        if kind == LineKind.FOREIGN:
            value = view.value(row)
            if isinstance(value, dict) and isinstance(value.get("type"), str) and not isinstance(value.get("id"), str):
                found.append(row)
    return found
