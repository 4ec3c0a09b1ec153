"""Snapshots of the work tree as commits of an export: all files that were on the disk, on top of the review commit of
the entry at which they were taken, so that its diff is what the conversation did not tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pivcs.gitbridge.destination import RefUpdate
from pivcs.gitbridge.objects import (
    BLOB,
    COMMIT,
    LINK_MODE,
    TREE,
    TREE_MODE,
    Identity,
    commit_bytes,
    seconds,
    tree_bytes,
)
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import snapshot_ref
from pivcs.gitbridge.review_options import DOMAIN, TOOLS
from pivcs.gitbridge.review_paths import OURS
from pivcs.gitbridge.review_text import plain
from pivcs.gitbridge.reviewing import Reviewed
from pivcs.gitbridge.snapshots import listed_snapshots
from pivcs.gitbridge.stored_objects import StoredObjects
from pivcs.gitbridge.trees import stored_tree
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
            tree = _copied(record.tree, stored, writer, reviewed.pages_at(snapshot.row))
            who = Identity(TOOLS, TOOLS + b"@" + DOMAIN, seconds(record.time))
            subject = f"snapshot: {plain(record.message)}".replace("\n", " ").rstrip(": ")
            oid = reviewed.view.table.object_id(snapshot.row)
            at = plain(reviewed.view.table.name(snapshot.row))
            message = (
                f"{subject}\n\nThe files as they were on the disk at entry {at}.\n\n"
                f"Pivcs-Snapshot: {_name(record)}\nPivcs-Snapshot-Of: {oid.hex}\n"
            )
            commit = writer.add(COMMIT, commit_bytes(tree, [parent], who, who, message.encode()))
            yield RefUpdate(snapshot.ref, commit)


def _name(record: SnapshotRecord) -> str:
    when = datetime.fromtimestamp(seconds(record.time), UTC)
    return f"{when:%Y%m%dt%H%M%Sz}-{record.tree.hex()[:8]}"


def _copied(ident: bytes, stored: StoredObjects, writer: PackWriter, pages: bytes | None) -> bytes:
    """Add a tree, with all in it that is not there yet, to a pack, and beside it the pages of the conversation, which a
    snapshot has not; returns its id."""
    root = stored_tree(ident, stored.tree)
    waiting = [root]
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
    for tree in reversed(order[1:]):  # what a tree names is there before it
        writer.add(TREE, tree.raw)
    entries = [(*entry, name) for name in root.names() if name != OURS and (entry := root.entry(name)) is not None]
    kept = [(mode, name, there) for mode, there, name in entries]
    return writer.add(TREE, tree_bytes([*kept, *([(TREE_MODE, OURS, pages)] if pages is not None else [])]))
