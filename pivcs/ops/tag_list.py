"""The tags of a session."""

from __future__ import annotations

from typing import NamedTuple

from pivcs.objects.oid import ObjectId
from pivcs.ops.access import view_of
from pivcs.ops.view import SessionView


class ListedTag(NamedTuple):
    """A tag; `row` is None when its node is in another generation or source of the session. `store` is the id of the
    store that set it, None for this one."""

    name: str
    oid: ObjectId
    row: int | None
    store: bytes | None = None


def list_tags(view: SessionView) -> list[ListedTag]:
    """Return the tags of a session by name, then those that other stores have set."""
    found = []
    for name, oid in sorted(view.refs.tags.items()):
        rows = view.table.rows_with_digest_prefix(oid.digest)
        found.append(ListedTag(name, oid, rows[0] if rows else None))
    for other in view.refs.tags_elsewhere:
        assert view.store is not None
        own = view.stream is not None and other.stream.id == view.stream.id
        table = view.table if own else view_of(view.store, other.stream).table
        found.append(ListedTag(other.name, table.object_id(other.row), other.row if own else None, other.store))
    return found
