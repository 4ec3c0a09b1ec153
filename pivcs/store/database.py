"""The SQLite file: opening it safely, transactions, and SQLite's errors as ours.

Write-ahead logging lets readers go on while one process writes. Where that cannot be (some network drives, a directory
that cannot be written), the file is used with a rollback journal, or read-only as it is.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pivcs.store import schema
from pivcs.store.errors import (
    NewerStore,
    NoStore,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreMoved,
    StoreReadOnly,
    UnreadableStore,
)

WAIT: Final = 5.0
"""Seconds that a writer waits for another one."""

_OF_DAMAGE: Final = re.compile(
    "no such (table|column|index)|Could not decode to UTF-8|table .* has (no column|[0-9]+ columns)"
    "|foreign key mismatch|malformed"
)
"""How errors begin that have no code of their own and that only a damaged store can cause."""


class Database:
    """A connection to one store. `path` is None for a store in memory, which is gone when it is closed."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, *, read_only: bool) -> None:
        self.connection = connection
        self.path = path
        self.read_only = read_only

    @property
    def where(self) -> str:
        """What to call the store in messages."""
        return str(self.path) if self.path is not None else ":memory:"

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self.connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for statements that read, with errors translated."""
        try:
            yield self.connection
        except sqlite3.Error as error:
            raise translated(error, self.where) from error
        except UnicodeDecodeError as error:  # in a name of the schema that SQLite's message quotes
            raise StoreDamaged(self.where, "a text is not UTF-8") from error

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Give one unchanging state of the store for several statements that read; may stand inside a transaction."""
        with self.reading() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _roll_back(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a transaction that is committed at the end, or rolled back when anything is raised.

        Raises `StoreBusy` when another process is still writing after `WAIT` seconds, `StoreReadOnly`, `StoreFull`.
        """
        if self.read_only:
            raise StoreReadOnly(self.where, "it was opened for reading only")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise translated(error, self.where) from error
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException as error:
            _roll_back(self.connection)
            if isinstance(error, sqlite3.Error):
                raise translated(error, self.where) from error
            raise


def open_database(path: Path, *, create: bool, read_only: bool = False, wait: float = WAIT) -> Database:
    """Open a store's file; with `create` make it, readable by its owner only, if it is not there.

    Raises `NoStore`, `NewerStore`, `StoreDamaged`, `StoreReadOnly`, `StoreBusy`.
    """
    exists = path.exists() and path.stat().st_size > 0
    if not exists and (read_only or not create):
        raise NoStore(path)
    if not exists:
        _make_private(path)
    elif not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        read_only = True
    elif not read_only and _has_log(path):
        try:
            _refuse_newer(path, wait)
        except StoreDamaged as error:
            raise UnreadableStore(error) from error
    connection = _connect(path, read_only=read_only, wait=wait)
    try:
        _set_up(connection, str(path), new=not exists, read_only=read_only, wait=wait)
        if not exists or _is_empty(connection):
            _create_tables(connection)
        _check_format(connection, str(path))
    except BaseException as error:
        connection.close()
        shown = translated(error, str(path)) if isinstance(error, sqlite3.Error) else error
        if isinstance(error, UnicodeDecodeError):
            shown = StoreDamaged(str(path), "a text is not UTF-8")
        if isinstance(shown, StoreDamaged):  # nothing can look into it, `fsck` neither
            raise UnreadableStore(shown) from error
        if shown is not error:
            raise shown from error
        raise
    return Database(connection, path, read_only=read_only)


def memory_database() -> Database:
    """Return a new store in memory, with the same tables and rules as one on disk."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _create_tables(connection)
    return Database(connection, None, read_only=False)


def translated(error: sqlite3.Error, where: str) -> Exception:
    """Return the error that a person should see for one of SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(where)
    if primary == sqlite3.SQLITE_FULL:
        return StoreFull(where)
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreReadOnly(where, str(error))
    if primary == sqlite3.SQLITE_IOERR:
        # SQLite tells a full disk from a failing one, but not a quota or a limit of file sizes.
        return StoreReadOnly(where, f"{error} (a quota may be reached, or the disk fails)")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT) or _tells_damage(error):
        return StoreDamaged(where, str(error))
    return error


def _tells_damage(error: sqlite3.Error) -> bool:
    return isinstance(error, sqlite3.OperationalError) and _OF_DAMAGE.match(str(error)) is not None


def _roll_back(connection: sqlite3.Connection) -> None:
    """End a transaction that failed; SQLite has done so itself after some errors, and may fail to after others, which
    closing the connection then does."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _make_private(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives its journal and log the permissions of the file itself.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)  # an empty file may have been there
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreReadOnly(str(path), (error.strerror or str(error)).lower()) from error


def _connect(path: Path, *, read_only: bool, wait: float) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={'ro' if read_only else 'rw'}"
    if read_only and not os.access(path.parent, os.W_OK) and not _has_log(path):
        address += "&immutable=1"  # no log can be made, and reading without one is refused otherwise
    try:
        return sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None)
    except sqlite3.Error as error:
        raise translated(error, str(path)) from error


def _has_log(path: Path) -> bool:
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except OSError:
        return False


def _set_up(connection: sqlite3.Connection, where: str, *, new: bool, read_only: bool, wait: float) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    if read_only:
        connection.execute("PRAGMA query_only = ON")
        return
    # A newer store must not be written at all, not even by switching its journal.
    if not new:
        _check_format(connection, where, empty_is_fine=True)
    if new:
        connection.execute(f"PRAGMA page_size = {schema.PAGE_SIZE}")
        # Lets `gc` give space back in small steps; costs a page in 1,600, and no time that can be measured.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _use_log(connection, wait)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 1000")
    connection.execute("PRAGMA foreign_keys = ON")


def _use_log(connection: sqlite3.Connection, wait: float) -> None:
    """Switch to write-ahead logging. SQLite does not wait for another process that does so at the same moment."""
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):  # another process may have been faster
            for statement in schema.TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {schema.FORMAT_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _refuse_newer(path: Path, wait: float) -> None:
    """Raise `NewerStore` or `StoreDamaged` for a file that has a log: closing it after it was opened for writing would
    write what is in the log into it."""
    connection = _connect(path, read_only=True, wait=wait)
    try:
        _check_format(connection, str(path), empty_is_fine=True)
    except (sqlite3.Error, UnicodeDecodeError):
        pass  # whoever made the log may be gone with it by now; opening the file says whether it can be used
    finally:
        connection.close()


def _check_format(connection: sqlite3.Connection, where: str, *, empty_is_fine: bool = False) -> None:
    connection.execute("BEGIN")  # another process may be making the tables
    try:
        _check_marks(connection, where, empty_is_fine=empty_is_fine)
    finally:
        _roll_back(connection)


def _check_marks(connection: sqlite3.Connection, where: str, *, empty_is_fine: bool) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if empty_is_fine and not application and not version and _is_empty(connection):
        return
    if application != schema.APPLICATION_ID:
        raise StoreDamaged(where, "it is no pivcs store")
    if version < 1:
        raise StoreDamaged(where, f"it has the format version {version}")
    if version > schema.FORMAT_VERSION:
        raise NewerStore(where, f"format version {version}", f"versions up to {schema.FORMAT_VERSION}")
    features = {str(name) for (name,) in connection.execute("SELECT name FROM feature")}
    if unknown := sorted(features - schema.FEATURES):
        if unknown[0].startswith(schema.MOVED):
            raise StoreMoved(where, unknown[0].removeprefix(schema.MOVED))
        raise NewerStore(where, f"the feature '{unknown[0]}'", "none of that name")
