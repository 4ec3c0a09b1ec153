"""What revisions name, and where paths part, as JSON documents (`docs/json.md`)."""

from __future__ import annotations

from collections.abc import Sequence

from pivcs.ops.merge_base import Parting
from pivcs.ops.names import Names
from pivcs.ops.revision import Target
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


def merge_base_document(first: Target, second: Target, found: Parting) -> Document:
    """Return where two paths part."""
    names, others = Names(first.view), Names(second.view)
    return {
        "schema": "pivcs.mergebase/1",
        "first": {**_entry(names, first.row), "path": first.view.where},
        "second": {**_entry(others, second.row), "path": second.view.where},
        "base": _entry(names, found.first) if found.first is not None else None,
        "second_base": _entry(others, found.second) if found.second is not None else None,
        "by": found.by,
        "only_first": len(found.only_first),
        "only_second": len(found.only_second),
        "is_ancestor": found.first == first.row,
    }


def _entry(names: Names, row: int) -> Document:
    table = names.view.table
    return {
        "entry": table.name(row),
        "oid": table.object_id(row).hex,
        "name": names.name_of(row),
        "line": table.line_number(row),
    }
