"""Making a point of a session the place where pi resumes, in the same file.

One entry is appended below it, because pi goes on at the last line of a file.
"""

from __future__ import annotations

from pathlib import Path

from pivcs.errors import InputError, StateError
from pivcs.objects.table import POSITIONAL
from pivcs.ops.appended import CHECKOUT, position_entry, record_append
from pivcs.ops.checkout import NotInThisVersion, Object, Written
from pivcs.ops.view import SHOWN_WHOLE, SessionView
from pivcs.ops.writing import Writer, append_entries, open_to_append
from pivcs.session.appending import SessionFileChanged
from pivcs.session.fields import SALVAGED
from pivcs.session.jsonwrite import dump_json
from pivcs.session.manager import Session


class NotInPlace(InputError):
    """An entry that the file cannot be made to resume at, because pi cannot tell it from others."""


def resume_at(view: SessionView, row: int, writer: Writer, summary: Object | None = None) -> Written:
    """Append one entry below another one: a summary of the path that is left, or a note that pi passes over.

    It can be undone. Raises `NotInPlace`, and as `open_to_append` and `Session.append_entries` do; then nothing is
    written.
    """
    ident = resumable_id(view, row)
    before = view.table.digest(view.head) if view.head is not None else None
    session = open_to_append(view, writer.world)

    def check() -> None:
        if not stands_there(view, row, session):
            raise SessionFileChanged(Path(view.where))

    entry = position_entry(ident) if summary is None else {**summary, "parentId": ident}
    done = append_entries(view, session, [entry], writer, check)
    if done.view is not None:
        after = view.table.digest(row) if summary is None else _digest(done.view, done.ids[-1])
        record_append(done.view, "position", "HEAD", before, after, now=writer.now, command=writer.command)
    return in_place(view, session, done.ids)


def as_it_is(view: SessionView) -> Written:
    """Return that nothing was appended, because pi would resume there already."""
    fields = view.header
    leaf = None if view.head is None else view.table.name(view.head)
    return Written(Path(view.where), fields.id, fields.parent_session, fields.version, leaf, 0, 0, in_place=True)


def in_place(view: SessionView, session: Session, ids: tuple[str, ...]) -> Written:
    """Return what was appended to the file of a view."""
    size = sum(len(dump_json(session.entry(ident))) + 1 for ident in ids)
    parent = view.header.parent_session
    return Written(
        Path(view.where), session.id, parent, session.header.get("version"), session.leaf, len(ids), size,
        in_place=True, appended=ids,
    )  # fmt: skip


def resumable_id(view: SessionView, row: int) -> str:
    """Return the id by which pi finds an entry. Raises `NotInPlace` when that would be another one, or none."""
    table = view.table
    name = table.name(row)
    if table.kind[row] == SALVAGED:
        raise NotInPlace(
            f"'{name}' stands in a line that pi passes over (line {table.line_number(row)})",
            hint="`pivcs checkout` writes it to a file of its own",
        )
    if table.flags[row] & POSITIONAL:
        raise NotInThisVersion(view.where)
    if len({table.first_row(each) for each in table.records_named(name)}) > 1:
        raise NotInPlace(
            f"several entries of '{view.where}' have the id '{name}', and pi takes the last one",
            hint="`pivcs checkout` writes it to a file of its own",
        )
    return name


def is_there_already(view: SessionView, row: int) -> bool:
    """Whether pi would resume at an entry as it is: it is HEAD, or only notes of ours stand between."""
    at = view.head
    while at is not None and at != row and view.entry(at).custom_type == CHECKOUT:
        at = view.table.parent_of(at)
    return at == row


def stands_there(view: SessionView, row: int, session: Session) -> bool:
    """Whether the file has the entry still."""
    ident = view.table.name(row)
    return ident in session and (view.table.length[row] > SHOWN_WHOLE or session.entry(ident) == view.value(row))


def _digest(view: SessionView, ident: str) -> bytes:
    row = view.table.row_named(ident)
    if row is None:
        raise StateError(f"'{view.where}' has no entry '{ident}' any more")
    return view.table.digest(row)
