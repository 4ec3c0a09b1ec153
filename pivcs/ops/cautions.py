"""What to know before going on at an entry: that it is in the middle of a turn, or no part of the conversation."""

from __future__ import annotations

from collections.abc import Iterator

from pivcs.objects.table import FAILED
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, USER, is_conversation


def cautions(view: SessionView, row: int) -> Iterator[str]:
    """Yield sentences about an entry at which pi is to resume."""
    table = view.table
    name = table.name(row)
    if not is_conversation(table.code[row]):
        yield f"'{name}' is book-keeping ({view.entry(row).type}), no part of the conversation; pi goes on below it"
    at = table.conversation_ancestor(row)
    if at is None:
        return
    code = table.code[at]
    open_calls = unanswered_calls(view, at)
    if open_calls:
        have = "a tool call has" if len(open_calls) == 1 else f"{len(open_calls)} tool calls have"
        yield f"'{name}' is inside a turn: {have} no result there"
    elif code == TOOL_RESULT:
        yield f"'{name}' is inside a turn: the model has not answered the tool's result"
    elif code == USER:
        yield f"'{name}' is a prompt without an answer; '{name}^' is before it"


def unanswered_calls(view: SessionView, row: int) -> list[str]:
    """Return the ids of tool calls of the answer at a row, or above the results there, that have no result.

    Calls of an answer that failed were never made.
    """
    table = view.table
    answered: set[str | None] = set()
    at: int | None = row
    while at is not None and (table.code[at] == TOOL_RESULT or not is_conversation(table.code[at])):
        message = view.entry(at).message
        if table.code[at] == TOOL_RESULT and message is not None:
            answered.add(message.tool_call_id)
        at = table.parent_of(at)
    if at is None or table.code[at] != ASSISTANT or table.flags[at] & FAILED:
        return []
    answer = view.entry(at).message
    calls = answer.tool_calls() if answer is not None else ()
    return [call.id for call in calls if call.id not in answered]
