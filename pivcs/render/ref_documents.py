"""What revisions name, and where paths part, as JSON documents (`docs/json.md`)."""

from __future__ import annotations

from collections.abc import Sequence

from pivcs.ops.names import Names
from pivcs.ops.revset import Selection
from pivcs.ops.view import SessionView
from pivcs.render.documents import Document, session_document


def revisions_document(view: SessionView, chosen: Sequence[tuple[str, Selection]]) -> Document:
    """Return what each text names."""
    names = {id(each.view): Names(each.view) for _, each in chosen}
    return {
        "schema": "pivcs.revparse/1",
        "session": session_document(view),
        "revisions": [
            {
                "text": text,
                "path": each.view.where,
                "entries": [_entry(names[id(each.view)], row) for row in each.rows],
            }
            for text, each in chosen
        ],
    }


def merge_base_document(view: SessionView, first: int, second: int, base: int | None) -> Document:
    """Return where two paths part."""
    names = Names(view)
    return {
        "schema": "pivcs.mergebase/1",
        "first": _entry(names, first),
        "second": _entry(names, second),
        "base": _entry(names, base) if base is not None else None,
        "is_ancestor": base == first,
    }


def _entry(names: Names, row: int) -> Document:
    table = names.view.table
    return {
        "entry": table.name(row),
        "oid": table.object_id(row).hex,
        "name": names.name_of(row),
        "line": table.line_number(row),
    }
