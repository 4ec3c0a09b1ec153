"""Deleting a session's file: into the system's trash, or for good. What was seen of it stays in the store.

A file goes only when the store has every byte of it, compared at that moment; `undo` writes it again from there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pivcs.errors import StateError
from pivcs.objects.hashing import whole_hash
from pivcs.ops.operations import NoSuchRef, RefMoved, Undone
from pivcs.ops.sync import sync_file
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer, refuse_without_file
from pivcs.session.appending import SessionFileGone
from pivcs.session.wholefile import write_new
from pivcs.store.records import FileStat, Stream
from pivcs.store.refs import Operation, RefChange
from pivcs.store.store import Store


class NotKept(StateError):
    """The store has not, or cannot have, all bytes of a file that was to be deleted."""


class NoTrash(StateError):
    """The file cannot be moved to a trash."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """A file that was deleted; `key` names the session that stays in the store."""

    path: Path
    key: str | None
    size: int
    permanently: bool


def delete_file(view: SessionView, writer: Writer, *, permanently: bool = False) -> Deleted:
    """Move a session's file to the trash, or with `permanently` remove it. Other copies of the session stay.

    Raises `NotKept`, `NoTrash`, `SessionFileGone`, `NoSessionFile`, and as syncing does; the file is then where it was.
    """
    refuse_without_file(view)
    store = view.store
    if store is None or store.read_only:
        raise NotKept(f"'{view.where}' is not deleted: there is no store that could keep what is in it")
    path = Path(view.where)
    status = _kept(store, path, writer.now)
    if FileStat.of(os.stat(path)) != status:
        raise NotKept(f"'{path}' is not deleted: it is being written", hint="try again when pi is done")
    if permanently:
        try:
            path.unlink()
        except OSError as error:
            raise NoTrash(f"cannot delete '{path}': {(error.strerror or str(error)).lower()}") from error
    else:
        _to_trash(path)
    gone = sync_file(store, path, writer.now)
    if gone.stream is not None and gone.stream.session is not None:
        _record(store, gone.stream, path, writer)
    return Deleted(path, view.key.hex if view.key is not None else None, status.size, permanently)


def _kept(store: Store, path: Path, now: int) -> FileStat:
    """Compare every byte with the store, which takes what is new, and return what stat() said of the file then."""
    synced = sync_file(store, path, now, full=True)
    if synced.outcome == "gone":
        raise SessionFileGone(path)
    stream = synced.stream
    if stream is None or stream.file.size != stream.size:
        raise NotKept(f"'{path}' is not deleted: the store has not all of it")
    return stream.file


def _to_trash(path: Path) -> None:
    hint = "--permanent deletes it for good; the store keeps what was in it"
    try:
        from send2trash import send2trash
    except ImportError as error:
        raise NoTrash(f"cannot move '{path}' to the trash: the library send2trash is missing", hint=hint) from error
    try:
        send2trash(path)
    except OSError as error:
        reason = (error.strerror or str(error) or type(error).__name__).lower()
        raise NoTrash(f"cannot move '{path}' to the trash: {reason}", hint=hint) from error
    if path.exists():
        raise NoTrash(f"cannot move '{path}' to the trash: it is still there", hint=hint)


def _record(store: Store, stream: Stream, path: Path, writer: Writer) -> None:
    assert stream.session is not None
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    change = RefChange(stream.session, stream.id, "file", name, _digest(store, stream), None)
    with store.writing():
        store.refs.add_operation(writer.now, "user", writer.command, [change])


def restore_file(store: Store, operation: Operation, change: RefChange, kind: str, now: int) -> Undone:
    """Write a deleted file again where it was, with the bytes and the time that it had.

    `change` has None as `old`. Raises `RefMoved` when the session has gone on elsewhere or another file is there,
    `StateError` for a redo, and as `write_new`.
    """
    stream = store.stream(change.stream) if change.stream is not None else None
    source = store.source(stream.source) if stream is not None else None
    if stream is None or source is None:
        raise NoSuchRef(f"the session of '{change.name}' is not in the store any more")
    path = Path(os.fsdecode(source.path))
    if kind == "redo":
        raise StateError(f"'{path}' is not deleted again without a question", hint="`pivcs delete` asks it")
    if store.current_stream(source.id) != stream or _digest(store, stream) != change.new:
        raise RefMoved(f"cannot undo '{operation.command}': '{path}' was another file since")
    write_new(path, store.bytes_of(stream).iter_range(0, stream.size))
    os.utime(path, ns=(stream.file.mtime, stream.file.mtime))
    sync_file(store, path, now)
    with store.writing():
        store.refs.add_operation(now, kind, f"{kind} {operation.command}", [change], operation.id)
    return Undone(operation, (change,))


def _digest(store: Store, stream: Stream) -> bytes:
    return whole_hash(store.bytes_of(stream).iter_range(0, stream.size))
