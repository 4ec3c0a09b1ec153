"""What a session knows of files, for restoring them at one of its entries.

Two things are asked: how files were at the entry, and which bytes on the disk are the session's own doing. For the
second all branches count: moving in the tree of a conversation leaves the files as they are, so those on the disk may
come from any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from pivcs.objects.hashing import whole_hash
from pivcs.ops.replaying import BASH_EXECUTION, look_ahead, replay_path
from pivcs.ops.restore_plan import Knowledge
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT
from pivcs.workspace.base import Base
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change, FilePath, FileState, Provenance

_TELLING: Final = frozenset((ASSISTANT, TOOL_RESULT, BASH_EXECUTION))
_QUIET: Final = frozenset(("read", "write", "edit", "grep", "find", "ls"))
"""Tools that do nothing to files that they do not name."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole work tree as it was at a row of the path."""

    row: int
    base: Base


@dataclass
class _Told:
    """What all branches tell."""

    seen: dict[FilePath, set[bytes]] = field(default_factory=dict)
    created: set[FilePath] = field(default_factory=set)
    met: set[FilePath] = field(default_factory=set)
    current: dict[FilePath, FileState] = field(default_factory=dict)
    later: dict[FilePath, FileState] = field(default_factory=dict)
    read_later: set[FilePath] = field(default_factory=set)
    met_later: set[FilePath] = field(default_factory=set)


def restore_knowledge(
    view: SessionView, row: int, base: Base | None, snapshot: Snapshot | None = None, *, home: str | None = None
) -> Knowledge:
    """Return what is known of files at an entry, and of what is on the disk now.

    A file that the session met only behind the entry is as it was when it was met: as the base has it, or better, as it
    was read then, if nothing came between that leaves no trace. Reads every answer and result of the session; of past
    contents only digests are held.
    """
    taken = None if snapshot is None else {snapshot.row: snapshot.base}
    target = replay_path(view, row, base, home=home, snapshots=taken)
    told = _told(view, row, snapshot.base if snapshot is not None else base, target, home)
    if snapshot is None:
        target = {**told.later, **target}
    return Knowledge(
        target, told.current, told.seen, told.created, base if snapshot is None else None,
        snapshot.base if snapshot is not None else None, read_later=told.read_later if snapshot is None else (),
    )  # fmt: skip


def _told(
    view: SessionView, row: int, base: Base | None, target: Collection[FilePath], home: str | None
) -> _Told:
    told = _Told()
    path = view.table.path(look_ahead(view, row))
    behind = set(path[len(view.table.path(row)) :])
    quiet = True
    for at, replay in walk_tree(view, lambda: Replay(view.header.cwd, base, home=home), Replay.fork):
        if view.table.code[at] in _TELLING:
            entry = view.entry(at)
            changes = replay.apply(at, entry)
            _note(told, changes)
            if at in behind:
                _note_later(told, changes, target, quiet=quiet)
                message = entry.message
                names = [call.name for call in message.tool_calls()] if message is not None else []
                quiet &= view.table.code[at] != BASH_EXECUTION and all(name in _QUIET for name in names)
        if at == view.head:
            told.current = {state.path: state for state in replay.states()}
    return told


def _note(told: _Told, changes: Iterable[Change]) -> None:
    for change in changes:
        for state in (change.before, change.after):
            if state is not None and state.content is not None:
                told.seen.setdefault(change.path, set()).add(whole_hash([state.content]))
        if change.kind == "write" and change.after.is_exact:
            before = change.before
            known_not_there = before is not None and before.is_exact and before.content is None
            if known_not_there or (before is None and change.path not in told.met):
                told.created.add(change.path)
        told.met.add(change.path)


def _note_later(told: _Told, changes: Iterable[Change], target: Collection[FilePath], *, quiet: bool) -> None:
    """Note how files were that were not met before the entry: by what first happens to them behind it."""
    for change in changes:
        if change.path in target or change.path in told.met_later:
            continue
        told.met_later.add(change.path)
        if change.kind in ("read", "unseen") and change.after.is_exact:
            if quiet:
                told.later[change.path] = change.after
                told.read_later.add(change.path)
            else:
                told.later[change.path] = replace(
                    change.after, provenance=Provenance.UNKNOWN, unknown_since=change.row
                )
        elif change.before is not None:
            told.later[change.path] = change.before
