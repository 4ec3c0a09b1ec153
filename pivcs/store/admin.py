"""Facts about the store as a whole, and copies of it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pivcs.errors import InputError, StateError
from pivcs.store import schema
from pivcs.store.database import Database, translated
from pivcs.store.errors import StoreBusy, StoreDamaged
from pivcs.store.lease import lease_file
from pivcs.store.snapshots import copy_snapshots, remove_snapshots, snapshot_repository

_COMPANIONS: Final = ("-wal", "-shm", "-journal")


class TargetExists(InputError):
    """There is something already where a copy is to be put."""


class CannotCopy(StateError):
    """A copy cannot be written, or is not what it should be."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a store is and holds. Sizes are bytes: `file_size` and `log_size` on disk, `stored` of the compressed chunks
    and tails, `unique` of their raw bytes, `raw` of all streams. `free` bytes of the file hold nothing."""

    path: Path | None
    format_version: int
    features: tuple[str, ...]
    journal: str
    read_only: bool
    file_size: int
    log_size: int
    free: int
    raw: int
    unique: int
    stored: int
    chunks: int
    sources: int
    gone: int
    streams: int
    sessions: int
    rows: int
    events: int


def facts_of(database: Database) -> Facts:
    """Return what a store is and holds, all of the same moment."""
    with database.snapshot() as connection:

        def numbers(statement: str) -> tuple[int, ...]:
            return tuple(connection.execute(statement).fetchone())

        chunks, chunk_raw, chunk_stored = numbers(
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM chunk"
        )
        tail_raw, tail_stored = numbers(
            "SELECT coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM tail"
        )
        streams, raw, rows = numbers(
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(row_count), 0) FROM stream"
        )
        sources, gone = numbers("SELECT count(*), coalesce(sum(gone), 0) FROM source")
        (pages,), (page_size,) = numbers("PRAGMA page_count"), numbers("PRAGMA page_size")
        path = database.path
        return Facts(
            path=path,
            format_version=numbers("PRAGMA user_version")[0],
            features=tuple(name for (name,) in connection.execute("SELECT name FROM feature ORDER BY name")),
            journal=connection.execute("PRAGMA journal_mode").fetchone()[0],
            read_only=database.read_only,
            file_size=path.stat().st_size if path is not None else pages * page_size,
            log_size=_size_of(f"{path}-wal"),
            free=numbers("PRAGMA freelist_count")[0] * page_size,
            raw=raw,
            unique=chunk_raw + tail_raw,
            stored=chunk_stored + tail_stored,
            chunks=chunks,
            sources=sources,
            gone=gone,
            streams=streams,
            sessions=numbers("SELECT count(*) FROM session")[0],
            rows=rows,
            events=numbers("SELECT count(*) FROM event")[0],
        )


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def back_up(database: Database, target: Path) -> None:
    """Copy one moment of a store to a file that does not exist yet, readable by its owner only, with its snapshots.

    Others may go on writing; the file appears when it is complete and on the disk. It is a store itself. Raises
    `TargetExists`, `CannotCopy`, `StoreBusy`, `StoreDamaged`.
    """
    snapshots = snapshot_repository(target)
    for place in (target, snapshots):
        if os.path.lexists(place):
            raise TargetExists(f"'{place}' exists already", hint="name a file that does not")
    temporary: Path | None = None
    copied = False
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        os.close(descriptor)
        temporary = Path(name)
        _copy(database, temporary)
        _check_copy(database, temporary)
        _sync(temporary)
        if database.path is not None:  # after the copy: what it refers to is there by now
            copied = copy_snapshots(database.path, target)
        _put(temporary, target)
        copied = False
        _sync(target.parent)
    except OSError as error:
        raise CannotCopy(f"cannot write '{target}': {(error.strerror or str(error)).lower()}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if copied:
            shutil.rmtree(snapshots, ignore_errors=True)


def _copy(database: Database, target: Path) -> None:
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        copy.execute("PRAGMA synchronous = OFF")  # synced as a whole when it is complete
        with database.reading() as connection:
            connection.backup(copy)
        # Without a log beside it the copy can be read from a place where nothing can be written.
        copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise translated(error, str(target)) from error
    finally:
        copy.close()


def _check_copy(database: Database, target: Path) -> None:
    """Raise `StoreDamaged` unless a copy is a store and its pages fit together."""
    copy = sqlite3.connect(f"{target.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        (answer,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise StoreDamaged(database.where, " ".join(answer.split()))
        (application,) = copy.execute("PRAGMA application_id").fetchone()
        if application != schema.APPLICATION_ID:
            raise StoreDamaged(database.where, "a copy of it is no store")
    except sqlite3.Error as error:
        raise translated(error, str(target)) from error
    finally:
        copy.close()


def _put(temporary: Path, target: Path) -> None:
    """Give a complete file its name, unless somebody else has taken it."""
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise TargetExists(f"'{target}' exists already", hint="name a file that does not") from error
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise TargetExists(f"'{target}' exists already", hint="name a file that does not") from None
        os.rename(temporary, target)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move(database: Database, target: Path) -> None:
    """Move a store to another file, and close it. Nobody else may have it open meanwhile.

    The old one goes only when the new one is complete, checked and on the disk. Who was waiting for the old one is told
    that it has moved, and never writes to it. Raises `StoreBusy`, and as `back_up`.
    """
    path = database.path
    assert path is not None
    with database.reading() as connection:
        _take_alone(connection, str(path))
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        back_up(database, target)
        with database.writing():
            connection.execute("INSERT INTO feature VALUES (?)", (schema.MOVED + str(target),))
            # Without a log somebody who is idle cannot be seen, and would not look at the features again.
            connection.execute("ALTER TABLE stream RENAME TO moved_stream")
    for name in (str(path), *(f"{path}{suffix}" for suffix in _COMPANIONS)):
        Path(name).unlink(missing_ok=True)
    database.close()
    lease_file(path).unlink(missing_ok=True)
    remove_snapshots(path)


def _take_alone(connection: sqlite3.Connection, where: str) -> None:
    """Keep everybody else from a store for as long as a connection lives. Raises `StoreBusy`."""
    try:
        # Only who is alone may leave write-ahead logging, and it puts all that was logged into the file.
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if mode != "delete":
            raise StoreBusy(where)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise translated(error, where) from error
