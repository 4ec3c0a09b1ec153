"""Snapshots of the work tree as commits of an export: the whole tree that was on the disk, on top of the review commit
of the entry at which it was taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pivcs.gitbridge.destination import RefUpdate
from pivcs.gitbridge.objects import BLOB, COMMIT, LINK_MODE, TREE, TREE_MODE, Identity, commit_bytes, seconds
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import snapshot_ref
from pivcs.gitbridge.review_options import DOMAIN, TOOLS
from pivcs.gitbridge.review_text import plain
from pivcs.gitbridge.reviewing import Reviewed
from pivcs.gitbridge.snapshots import listed_snapshots
from pivcs.gitbridge.stored_objects import StoredObjects
from pivcs.gitbridge.trees import Tree, stored_tree
from pivcs.ops.view import SessionView
from pivcs.store.snapshots import SnapshotRecord, snapshot_repository


class ReviewSnapshot(NamedTuple):
    """A snapshot, its ref, and the row of the entry at which it was taken."""

    record: SnapshotRecord
    ref: str
    row: int


def snapshots_in(view: SessionView, folder: str) -> list[ReviewSnapshot]:
    """Return the snapshots of a session that were taken at entries of this stream, oldest first."""
    found = []
    for record in listed_snapshots(view):
        rows = view.table.rows_with_digest_prefix(record.oid) if record.oid is not None else []
        if rows:
            found.append(ReviewSnapshot(record, snapshot_ref(folder, _name(record)), rows[0]))
    return found


def write_snapshots(
    snapshots: Sequence[ReviewSnapshot], reviewed: Reviewed, writer: PackWriter
) -> Iterator[RefUpdate]:
    """Add the commits of snapshots to a pack, and yield their refs. Raises `ObjectMissing`, `NotWritten`."""
    store = reviewed.view.store
    if not snapshots or store is None or store.database.path is None:
        return
    with StoredObjects(snapshot_repository(store.database.path) / "objects") as stored:
        for snapshot in snapshots:
            parent = reviewed.commit_of(snapshot.row)
            if parent is None:
                continue
            record = snapshot.record
            _copy(record.tree, stored, writer)
            who = Identity(TOOLS, TOOLS + b"@" + DOMAIN, seconds(record.time))
            subject = f"snapshot: {plain(record.message)}".replace("\n", " ").rstrip(": ")
            oid = reviewed.view.table.object_id(snapshot.row)
            message = f"{subject}\n\nPivcs-Snapshot: {_name(record)}\nPivcs-Snapshot-Of: {oid.hex}\n"
            commit = writer.add(COMMIT, commit_bytes(record.tree, [parent], who, who, message.encode()))
            yield RefUpdate(snapshot.ref, commit)


def _name(record: SnapshotRecord) -> str:
    when = datetime.fromtimestamp(seconds(record.time), UTC)
    return f"{when:%Y%m%dt%H%M%Sz}-{record.tree.hex()[:8]}"


def _copy(ident: bytes, stored: StoredObjects, writer: PackWriter) -> None:
    """Add a tree, and all in it that is not there yet, to a pack."""
    waiting: list[Tree] = []
    if not writer.has(ident):
        waiting.append(stored_tree(ident, stored.tree))
    order = []
    while waiting:
        tree = waiting.pop()
        order.append(tree)
        for name in tree.names():
            entry = tree.entry(name)
            assert entry is not None
            if writer.has(entry[1]) or entry[0] == LINK_MODE:
                continue
            if entry[0] == TREE_MODE:
                waiting.append(stored_tree(entry[1], stored.tree))
            else:
                writer.add(BLOB, stored.read(BLOB, entry[1]))
    for tree in reversed(order):  # what a tree names is there before it
        writer.add(TREE, tree.raw)
