"""Snapshots: a project's work tree as it is on disk now, stored as a tree in the store's own git repository.

The project's repository is only asked for the names of its files. Objects, index and ref are the store's; the bytes are
those on the disk. The index of a directory stays, so that the next snapshot reads what has changed since and no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pivcs.errors import InputError
from pivcs.gitbridge.base import MissingObject, TreeFiles, decode_path, encode_path
from pivcs.gitbridge.process import Git, GitFailed
from pivcs.gitbridge.snapshot_repository import SnapshotRepository
from pivcs.gitbridge.work_tree import REFUSED, Listed, WorkTree, list_files, work_tree_of
from pivcs.ops.operations import named_stream
from pivcs.ops.view import SessionView
from pivcs.store.refs import RefChange
from pivcs.store.snapshots import (
    REF_PREFIX,
    SnapshotRecord,
    add_snapshot,
    set_snapshot_deleted,
    snapshot,
    snapshot_repository,
    snapshots_of,
)
from pivcs.store.store import Store

_COMPANIONS = ("", "-wal", "-shm", "-journal", ".lease")


class NoSuchSnapshot(InputError):
    """A number that no snapshot of the session has."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot that was taken, and what is not in it: paths below the root, each with the reason."""

    record: SnapshotRecord
    left_out: tuple[tuple[str, str], ...]


def take_snapshot(
    view: SessionView, directory: str, message: str, *, git: Git, home: Path, now: int, command: str
) -> Taken:
    """Store the work tree that a directory is in, and tie it to the session's HEAD. An operation that can be undone.

    Raises `NoWorkTree`, `NoNames`, `NoSnapshotStore`, `SnapshotsBusy`, `StoreReadOnly`, `GitFailed`.
    """
    store, _, key = named_stream(view)
    repository = SnapshotRepository(store)
    tree = work_tree_of(directory, home)
    with repository.writing():
        listed = list_files(tree, git, repository.path, _own_files(repository))
        try:
            ident, missing = _store_tree(tree, listed, repository, git)
        except GitFailed:
            # The index is a cache, which may know objects that are there no more.
            repository.index_of(os.fsencode(tree.root)).unlink(missing_ok=True)
            ident, missing = _store_tree(tree, listed, repository, git)
        oid = view.table.digest(view.head) if view.head is not None else None
        with store.writing():
            record = add_snapshot(
                store,
                SnapshotRecord(
                    0, key, oid, now, message, bytes.fromhex(ident), os.fsencode(tree.root),
                    encode_path(tree.prefix) or b"", len(listed.paths) - len(missing),
                ),
            )  # fmt: skip
            change = RefChange(key, None, "snapshot", str(record.id), None, record.tree)
            store.refs.add_operation(now, "user", command, [change])
            repository.run(git, "update-ref", f"{REF_PREFIX}{record.id}", ident)
    left_out = sorted((*listed.left_out, *((path, REFUSED) for path in missing)))
    return Taken(record, tuple((decode_path(path), reason) for path, reason in left_out))


def _store_tree(
    tree: WorkTree, listed: Listed, repository: SnapshotRepository, git: Git
) -> tuple[str, list[bytes]]:  # fmt: skip
    """Bring the index of a directory up to date with what is listed; returns the id of its tree, and the paths that are
    not in it after all."""
    def run(*arguments: str, paths: Iterable[bytes] = ()) -> bytes:
        given = b"".join(path + b"\0" for path in paths)
        return repository.run_on(tree.root, git, *arguments, stdin=given)

    wanted = set(listed.paths)
    known = set(run("ls-files", "-z").split(b"\0")) - {b""}
    if known - wanted:
        run("update-index", "--force-remove", "-z", "--stdin", paths=sorted(known - wanted))
    if wanted:
        run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", paths=listed.paths)
    taken = set(run("ls-files", "-z").split(b"\0"))
    ident = run("write-tree").decode("ascii").strip()
    return ident, sorted(wanted - taken)


def _own_files(repository: SnapshotRepository) -> list[Path]:
    path = repository.store.database.path
    assert path is not None
    return [repository.path, *(path.with_name(path.name + suffix) for suffix in _COMPANIONS)]


def listed_snapshots(view: SessionView) -> list[SnapshotRecord]:
    """Return the snapshots of a session, oldest first; none where there is no store, or no session yet."""
    if view.store is None or view.stream is None or view.stream.session is None:
        return []
    return snapshots_of(view.store, view.stream.session)


def delete_snapshots(view: SessionView, numbers: Sequence[int], *, now: int, command: str) -> list[RefChange]:
    """Remove snapshots of a session in one operation, which can be undone; their files stay.

    Raises `NoSuchSnapshot`, `NoNames`.
    """
    store, _, key = named_stream(view)
    changes = []
    with store.writing():
        for number in numbers:
            record = snapshot(store, number)
            if record is None or record.deleted or record.session != key:
                raise NoSuchSnapshot(f"the session has no snapshot {number}", hint="`pivcs snapshot --list` lists them")
            set_snapshot_deleted(store, number, True)
            changes.append(RefChange(key, None, "snapshot", str(number), record.tree, None))
        store.refs.add_operation(now, "user", command, changes)
    return changes


class SnapshotBase(TreeFiles):
    """What a snapshot has for the working directory of its session: exactly what was on the disk. Ignored files, other
    repositories and what could not be read are not in it. Raises `MissingObject` when its files are not there."""

    def __init__(self, store: Store, record: SnapshotRecord) -> None:
        path = store.database.path
        place = snapshot_repository(path) if path is not None else None
        if place is None or not (place / "objects").is_dir():
            raise MissingObject(f"the files of snapshot {record.id} are not there: there is no '{place}'")
        from dulwich.object_store import DiskObjectStore

        objects = DiskObjectStore(place / "objects")
        super().__init__(objects, record.tree.hex(), decode_path(record.prefix), f"snapshot {record.id}")
        self.record = record


def snapshot_base(store: Store, record: SnapshotRecord) -> SnapshotBase:
    """Return the base of a snapshot, to be closed by the caller. Raises `MissingObject`."""
    return SnapshotBase(store, record)
