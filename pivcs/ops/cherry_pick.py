"""Conversation that is replayed at another point of a session, as new entries.

A replay has new ids and times; the messages are what they were. With it go the edits of the context that are about its
entries. Other book-keeping stays behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from pivcs.errors import InputError
from pivcs.objects.table import FAILED
from pivcs.ops.appended import record_append
from pivcs.ops.checkout import Object, TakenIds, Written, checkout
from pivcs.ops.switch import in_place, resumable_id, stands_there
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer, append_entries, open_to_append
from pivcs.session.appending import SessionFileChanged
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, is_conversation
from pivcs.session.entries import Entry
from pivcs.session.world import World


class NotReplayable(InputError):
    """Entries that cannot be taken out of their place: not one stretch, or a tool call without its result."""


def cherry_pick(view: SessionView, rows: Sequence[int], onto: int, writer: Writer, output: Path | None) -> Written:
    """Replay entries, given in file order, below another one: in the same file, or on its path in a new one.

    Raises NotReplayable, NotInPlace, NotInThisVersion, and as appending or writing does; then nothing is written.
    """
    chosen = _replayable(view, rows)
    target = resumable_id(view, onto)
    pairs, entries = _replays(view, chosen, onto, writer.world)
    if output is not None:
        written = checkout(view, onto, world=writer.world, output=output, entries=entries)
    else:
        session = open_to_append(view, writer.world)

        def check() -> None:
            if not stands_there(view, onto, session):
                raise SessionFileChanged(Path(view.where))

        entries[0]["parentId"] = target
        before = view.table.digest(view.head) if view.head is not None else None
        done = append_entries(view, session, entries, writer, check)
        if done.view is not None:
            last = done.view.table.row_named(done.ids[-1])
            after = done.view.table.digest(last) if last is not None else None
            record_append(done.view, "entries", done.ids[0], before, after, now=writer.now, command=writer.command)
        written = in_place(view, session, done.ids)
    return replace(written, replayed=tuple(pairs))


def _replayable(view: SessionView, rows: Sequence[int]) -> list[int]:
    """Return the rows of conversation and of context edits; check that they are one stretch with whole tool calls."""
    table = view.table
    spoken = [row for row in rows if is_conversation(table.code[row])]
    if not spoken:
        raise NotReplayable("there is no conversation in these entries", hint="`pivcs log A..B` shows what a range is")
    for row, below in pairwise(spoken):
        parent = table.parent_of(below)
        if parent is None or table.conversation_ancestor(parent) != row:
            raise NotReplayable(
                f"'{table.name(below)}' does not follow '{table.name(row)}': what is replayed is one stretch of a path",
                hint="a range A..B is one",
            )
    _check_tools(view, spoken)
    edits = {row for row in rows if view.entry(row).type == "context_edit"}
    return sorted({*spoken, *edits})


def _check_tools(view: SessionView, spoken: list[int]) -> None:
    """Refuse a tool's result without its call, and calls at the end without their results."""
    table = view.table
    called: set[str | None] = set()
    waiting: dict[str, int] = {}
    for row in spoken:
        message = view.entry(row).message
        if table.code[row] == TOOL_RESULT and message is not None:
            if message.tool_call_id not in called:
                raise NotReplayable(
                    f"'{table.name(row)}' is the result of a tool call that is not among the entries",
                    hint="begin with the answer that called the tool, or with the prompt",
                )
            waiting.pop(message.tool_call_id or "", None)
            continue
        waiting.clear()
        if table.code[row] == ASSISTANT and message is not None and not table.flags[row] & FAILED:
            waiting = {call.id: row for call in message.tool_calls()}
            called |= set(waiting)
    if waiting:
        raise NotReplayable(
            f"'{table.name(next(iter(waiting.values())))}' calls a tool whose result is not among the entries",
            hint="end with the result, or with the final answer",
        )


def _replays(
    view: SessionView, rows: list[int], onto: int, world: World
) -> tuple[list[tuple[str, str]], list[Object]]:
    """Return pairs of old and new ids, and the new entries without parents and times."""
    table, taken = view.table, TakenIds(view)
    ids = {table.name(row): taken.new_id(world) for row in rows if is_conversation(table.code[row])}
    known = {table.name(row) for row in table.path(onto)}
    pairs, entries = [], []
    for row in rows:
        entry = view.entry(row)
        fields = {key: value for key, value in entry.fields.items() if key not in ("id", "parentId", "timestamp")}
        if entry.type == "context_edit":
            if entry.target_id not in ids:
                continue
            fields["targetId"] = ids[entry.target_id]
        else:
            _point_to_replays(entry, fields, ids, known)
        ident = ids.get(table.name(row)) or taken.new_id(world)
        pairs.append((table.name(row), ident))
        entries.append({**fields, "id": ident})
    return pairs, entries


def _point_to_replays(entry: Entry, fields: Object, ids: dict[str, str], known: set[str]) -> None:
    """Let a compaction and a summary name replays instead of old entries."""
    if entry.type == "compaction":
        first = entry.first_kept_entry_id
        if first in ids:
            fields["firstKeptEntryId"] = ids[first or ""]
        elif first is not None and first not in known:
            raise NotReplayable(
                f"the compaction '{entry.id}' keeps what begins with '{first}', which is not on the new path",
                hint=f"let the range begin before '{first}'",
            )
    elif entry.type == "branch_summary" and entry.from_id in ids:
        fields["fromId"] = ids[entry.from_id or ""]
