"""Snapshots of work trees as a list, and as a document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.columns import column_lines
from pivcs.render.documents import Document, session_document, time_text
from pivcs.render.log_text import SHORT_OID, Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.store.snapshots import SnapshotRecord

_SHOWN: Final = 5
"""Paths that were left out, and are named in a warning."""


def snapshot_lines(view: SessionView, records: Sequence[SnapshotRecord], looks: Looks) -> Iterator[str]:
    """Yield a line for each snapshot: number, the entry that it belongs to, when, how many files, and the message, or
    without one what the entry is."""
    yield from column_lines([_columns(view, record, looks) for record in records], looks)


def taken_lines(view: SessionView, record: SnapshotRecord, looks: Looks) -> Iterator[str]:
    """Yield a snapshot that was taken, and of which directory."""
    spans: list[Span] = []
    for role, text in _columns(view, record, looks):
        spans += [(role, text), (Role.PLAIN, "  ")]
    yield looks.styler.spans(fitted([(Role.PLAIN, "snapshot "), *spans[:-1]], looks.columns))
    yield looks.styler(Role.DIM, visible(f"of {_root(record)}", keep=""))


def left_out_text(left_out: Sequence[tuple[str, str]]) -> str:
    """Return a warning that names what is not in a snapshot."""
    named = ", ".join(f"'{path}' ({reason})" for path, reason in left_out[:_SHOWN])
    more = f" and {plural(len(left_out) - _SHOWN, 'other')}" if len(left_out) > _SHOWN else ""
    return f"{plural(len(left_out), 'path')} left out: {named}{more}"


def snapshot_document(
    view: SessionView, records: Sequence[SnapshotRecord], left_out: Sequence[tuple[str, str]] = ()
) -> Document:
    """Return snapshots as a JSON document."""
    return {
        "schema": "pivcs.snapshot/1",
        "session": session_document(view),
        "snapshots": [
            {
                "number": record.id,
                "time": time_text(record.time),
                "message": record.message,
                "oid": record.oid.hex() if record.oid is not None else None,
                "entry": view.table.name(row) if (row := _row(view, record)) is not None else None,
                "tree": record.tree.hex(),
                "root": _root(record),
                "files": record.files,
            }
            for record in records
        ],
        "left_out": [{"path": path, "reason": reason} for path, reason in left_out],
    }


def _columns(view: SessionView, record: SnapshotRecord, looks: Looks) -> list[Span]:
    row = _row(view, record)
    about = one_line(record.message)
    if not about and row is not None:
        about = one_line(view.subject(row))
    name = "" if record.oid is None else record.oid.hex()[:SHORT_OID]
    return [
        (Role.LABEL, str(record.id)),
        (Role.ID, name if row is None else visible(view.table.name(row), keep="")),
        (Role.DIM, looks.when(record.time)),
        (Role.DIM, plural(record.files, "file")),
        (Role.PLAIN, about),
    ]


def _row(view: SessionView, record: SnapshotRecord) -> int | None:
    """Return the row of the entry that a snapshot belongs to; None when it is in another generation or source."""
    rows = view.table.rows_with_digest_prefix(record.oid) if record.oid is not None else []
    return rows[0] if rows else None


def _root(record: SnapshotRecord) -> str:
    return os.fsdecode(record.root)
