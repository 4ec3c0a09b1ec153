"""Labels and the session's name, set as pi sets them: by appending an entry where the session stands (pi format 7.2,
7.3)."""

from __future__ import annotations

from collections.abc import Callable

from pivcs.errors import InputError
from pivcs.objects.table import POSITIONAL
from pivcs.ops.appended import AppendedRef, label_entry, record_append, text_value
from pivcs.ops.operations import RefMoved
from pivcs.ops.revision import AmbiguousRevision, resolve
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Appended, Writer, append_entries, open_to_append
from pivcs.session.manager import Session
from pivcs.session.newentries import session_info_fields
from pivcs.store.refs import RefChange


class NoLabel(InputError):
    """A label was to be removed from an entry that has none."""


class CannotLabel(InputError):
    """pi cannot tell an entry from others, or does not read it, so a label would not be its."""


def set_label(view: SessionView, row: int, text: str | None, writer: Writer) -> RefChange | None:
    """Label an entry, or with None remove its label. Returns None when it is so already: nothing is appended then.

    Raises `CannotLabel`, `RefMoved` when another process has changed the label, and as `open_to_append` and
    `Session.append_entries` do.
    """
    ident = _labelled_id(view, row)
    session = open_to_append(view, writer.world)
    if ident not in session or session.entry(ident) != view.value(row):
        raise CannotLabel(f"pi does not read '{ident}' in '{view.where}', so it cannot have a label there")
    old, new = session.label(ident), text or None
    if old == new:
        return None

    def check() -> None:
        if session.label(ident) != old:
            raise RefMoved(f"the label of '{ident}' was changed by another process", hint="look at it and try again")

    return _append(view, session, label_entry(ident, new), ("label", ident), old, new, writer, check)


def row_to_clear(view: SessionView, text: str) -> int:
    """Return the row whose label is to be removed: that of the one label with this text, else of a revision.

    Raises `AmbiguousRevision`, `NoLabel`, and as `resolve` does.
    """
    rows = [row for row, label in view.labels.items() if label == text]
    if len(rows) > 1:
        raise AmbiguousRevision(text, "label", [view.table.name(row) for row in rows], rows)
    row = rows[0] if rows else resolve(view, text)
    if row not in view.labels:
        raise NoLabel(f"'{view.table.name(row)}' has no label", hint="`pivcs label` lists them")
    return row


def rename_session(view: SessionView, name: str, writer: Writer) -> RefChange | None:
    """Name a session; an empty name clears. Line breaks become spaces, white space at the ends goes.

    Returns None when it has that name already. Raises as `set_label`.
    """
    session = open_to_append(view, writer.world)
    fields = session_info_fields(name)
    old, new = session.name, str(fields["name"]) or None
    if old == new:
        return None

    def check() -> None:
        if session.name != old:
            raise RefMoved("the session's name was changed by another process", hint="look at it and try again")

    return _append(view, session, {"type": "session_info", **fields}, ("session-name", ""), old, new, writer, check)


def _append(
    view: SessionView, session: Session, entry: dict[str, object], ref: tuple[AppendedRef, str],
    old: str | None, new: str | None, writer: Writer, check: Callable[[], None],
) -> RefChange:  # fmt: skip
    done: Appended = append_entries(view, session, [entry], writer, check)
    values = text_value(old), text_value(new)
    if done.view is None or done.view.stream is None or done.view.stream.session is None:
        return RefChange(view.key.digest if view.key is not None else b"", None, *ref, *values)
    return record_append(done.view, *ref, *values, now=writer.now, command=writer.command)


def _labelled_id(view: SessionView, row: int) -> str:
    table = view.table
    name = table.name(row)
    if table.flags[row] & POSITIONAL:
        raise CannotLabel(f"'{name}' has no id of its own, so it cannot have a label")
    last = table.row_named(name)
    if last is None or table.first_row(last) != table.first_row(row):
        raise CannotLabel(f"several entries have the id '{name}', and a label would be that of the last one")
    return name
