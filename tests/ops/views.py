"""Sessions in memory, as operations see them."""

from __future__ import annotations

from pivcs.objects.index import index_source
from pivcs.ops.view import SessionView
from pivcs.session.source import BytesSource


def view_of(data: bytes) -> SessionView:
    """Return the view of a stream that people call 'test'."""
    source = BytesSource(data)
    table, reader = index_source(source)
    return SessionView(table, source, "test", reader.version1)


def name_of(view: SessionView, row: int) -> str:
    """Return what a row is called."""
    return view.table.name(row)
