"""Work trees that were taken: their rows, and where the repository with their files is."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from pivcs.errors import StateError
from pivcs.store.location import FILE_NAME
from pivcs.store.store import Store

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None  # type: ignore[assignment]

REPOSITORY_NAME: Final = "snapshots.git"
REF_PREFIX: Final = "refs/snapshots/"
"""Begins the names of the refs that keep the trees; the number of the snapshot follows."""

WAIT: Final = 60.0
"""Seconds that somebody waits for another one who uses the same snapshots."""
_STEP: Final = 0.05

_COLUMNS: Final = (
    "snapshot.id, session.key, snapshot.oid, snapshot.time, snapshot.message, snapshot.tree, snapshot.root, "
    "snapshot.prefix, snapshot.files, snapshot.deleted FROM snapshot JOIN session ON session.id = snapshot.session"
)


class SnapshotsBusy(StateError):
    """Another process is writing, copying or collecting snapshots."""


class SnapshotRecord(NamedTuple):
    """A work tree as it was at one moment, when the session's HEAD was the node `oid` (None: it had none).

    `time` is milliseconds since 1970. `tree` is the id of git's tree object, 20 bytes. `root` is the directory that was
    taken, and `prefix` where the session's working directory is below it, with slashes: bytes, as the file system has
    them. `files` counts files and symbolic links. `deleted`: it was removed, which can be undone until it is
    `collected`: then its files are gone, too.
    """

    id: int
    session: bytes
    oid: bytes | None
    time: int
    message: str
    tree: bytes
    root: bytes
    prefix: bytes
    files: int
    deleted: bool = False
    collected: bool = False


def snapshots_of(store: Store, session: bytes, *, deleted: bool = False) -> list[SnapshotRecord]:
    """Return the snapshots of a session, oldest first; without `deleted` only those that are there."""
    condition = "" if deleted else "AND NOT snapshot.deleted"
    return _records(store, f"WHERE session.key = ? {condition} ORDER BY snapshot.id", session)


def snapshot(store: Store, number: int) -> SnapshotRecord | None:
    """Return a snapshot by its number, also a deleted one."""
    found = _records(store, "WHERE snapshot.id = ?", number)
    return found[0] if found else None


def all_snapshots(store: Store) -> list[SnapshotRecord]:
    """Return the snapshots of all sessions, deleted ones too, oldest first."""
    return _records(store, "ORDER BY snapshot.id")


def add_snapshot(store: Store, record: SnapshotRecord) -> SnapshotRecord:
    """Add a snapshot, and return it with its number; that of `record` counts for nothing. A number is never given
    twice. Takes part in the caller's transaction."""
    cursor = store.database.connection.execute(
        "INSERT INTO snapshot (session, oid, time, message, tree, root, prefix, files, deleted) "
        "VALUES ((SELECT id FROM session WHERE key = ?), ?, ?, ?, ?, ?, ?, ?, 0)",
        (
            record.session, record.oid, record.time, record.message, record.tree, record.root, record.prefix,
            record.files,
        ),
    )  # fmt: skip
    assert cursor.lastrowid is not None
    return record._replace(id=cursor.lastrowid, deleted=False)


def set_snapshot_deleted(store: Store, number: int, deleted: bool) -> None:
    """Say whether a snapshot was removed. Takes part in the caller's transaction."""
    store.database.connection.execute("UPDATE snapshot SET deleted = ? WHERE id = ?", (int(deleted), number))


def set_snapshot_collected(store: Store, number: int) -> None:
    """Say that the files of a deleted snapshot are gone. The row stays, so that its number is never given again. Takes
    part in the caller's transaction."""
    store.database.connection.execute("UPDATE snapshot SET deleted = 2 WHERE id = ?", (number,))


def snapshot_repository(store_path: Path) -> Path:
    """Return where the git repository of a store's snapshots is: beside it, and its own."""
    if store_path.name == FILE_NAME:
        return store_path.with_name(REPOSITORY_NAME)
    return store_path.with_name(f"{store_path.stem}.{REPOSITORY_NAME}")


@contextmanager
def locked(repository: Path, wait: float = WAIT) -> Iterator[None]:
    """Keep other processes from writing to a repository of snapshots, or copying it, while the block runs.

    Raises `SnapshotsBusy`, OSError.
    """
    lock = os.open(repository / "pivcs.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(lock, repository, wait)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int, repository: Path, wait: float) -> None:
    until = time.monotonic() + wait
    while fcntl is not None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                message = f"another pivcs is using the snapshots in '{repository}'"
                raise SnapshotsBusy(message, hint="try again when it is done") from None
            time.sleep(_STEP)
        except OSError:  # a file system without locks
            return


def copy_snapshots(source: Path, target: Path) -> bool:
    """Copy the repository of the store at a path to where that of another store belongs; returns whether there is one.

    Copied after the store, it has all that the copy refers to. Nothing is left of a copy that fails. Raises
    `SnapshotsBusy`, OSError.
    """
    old, new = snapshot_repository(source), snapshot_repository(target)
    if not old.is_dir():
        return False
    temporary = shutil.ignore_patterns("tmp_*", "*.lock")
    with locked(old):
        new.mkdir(mode=0o700)
        try:
            shutil.copytree(old, new, symlinks=True, copy_function=_copy, ignore=temporary, dirs_exist_ok=True)
        except BaseException as error:
            shutil.rmtree(new, ignore_errors=True)
            if isinstance(error, shutil.Error):  # a list of all that failed
                raise OSError(error.args[0][0][2]) from error
            raise
    return True


def remove_snapshots(store_path: Path) -> None:
    """Remove the repository of a store's snapshots. Raises OSError."""
    place = snapshot_repository(store_path)
    if place.is_dir():
        shutil.rmtree(place)


def _copy(source: str, target: str) -> str:
    """Copy a file, on the disk when it is done."""
    shutil.copy2(source, target)
    descriptor = os.open(target, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return target


def _records(store: Store, condition: str, *values: object) -> list[SnapshotRecord]:
    with store.database.reading() as connection:
        rows: list[tuple[Any, ...]] = connection.execute(f"SELECT {_COLUMNS} {condition}", values).fetchall()
    return [SnapshotRecord(*row)._replace(deleted=bool(row[-1]), collected=row[-1] == 2) for row in rows]
