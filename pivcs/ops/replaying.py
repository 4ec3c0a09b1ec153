"""The files at an entry: replaying the path to it, and looking ahead for what shows that they were others."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pivcs.objects.table import TOOL_USE
from pivcs.ops.records import iter_entries
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, ROLES, TOOL_RESULT
from pivcs.workspace.base import Base
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change, FilePath, FileState, Provenance

BASH_EXECUTION: Final = ROLES["bashExecution"]

Snapshots = Mapping[int, Base]
"""Snapshots of the work tree, by the row of the entry that they were taken at."""


def replay_path(
    view: SessionView,
    row: int,
    base: Base | None = None,
    *,
    ahead: int | None = None,
    home: str | None = None,
    met: Callable[[Change], object] | None = None,
    snapshots: Snapshots | None = None,
) -> dict[FilePath, FileState]:
    """Return what is known of each file at an entry, sorted by path, files inside of the working directory first.

    What comes later on the path to `ahead` may show that something unseen had changed a file before: such a state is
    `unknown`, since the row that last told the whole file. `ahead` is an entry below `row` (by default what
    `look_ahead` chooses); `row` itself looks at nothing that came later. `snapshots` on the way take the place of what
    was known of files that were met; what is only in a snapshot is not among the states. Reads the answers and results
    of both paths; only the latest content of each file is held. `met` is given each change on the path to `row`, in
    order.
    """
    path = view.table.path(row)
    replay = Replay(view.header.cwd, base, home=home)
    for change in _apply(view, path, replay, snapshots):
        if met is not None:
            met(change)
    states = {state.path: state for state in replay.states()}
    told = {path: replay.told_at(path) for path in states}
    target = look_ahead(view, row) if ahead is None else ahead
    watched = {path for path, state in states.items() if state.is_exact and told[path] != row}
    if target != row and watched:
        rest = view.table.path(target)[len(path) :]
        for change in _apply(view, rest, replay, snapshots):
            if change.path in watched and (change.kind != "edit" or not change.after.is_exact):
                watched.discard(change.path)
                if _shows_unseen(change):
                    states[change.path] = _doubtful(states[change.path], told[change.path])
                if not watched:
                    break
    return states


def iter_changes(
    view: SessionView, row: int, base: Base | None = None, *, home: str | None = None,
    snapshots: Snapshots | None = None,
) -> Iterator[Change]:  # fmt: skip
    """Yield what the entries of the path to `row` did to files or told of them, in order, each when it is asked for.

    Looks at nothing that came later. Only the latest content of each file is held.
    """
    yield from _apply(view, view.table.path(row), Replay(view.header.cwd, base, home=home), snapshots)


def look_ahead(view: SessionView, row: int) -> int:
    """Return the entry to which the story of `row` goes on: HEAD when it is below, else the newest tip below it."""
    parents = view.table.parent
    if view.head is not None and _is_below(parents, view.head, row):
        return view.head
    return next((tip for tip in reversed(view.tips()) if _is_below(parents, tip, row)), row)


def _is_below(parents: Sequence[int], at: int, row: int) -> bool:
    # A parent stands before its children, so nothing below `row` has a smaller number.
    while at > row:
        parent = parents[at]
        if parent > at:
            return False
        at = parent
    return at == row


def _doubtful(state: FileState, told: int | None) -> FileState:
    since = state.known_at if told is None or told < 0 else told
    return replace(state, provenance=Provenance.UNKNOWN, unknown_since=since)


def _shows_unseen(change: Change) -> bool:
    """Whether a change shows that the file was not what it should have been before."""
    if change.kind == "snapshot" and change.before is not None and change.before.is_exact:
        return change.after.is_exact and change.after.content != change.before.content
    return change.kind == "unseen"


def _apply(view: SessionView, rows: Sequence[int], replay: Replay, snapshots: Snapshots | None) -> Iterator[Change]:
    taken = {} if snapshots is None else snapshots
    relevant = relevant_rows(view, rows, taken)
    for row, entry in zip(relevant, iter_entries(view, relevant), strict=True):
        yield from replay.apply(row, entry)
        if row in taken:
            yield from replay.reset(row, taken[row])


def relevant_rows(view: SessionView, rows: Sequence[int], also: Container[int] = ()) -> list[int]:
    """Return those rows of a path that can tell something of files: calls with results, and commands of the user.

    Answers behind which no result comes before the next answer are left out: they need not be read. Rows of `also` are
    always among them.
    """
    codes, flags = view.table.code, view.table.flags
    found = []
    answered = False
    for row in reversed(rows):
        code = codes[row]
        if code == TOOL_RESULT:
            answered = True
        elif code == ASSISTANT:
            if not answered and not flags[row] & TOOL_USE and row not in also:
                continue
            answered = False
        elif code != BASH_EXECUTION and row not in also:
            continue
        found.append(row)
    found.reverse()
    return found
