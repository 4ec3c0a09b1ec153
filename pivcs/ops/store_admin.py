"""The store as a thing of its own: what it holds, a copy of it, another place for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pivcs.store.admin import Facts, back_up, facts_of, move
from pivcs.store.location import FILE_NAME
from pivcs.store.store import Store


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy of a store: where it came from, where it is, and its size in bytes."""

    source: Path
    target: Path
    size: int


def store_facts(store: Store) -> Facts:
    """Return what a store is and holds."""
    return facts_of(store.database)


def back_up_store(store: Store, target: Path) -> Copied:
    """Copy a store to a new file; others may go on using it. Raises as `pivcs.store.admin.back_up`."""
    back_up(store.database, target)
    assert store.database.path is not None
    return Copied(store.database.path, target, target.stat().st_size)


def move_store(store: Store, place: Path) -> Copied:
    """Move a store, which nobody else may use meanwhile, to a directory; it is closed. A place that ends in `.db` is
    the file itself. Raises as `pivcs.store.admin.move`."""
    source = store.database.path
    assert source is not None
    target = place if place.suffix == ".db" else place / FILE_NAME
    move(store.database, target)
    return Copied(source, target, target.stat().st_size)


