"""The tags of a session."""

from __future__ import annotations

from typing import NamedTuple

from pivcs.objects.oid import ObjectId
from pivcs.ops.view import SessionView


class ListedTag(NamedTuple):
    """A tag; `row` is None when its node is in another generation or source of the session."""

    name: str
    oid: ObjectId
    row: int | None


def list_tags(view: SessionView) -> list[ListedTag]:
    """Return the tags of a session by name."""
    found = []
    for name, oid in sorted(view.refs.tags.items()):
        rows = view.table.rows_with_digest_prefix(oid.digest)
        found.append(ListedTag(name, oid, rows[0] if rows else None))
    return found
