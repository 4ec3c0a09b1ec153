"""What is unusual about a session as a whole, beyond its single lines (`pivcs.ops.status` names those)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pivcs.objects.table import NO_ROW, TOOL_USE
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
    rows = rows_without_id(view)
    if rows:
        yield Oddity("entries-without-id", rows[0], len(rows))


def interrupted_rows(view: SessionView) -> list[int]:
    """Return the rows that go on with a turn which another chain interrupted: two programs wrote to one file.

    A tool's result, and an answer after a `toolUse` stop, directly follow what they belong to; only a message of the
    user may go on anywhere (pi's /tree). A second answer to what has been answered is no interruption: pi tries again.
    """
    table = view.table
    parents, codes = table.parent, table.code
    found = []
    previous = NO_ROW
    for row in table.nodes():
        code = codes[row]
        if not is_conversation(code):
            continue
        if code in (TOOL_RESULT, ASSISTANT) and parents[row] != NO_ROW and parents[row] != previous:
            above = table.conversation_ancestor(parents[row])
            if above is not None and above != previous and (code == TOOL_RESULT or _calls_tools(view, above)):
                at = previous
                while at != NO_ROW and at > above:
                    at = parents[at]
                if at != above:
                    found.append(row)
        previous = row
    return found


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
