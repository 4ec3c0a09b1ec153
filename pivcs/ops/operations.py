"""Changing refs, each change a whole operation that can be undone.

A change names the value that it expects; when another process was faster it is refused, never overwritten. Undo and
redo are operations too. What moved by itself since, as branches do when a session grows, is not undone over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pivcs.errors import InputError, StateError
from pivcs.objects.oid import ObjectId
from pivcs.objects.table import Table
from pivcs.ops.ref_names import check_ref_name
from pivcs.ops.view import SessionView
from pivcs.store.records import Stream
from pivcs.store.refs import Branch, Operation, RefChange
from pivcs.store.snapshots import set_snapshot_deleted, snapshot
from pivcs.store.store import Store

if TYPE_CHECKING:
    from pivcs.ops.access import Warn
    from pivcs.session.world import World


class NoSuchRef(InputError):
    """A branch or tag that is not there."""


class RefExists(StateError):
    """A name is taken."""


class RefMoved(StateError):
    """A ref is not where it was expected: another process, or the session itself, has moved it."""


class NothingToUndo(StateError):
    """There is no operation to undo or redo."""


class NotUndone(StateError):
    """What an operation removed is not there any more, so nothing can bring it back."""

    def __init__(self, command: str) -> None:
        super().__init__(
            f"cannot undo '{command}': what was forgotten is not in the store any more",
            hint="`pivcs undo NUMBER` takes back another operation; `pivcs op log` has the numbers",
        )


class NoNames(StateError):
    """Names cannot be kept: there is no store, or it cannot be written."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo or redo was about, and the refs that it set back."""

    operation: Operation
    changes: tuple[RefChange, ...]


def named_stream(view: SessionView) -> tuple[Store, Stream, bytes]:
    """Return the store, stream and session key that a view's names belong to. Raises `NoNames`."""
    if view.store is None or view.stream is None:
        raise NoNames("names are kept in a store, and there is none that can be used")
    if view.stream.session is None:
        raise NoNames(f"'{view.where}' has no complete line yet, so there is nothing to name")
    return view.store, view.stream, view.stream.session


def create_branch(view: SessionView, name: str, row: int, *, force: bool, now: int, command: str) -> RefChange:
    """Let a branch point at a conversation entry: the row, or its nearest conversation ancestor.

    Raises `BadRefName`, `RefExists` without `force`, `RefMoved`, and `NoSuchRef` when there is no conversation entry
    above the row.
    """
    check_ref_name(name)
    store, stream, key = named_stream(view)
    target = view.table.conversation_ancestor(row)
    if target is None:
        raise NoSuchRef(f"'{view.table.name(row)}' has no conversation entry above it that a branch could point at")
    with store.writing():
        known = store.refs.branch(stream, name)
        live = known is not None and not known.deleted
        if live and not force:
            raise RefExists(f"a branch '{name}' exists", hint="--force moves it")
        _as_it_was_seen(view, name, known)
        change = RefChange(
            key, stream.id, "branch", name, view.table.digest(known.row) if known is not None and live else None,
            view.table.digest(target), known.automatic if known is not None and live else False,
        )  # fmt: skip
        store.refs.put_branches(stream.id, [Branch(name, target, automatic=False)])
        _record(view, store, now, command, [change])
    return change


def rename_branches(view: SessionView, names: Sequence[tuple[str, str]], *, now: int, command: str) -> list[RefChange]:
    """Rename branches in one operation. Raises `BadRefName`, `NoSuchRef`, `RefExists`, `RefMoved`."""
    store, stream, key = named_stream(view)
    for _, new in names:
        check_ref_name(new)
    changes: list[RefChange] = []
    with store.writing():
        for old, new in names:
            known = _live(store, stream, old)
            _as_it_was_seen(view, old, known)
            taken = store.refs.branch(stream, new)
            if taken is not None and not taken.deleted:
                raise RefExists(f"a branch '{new}' exists", hint="delete or rename it first")
            digest = view.table.digest(known.row)
            changes.append(RefChange(key, stream.id, "branch", old, digest, None, known.automatic))
            changes.append(RefChange(key, stream.id, "branch", new, None, digest))
            store.refs.remove_branch(stream.id, old)
            store.refs.put_branches(stream.id, [Branch(new, known.row, automatic=False)])
        _record(view, store, now, command, changes)
    return changes


def delete_branches(view: SessionView, names: Sequence[str], *, now: int, command: str) -> list[RefChange]:
    """Delete branches in one operation; automatic ones do not come back by themselves.

    Raises `NoSuchRef`, `RefMoved`.
    """
    store, stream, key = named_stream(view)
    changes: list[RefChange] = []
    with store.writing():
        for name in names:
            known = _live(store, stream, name)
            _as_it_was_seen(view, name, known)
            changes.append(
                RefChange(key, stream.id, "branch", name, view.table.digest(known.row), None, known.automatic)
            )
            store.refs.put_branches(stream.id, [Branch(name, known.row, known.automatic, deleted=True)])
        _record(view, store, now, command, changes)
    return changes


def set_tag(view: SessionView, name: str, oid: ObjectId, *, force: bool, now: int, command: str) -> RefChange:
    """Let a tag name a node. Raises `BadRefName`, `RefMoved`, `RefExists` without `force`."""
    check_ref_name(name)
    store, _, key = named_stream(view)
    with store.writing():
        old = store.refs.tags(key).get(name)
        if old is not None and not force:
            raise RefExists(f"a tag '{name}' exists", hint="--force moves it")
        _tag_as_it_was_seen(view, name, old)
        change = RefChange(key, None, "tag", name, old, oid.digest)
        store.refs.put_tag(key, name, oid.digest)
        _record(view, store, now, command, [change])
    return change


def delete_tags(view: SessionView, names: Sequence[str], *, now: int, command: str) -> list[RefChange]:
    """Delete tags in one operation. Raises `NoSuchRef`, `RefMoved`."""
    store, _, key = named_stream(view)
    changes: list[RefChange] = []
    with store.writing():
        for name in names:
            old = store.refs.tags(key).get(name)
            if old is None:
                raise NoSuchRef(f"there is no tag '{name}'", hint="`pivcs tag` lists them")
            _tag_as_it_was_seen(view, name, old)
            changes.append(RefChange(key, None, "tag", name, old, None))
            store.refs.put_tag(key, name, None)
        _record(view, store, now, command, changes)
    return changes


def undo(
    store: Store, *, now: int, number: int | None = None, warn: Warn | None = None, world: World | None = None
) -> Undone:
    """Reverse the latest user operation that is not undone yet, or the one with a number.

    Raises `NothingToUndo`, `RefMoved`; for one that restored files as `turn_files`; for one that appended to a session
    file also as `reverse_append`, which needs to warn and, but in tests, the world of this process.
    """
    return _turn(store, "undo", now, number, warn, world)


def redo(store: Store, *, now: int, warn: Warn | None = None, world: World | None = None) -> Undone:
    """Do again what was undone last, unless another user operation came since. Raises as `undo`."""
    return _turn(store, "redo", now, None, warn, world)


def _turn(
    store: Store, kind: str, now: int, number: int | None, warn: Warn | None, world: World | None
) -> Undone:  # fmt: skip
    with store.writing():
        operation = _chosen(store, kind, number)
        changes = store.refs.changes_of(operation.id)
        if not changes or any(change.ref == "forgotten" for change in changes):
            raise NotUndone(operation.command)
        if kind == "undo":
            changes = [change._replace(old=change.new, new=change.old) for change in reversed(changes)]
        if all(change.ref in ("branch", "tag", "snapshot") for change in changes):
            return _reverse(store, operation, changes, kind, now)
    if changes[0].ref == "file":
        from pivcs.ops.trash import restore_file

        return restore_file(store, operation, changes[0], kind, now)
    if changes[0].ref == "files":
        from pivcs.ops.restore_undo import turn_files

        return turn_files(store, operation, changes[0], kind, now)
    from pivcs.ops.appended import reverse_append

    return reverse_append(store, operation, changes, kind, now=now, warn=warn, world=world)


def chosen_operation(store: Store, number: int | None = None) -> Operation:
    """Return the operation that `undo` would take back. Raises `NothingToUndo`."""
    return _chosen(store, "undo", number)


def _chosen(store: Store, kind: str, number: int | None) -> Operation:
    """Return the operation that is to be undone or done again. Raises `NothingToUndo`."""
    done, taken_back = _stacks(store)
    stack = done if kind == "undo" else taken_back
    if number is not None:
        stack = [operation for operation in stack if operation.id == number]
    if not stack:
        which = f"operation {number} is not one that can be undone" if number is not None else None
        raise NothingToUndo(which or f"there is nothing to {kind}", hint="`pivcs op log` shows what was done")
    return stack[-1]


def _stacks(store: Store) -> tuple[list[Operation], list[Operation]]:
    """Return the user operations that undo, and those that redo may be about now, the next one last."""
    done: list[Operation] = []
    taken_back: list[Operation] = []
    for operation in reversed(store.refs.operations(kinds=("user", "undo", "redo"))):
        if operation.kind == "user":
            done.append(operation)
            taken_back.clear()
            continue
        here, there = (done, taken_back) if operation.kind == "undo" else (taken_back, done)
        moved = next((each for each in reversed(here) if each.id == operation.about), None)
        if moved is not None:
            here.remove(moved)
            there.append(moved)
    return done, taken_back


def _reverse(store: Store, operation: Operation, changes: Sequence[RefChange], kind: str, now: int) -> Undone:
    tables = _Tables(store)
    for change in changes:
        if _value(store, change, tables) != change.old:
            raise RefMoved(
                f"cannot {kind} '{operation.command}': {change.ref} '{change.name}' has moved since",
                hint="`pivcs op log` shows what happened; set the ref yourself",
            )
        _apply(store, change, tables, restores=kind == "undo")
    store.refs.add_operation(now, kind, f"{kind} {operation.command}", changes, operation.id)
    return Undone(operation, tuple(changes))


class _Tables:
    """The rows of streams, each loaded once for all changes of an operation, and found by their object ids."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables: dict[int, Table] = {}
        self._rows: dict[int, dict[bytes, int]] = {}

    def digest(self, stream: Stream, row: int) -> bytes:
        """Return the object id of a row."""
        return self._of(stream).digest(row)

    def row(self, stream: Stream, digest: bytes) -> int:
        """Return the row of a node."""
        rows = self._rows.get(stream.id)
        if rows is None:
            table = self._of(stream)
            rows = self._rows[stream.id] = {table.digest(row): row for row in table.nodes()}
        return rows[digest]

    def _of(self, stream: Stream) -> Table:
        if stream.id not in self._tables:
            self._tables[stream.id] = self._store.table_of(stream)
        return self._tables[stream.id]


def _value(store: Store, change: RefChange, tables: _Tables) -> bytes | None:
    """Return the object id that a ref has now, or the tree of a snapshot that is there."""
    if change.ref == "snapshot":
        taken = snapshot(store, int(change.name))
        return None if taken is None or taken.deleted else taken.tree
    if change.stream is None:
        return store.refs.tags(change.session).get(change.name)
    stream = _stream(store, change)
    branch = store.refs.branch(stream, change.name)
    return None if branch is None or branch.deleted else tables.digest(stream, branch.row)


def _apply(store: Store, change: RefChange, tables: _Tables, *, restores: bool) -> None:
    if change.ref == "snapshot":
        record = snapshot(store, int(change.name))
        if record is None or record.collected:
            raise NoSuchRef(f"snapshot {change.name} was collected: its files are not there any more")
        set_snapshot_deleted(store, int(change.name), change.new is None)
        return
    if change.stream is None:
        store.refs.put_tag(change.session, change.name, change.new)
        return
    stream = _stream(store, change)
    if change.new is not None:
        row = tables.row(stream, change.new)
        automatic = change.was_automatic and restores
        store.refs.put_branches(stream.id, [Branch(change.name, row, automatic)])
    else:
        known = store.refs.branch(stream, change.name)
        if known is not None and known.automatic:
            store.refs.put_branches(stream.id, [Branch(known.name, known.row, automatic=True, deleted=True)])
        else:
            store.refs.remove_branch(stream.id, change.name)


def _stream(store: Store, change: RefChange) -> Stream:
    assert change.stream is not None
    stream = store.stream(change.stream)
    if stream is None:
        raise NoSuchRef(f"the session of {change.ref} '{change.name}' is not in the store any more")
    return stream


def _record(view: SessionView, store: Store, now: int, command: str, changes: Sequence[RefChange]) -> None:
    """Record a user's operation; the view's names are read anew when they are asked for next."""
    store.refs.add_operation(now, "user", command, changes)
    vars(view).pop("refs", None)


def _as_it_was_seen(view: SessionView, name: str, known: Branch | None) -> None:
    """Raise `RefMoved` unless a branch is where it was when the view's names were read."""
    seen = view.refs.branch(name)
    row = None if known is None or known.deleted else known.row
    if row != (seen.row if seen is not None else None):
        raise RefMoved(f"branch '{name}' was changed by another process", hint="look at it and try again")


def _tag_as_it_was_seen(view: SessionView, name: str, oid: bytes | None) -> None:
    seen = view.refs.tags.get(name)
    if oid != (seen.digest if seen is not None else None):
        raise RefMoved(f"tag '{name}' was changed by another process", hint="look at it and try again")


def _live(store: Store, stream: Stream, name: str) -> Branch:
    known = store.refs.branch(stream, name)
    if known is None or known.deleted:
        raise NoSuchRef(f"there is no branch '{name}'", hint="`pivcs branch` lists them")
    return known
