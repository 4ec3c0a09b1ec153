"""Names that other stores gave to nodes of a session: kept beside this store's own, and never put in their place.

What a name is called here depends on the names alone, and not on the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterator

from pivcs.ops.ref_names import BadRefName, check_ref_name
from pivcs.ops.view import SessionView
from pivcs.store.records import Stream
from pivcs.store.remote import decode_names

_DIGITS = 8


def names_of_others(view: SessionView, taken: set[str]) -> Iterator[tuple[str, Stream, int, bytes, bool]]:
    """Yield name, stream and row of what other stores have named in a session, a store that did, and whether it is a
    tag.

    A name that is free here, and means one node to all who have it, is as it is; others have the beginning of their
    store's id before them. What names no node that is known here, or could not be typed, is left out.
    """
    assert view.store is not None
    if view.stream is None or view.stream.session is None:
        return
    meanings: dict[str, dict[bytes, list[bytes]]] = {}
    tags: set[tuple[bytes, str]] = set()
    for other in view.store.remote.names(view.stream.session):
        names = decode_names(other.data, view.stream.session, other.store)
        if names is None:
            continue
        tags |= {(other.store, name) for name, _ in names.tags}
        tags -= {(other.store, name) for name, _ in names.branches}
        for name, oid in (*names.branches, *names.tags):
            if _can_be_typed(name):
                meanings.setdefault(name, {}).setdefault(oid, []).append(other.store)
    if not meanings:
        return
    places = _places(view, {oid for meaning in meanings.values() for oid in meaning})
    for name, meaning in sorted(meanings.items()):
        for oid, stores in sorted(meaning.items()):
            if oid not in places:
                continue
            if len(meaning) == 1 and name not in taken:
                yield name, *places[oid], stores[0], all((store, name) in tags for store in stores)
            else:
                for store in stores:
                    yield f"{store.hex()[:_DIGITS]}/{name}", *places[oid], store, (store, name) in tags


def _can_be_typed(name: str) -> bool:
    try:
        check_ref_name(name)
    except BadRefName:
        return False
    return True


def _places(view: SessionView, wanted: set[bytes]) -> dict[bytes, tuple[Stream, int]]:
    """Return where nodes are: in the view's own stream, or in another one of its session."""
    assert view.store is not None
    assert view.stream is not None
    assert view.stream.session is not None
    found: dict[bytes, tuple[Stream, int]] = {}
    others = [each for each in view.store.streams_of_session(view.stream.session) if each.id != view.stream.id]
    for stream in (view.stream, *others):
        table = view.table if stream is view.stream else view.store.table_of(stream)
        for oid in wanted - set(found):
            rows = table.rows_with_digest_prefix(oid)
            if rows:
                found[oid] = (stream, rows[0])
        if len(found) == len(wanted):
            break
    return found
