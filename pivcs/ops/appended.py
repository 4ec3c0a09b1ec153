"""Operations that appended to a session file, and how they are taken back: by appending the opposite.

Session files only grow. A label, the session's name and the position can be set to what they were; entries of a
conversation stay, and one goes back to before them by switching. An operation of this kind has no other changes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pivcs.errors import StateError
from pivcs.ops.access import Warn, view_of
from pivcs.ops.operations import NoSuchRef, RefMoved, Undone, named_stream
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer, append_entries, open_to_append
from pivcs.session.appending import SessionFileChanged, SessionFileGone
from pivcs.session.entries import Entry
from pivcs.session.jsonwrite import UNDEFINED
from pivcs.session.manager import Session
from pivcs.session.world import World
from pivcs.store.refs import Operation, RefChange
from pivcs.store.store import Store

AppendedRef = Literal["label", "position", "session-name", "entries"]
APPENDED: Final = ("label", "position", "session-name", "entries")

CHECKOUT: Final = "pivcs.checkout"
"""The `customType` of the entry that makes its parent the place where pi resumes."""


class CannotTakeBack(StateError):
    """What an operation appended is part of the conversation, and session files only grow."""


def record_append(
    view: SessionView, ref: AppendedRef, name: str, old: bytes | None, new: bytes | None, *, now: int, command: str
) -> RefChange:
    """Record that something was appended to a session file as one operation of the user.

    `view` is the session after it, synced. What `ref` is decides the rest:

    - `label`: `name` is the id of the entry, `old` and `new` are the texts (`text_value`), None for no label;
    - `session-name`: `name` is empty, `old` and `new` are the names likewise;
    - `position`: `name` is "HEAD", `old` is the object id of HEAD before and `new` that of the entry that was moved to
      (with a summary: of the summary), not that of the book-keeping entry below it;
    - `entries`: `name` is the id of the first one, `old` is the object id of HEAD before and `new` that of the last
      one. It cannot be undone.

    Raises `NoNames`.
    """
    store, stream, key = named_stream(view)
    change = RefChange(key, stream.id, ref, name, old, new)
    with store.writing():
        store.refs.add_operation(now, "user", command, [change])
    return change


def text_value(text: str | None) -> bytes | None:
    """Return a label or a name as a change holds it; an empty one is none."""
    return text.encode("utf-8", "surrogatepass") if text else None


def value_text(value: bytes | None) -> str | None:
    """Return the label or name that a change holds."""
    return value.decode("utf-8", "surrogatepass") if value else None


def position_entry(entry_id: str) -> dict[str, object]:
    """Return the entry that makes another one the place where pi resumes, for `Session.append_entries`."""
    return {"type": "custom", "customType": CHECKOUT, "parentId": entry_id}


def label_entry(entry_id: str, text: str | None) -> dict[str, object]:
    """Return the entry that labels another one, or with None removes its label, as pi writes it (pi format 4.3)."""
    return {"type": "label", "targetId": entry_id, "label": text if text else UNDEFINED}


def stands_at(session: Session, entry_id: str) -> bool:
    """Whether a session is at an entry: nothing but book-keeping was appended below it."""
    for value in reversed(session.path()):
        entry = Entry(value)
        if entry.id == entry_id:
            return True
        if entry.is_conversation:
            return False
    return False


def reverse_append(
    store: Store, operation: Operation, changes: Sequence[RefChange], kind: str, *,
    now: int, warn: Warn | None = None, world: World | None = None,
) -> Undone:  # fmt: skip
    """Append the opposite of what an operation appended (for a redo: the same again), and record that.

    `changes` have what is to be replaced as `old`. Raises `CannotTakeBack`, `RefMoved`, `SessionFileGone`,
    `SessionFileChanged`, and as appending does.
    """
    writer = Writer(now, operation.command, warn or (lambda _: None), world or World.real())
    view = _view_of(store, changes[0], now)
    if changes[0].ref == "entries":
        raise _entries_stay(view, operation, changes[0])
    session = open_to_append(view, writer.world)

    def check() -> None:
        for change in changes:
            if not _is_as_expected(view, session, change):
                raise RefMoved(
                    f"cannot {kind} '{operation.command}': {_called(change)} has changed since",
                    hint="`pivcs op log` shows what happened; set it yourself",
                )

    entries = [_entry_for(view, change) for change in changes]
    append_entries(view, session, entries, writer, check)
    with store.writing():
        store.refs.add_operation(now, kind, f"{kind} {operation.command}", changes, operation.id)
    return Undone(operation, tuple(changes))


def _view_of(store: Store, change: RefChange, now: int) -> SessionView:
    """Return the synced view of the stream to which a change was appended."""
    from pivcs.ops.sync import sync_file

    stream = store.stream(change.stream) if change.stream is not None else None
    source = store.source(stream.source) if stream is not None else None
    if stream is None or source is None:
        raise NoSuchRef(f"the session of {_called(change)} is not in the store any more")
    path = Path(os.fsdecode(source.path))
    synced = sync_file(store, path, now)
    if synced.outcome == "gone":
        raise SessionFileGone(path)
    if synced.stream is None or synced.stream.id != stream.id:
        raise SessionFileChanged(path)
    return view_of(store, synced.stream)


def _is_as_expected(view: SessionView, session: Session, change: RefChange) -> bool:
    if change.ref == "label":
        return session.label(change.name) == value_text(change.old)
    if change.ref == "session-name":
        return session.name == value_text(change.old)
    return change.old is not None and stands_at(session, _entry_id(view, change.old))


def _entry_for(view: SessionView, change: RefChange) -> dict[str, object]:
    """Return the entry that brings about the new value of a change."""
    if change.ref == "label":
        return label_entry(change.name, value_text(change.new))
    if change.ref == "session-name":
        return {"type": "session_info", "name": value_text(change.new) or ""}
    if change.new is None:
        raise CannotTakeBack(f"'{view.where}' had no entry before, so there is none to go back to")
    return position_entry(_entry_id(view, change.new))


def _entry_id(view: SessionView, digest: bytes) -> str:
    rows = view.table.rows_with_digest_prefix(digest)
    if not rows:
        raise SessionFileChanged(Path(view.where))
    return view.table.name(rows[0])


def _called(change: RefChange) -> str:
    if change.ref == "label":
        return f"the label of '{change.name}'"
    return {"session-name": "the session's name", "position": "the position"}.get(change.ref, "what was appended")


def _entries_stay(view: SessionView, operation: Operation, change: RefChange) -> CannotTakeBack:
    before = change.new  # an undo has the values exchanged
    hint = f"`pivcs switch {_entry_id(view, before)}` goes back to before them" if before is not None else None
    return CannotTakeBack(
        f"cannot undo '{operation.command}': its entries stay in '{view.where}', because session files only grow",
        hint=hint,
    )
