"""Upkeep of snapshots: whether their files are whole, and giving back the space of those that were deleted."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING

from pivcs.gitbridge.base import MissingObject, read_object, tree_entries
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.snapshot_repository import SnapshotRepository
from pivcs.ops.fsck_finding import Finding
from pivcs.store.snapshots import REF_PREFIX, all_snapshots, set_snapshot_collected, snapshot_repository
from pivcs.store.store import Store

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore


@dataclass(frozen=True, slots=True)
class Space:
    """What there is to collect of snapshots, or was: how many are `deleted`, and the bytes on the disk of all files."""

    deleted: int
    size_before: int
    size_after: int


def check_snapshots(store: Store, sessions: Collection[bytes] | None = None) -> Iterator[Finding]:
    """Yield a finding for each snapshot, of some sessions only where they are given, that has files which are missing
    or not what their ids say. Every object is read once."""
    records = [each for each in all_snapshots(store) if not each.collected]
    records = [each for each in records if sessions is None or each.session in sessions]
    path = store.database.path
    if not records or path is None:
        return
    from dulwich.object_store import DiskObjectStore

    objects = DiskObjectStore(snapshot_repository(path) / "objects")
    try:
        good: set[bytes] = set()
        for record in records:
            harmed = list(_harmed(objects, record.tree.hex().encode(), good))
            if harmed:
                first = harmed[0].decode("utf-8", "replace") or "the root"
                count = f"{len(harmed)} object{'s' if len(harmed) > 1 else ''}"
                yield Finding("snapshot-damaged", detail=f"snapshot {record.id}: {count}, first '{first}'")
    finally:
        objects.close()


def _harmed(objects: DiskObjectStore, root: bytes, good: set[bytes]) -> Iterator[bytes]:
    """Yield the paths of a tree whose objects are not good; adds the others to `good`."""
    waiting = [(b"", root, b"tree")]
    while waiting:
        path, ident, kind = waiting.pop()
        if ident in good:
            continue
        try:
            data = read_object(objects, ident, kind, "snapshot")
        except MissingObject:
            yield path
            continue
        if sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).hexdigest().encode() != ident:
            yield path
            continue
        good.add(ident)
        if kind == b"tree":
            for name, (mode, inner) in tree_entries(data).items():
                waiting.append((path + b"/" + name if path else name, inner, b"tree" if mode == 0o40000 else b"blob"))


def snapshot_space(store: Store) -> Space | None:
    """Return what `collect_snapshots` would do; None when there are no snapshots. Writes nothing."""
    path = store.database.path
    if path is None or not snapshot_repository(path).is_dir():
        return None
    size = _size(snapshot_repository(path))
    return Space(sum(each.deleted and not each.collected for each in all_snapshots(store)), size, size)


def collect_snapshots(store: Store, git: Git) -> Space:
    """Remove the files of deleted snapshots for good, and pack the others well.

    Raises `SnapshotsBusy`, `StoreReadOnly`, `GitFailed`.
    """
    repository = SnapshotRepository(store)
    with repository.writing():
        before = _size(repository.path)
        with store.writing():
            deleted = [each for each in all_snapshots(store) if each.deleted and not each.collected]
            for record in deleted:
                set_snapshot_collected(store, record.id)
        kept = {f"{REF_PREFIX}{each.id}" for each in all_snapshots(store) if not each.collected}
        for name in repository.run(git, "for-each-ref", "--format=%(refname)", REF_PREFIX).decode().split():
            if name not in kept:
                repository.run(git, "update-ref", "-d", name)
        repository.run(git, "gc", "--quiet", "--prune=now")
        return Space(len(deleted), before, _size(repository.path))


def _size(place: Path) -> int:
    total = 0
    for directory, _, names in os.walk(place):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                continue
    return total
