"""Changing refs, each change a whole operation that can be undone.

A change names the value that it expects; when another process was faster it is refused, never overwritten. Undo and
redo are operations too. What moved by itself since, as branches do when a session grows, is not undone over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pivcs.errors import InputError, StateError
from pivcs.objects.oid import ObjectId
from pivcs.ops.ref_names import check_ref_name
from pivcs.ops.view import SessionView
from pivcs.store.records import Stream
from pivcs.store.refs import Branch, Operation, RefChange
from pivcs.store.store import Store


class NoSuchRef(InputError):
    """A branch or tag that is not there."""


class RefExists(StateError):
    """A name is taken."""


class RefMoved(StateError):
    """A ref is not where it was expected: another process, or the session itself, has moved it."""


class NothingToUndo(StateError):
    """There is no operation to undo or redo."""


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


def undo(store: Store, *, now: int) -> Undone:
    """Reverse the latest user operation that is not undone yet. Raises `NothingToUndo`, `RefMoved`."""
    with store.writing():
        operation = _latest(store, undone=False)
        if operation is None:
            raise NothingToUndo("there is nothing to undo")
        return _reverse(store, operation, "undo", now)


def redo(store: Store, *, now: int) -> Undone:
    """Do again what was undone last, unless another user operation came since. Raises `NothingToUndo`, `RefMoved`."""
    with store.writing():
        operation = _latest(store, undone=True)
        if operation is None:
            raise NothingToUndo("there is nothing to redo")
        return _reverse(store, operation, "redo", now)


def _latest(store: Store, *, undone: bool) -> Operation | None:
    """Return the user operation that undo (or redo, with `undone`) is about now."""
    done: list[Operation] = []
    taken_back: list[Operation] = []
    for operation in reversed(store.refs.operations(kinds=("user", "undo", "redo"))):
        if operation.kind == "user":
            done.append(operation)
            taken_back.clear()
        elif operation.kind == "undo" and done:
            taken_back.append(done.pop())
        elif operation.kind == "redo" and taken_back:
            done.append(taken_back.pop())
    stack = taken_back if undone else done
    return stack[-1] if stack else None


def _reverse(store: Store, operation: Operation, kind: str, now: int) -> Undone:
    changes = store.refs.changes_of(operation.id)
    if kind == "undo":
        changes = [
            RefChange(each.session, each.stream, each.ref, each.name, each.new, each.old, each.was_automatic)
            for each in reversed(changes)
        ]
    for change in changes:
        now_at = _value(store, change)
        if now_at != change.old:
            raise RefMoved(
                f"cannot {kind} '{operation.command}': {change.ref} '{change.name}' has moved since",
                hint="`pivcs op log` shows what happened; set the ref yourself",
            )
        _apply(store, change, restores=kind == "undo")
    store.refs.add_operation(now, kind, f"{kind} {operation.command}", changes, operation.id)
    return Undone(operation, tuple(changes))


def _value(store: Store, change: RefChange) -> bytes | None:
    """Return the object id that a ref has now."""
    if change.stream is None:
        return store.refs.tags(change.session).get(change.name)
    stream = _stream(store, change)
    branch = store.refs.branch(stream, change.name)
    return None if branch is None or branch.deleted else store.table_of(stream).digest(branch.row)


def _apply(store: Store, change: RefChange, *, restores: bool) -> None:
    if change.stream is None:
        store.refs.put_tag(change.session, change.name, change.new)
        return
    stream = _stream(store, change)
    if change.new is not None:
        row = store.table_of(stream).rows_with_digest_prefix(change.new)[0]
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
