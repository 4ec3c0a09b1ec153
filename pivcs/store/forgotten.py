"""What the store must not keep again, and removing for good what it had: rows, pages that hold nothing, and the log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pivcs.objects.hashing import content_digest
from pivcs.store.collect import remove_unused
from pivcs.store.database import Database, translated
from pivcs.store.errors import StoreBusy


class ForgottenRecord(NamedTuple):
    """A record that must not be kept. `time` is milliseconds since 1970, `entry_id` its id in UTF-8 (lone surrogates as
    three bytes), `content` the digest of what it says; each is None where it has none."""

    oid: bytes
    time: int | None
    entry_id: bytes | None
    content: bytes | None


class ForgottenStore:
    """Forgotten records and sessions. Methods that write take part in the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def records(self) -> list[ForgottenRecord]:
        """Return all forgotten records."""
        return [
            ForgottenRecord(*row)
            for row in self._all("SELECT oid, time, entry_id, content FROM forgotten ORDER BY oid")
        ]

    def sessions(self) -> list[bytes]:
        """Return the keys of all forgotten sessions."""
        return [key for (key,) in self._all("SELECT key FROM forgotten_session ORDER BY key")]

    def is_empty(self) -> bool:
        """Whether nothing was ever forgotten here."""
        ((found,),) = self._all("SELECT EXISTS (SELECT 1 FROM forgotten) OR EXISTS (SELECT 1 FROM forgotten_session)")
        return not found

    def add(self, records: Iterable[ForgottenRecord]) -> None:
        """Let records be kept no more."""
        self._database.connection.executemany("INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?, ?)", records)

    def remove(self, oids: Iterable[bytes]) -> None:
        """Let records be kept again."""
        self._database.connection.executemany("DELETE FROM forgotten WHERE oid = ?", ((oid,) for oid in oids))

    def add_session(self, key: bytes) -> None:
        """Let a session be kept no more."""
        self._database.connection.execute("INSERT OR IGNORE INTO forgotten_session VALUES (?)", (key,))

    def remove_session(self, key: bytes) -> None:
        """Let a session be kept again."""
        self._database.connection.execute("DELETE FROM forgotten_session WHERE key = ?", (key,))

    def streams(self) -> set[tuple[bytes, bytes]]:
        """Return streams that hold something forgotten: the session's key and the first 8 bytes of the digest."""
        return {(key, digest) for key, digest in self._all("SELECT session, digest FROM forgotten_stream")}

    def add_streams(self, streams: Iterable[tuple[bytes, bytes]]) -> None:
        """Remember that streams hold something forgotten."""
        self._database.connection.executemany("INSERT OR IGNORE INTO forgotten_stream VALUES (?, ?)", streams)

    def clear_streams(self) -> None:
        """Know no such stream any more; they are found again by reading them."""
        for table in ("forgotten_stream", "forgotten_ref"):
            self._database.connection.execute(f"DELETE FROM {table}")

    def refs(self, repository: bytes) -> list[tuple[str, str]]:
        """Return what remotes had when a repository (the real path of its common directory) asked them last: pairs of
        what a remote is called and a ref with something forgotten."""
        return self._all(
            "SELECT remote, name FROM forgotten_ref WHERE repository = ? ORDER BY remote, name", repository
        )

    def add_refs(self, repository: bytes, remote: str, names: Iterable[str]) -> None:
        """Remember that a remote has refs with something forgotten."""
        self._database.connection.executemany(
            "INSERT OR IGNORE INTO forgotten_ref VALUES (?, ?, ?)", [(repository, remote, name) for name in names]
        )

    def put_refs(self, repository: bytes, remote: str, names: Iterable[str]) -> None:
        """Remember which refs with something forgotten a remote has, in place of what was known of it."""
        self._database.connection.execute(
            "DELETE FROM forgotten_ref WHERE repository = ? AND remote = ?", (repository, remote)
        )
        self.add_refs(repository, remote, names)

    def state(self) -> bytes:
        """Return a digest of which records are forgotten."""
        return content_digest(b"".join(record.oid for record in self.records()))

    def looked(self, state: bytes) -> set[bytes]:
        """Return commits of streams that hold nothing forgotten, as far as they were looked through since a state."""
        return {commit for (commit,) in self._all("SELECT commit_id FROM forgotten_looked WHERE state = ?", state)}

    def add_looked(self, state: bytes, commits: Iterable[bytes]) -> None:
        """Remember that streams hold nothing that is forgotten in a state; what was known in others goes."""
        connection = self._database.connection
        connection.execute("DELETE FROM forgotten_looked WHERE state <> ?", (state,))
        connection.executemany(
            "INSERT OR REPLACE INTO forgotten_looked VALUES (?, ?)", ((commit, state) for commit in commits)
        )

    def begin_erasure(self, now: int) -> None:
        """Note that bytes are removed in this transaction which `erase` has to remove from the file itself."""
        connection = self._database.connection
        if not self.needs_erasure():
            connection.execute("INSERT INTO erasure VALUES (?)", (now,))

    def needs_erasure(self) -> bool:
        """Whether forgotten bytes may still stand in parts of the file that hold nothing."""
        ((found,),) = self._all("SELECT EXISTS (SELECT 1 FROM erasure)")
        return bool(found)

    def _all(self, statement: str, *values: object) -> list[Any]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()


def erase(database: Database) -> None:
    """Remove what nothing refers to, and write the whole file anew, so that no page and no log holds what was removed.

    It takes as long as copying the store, and needs as much space. Raises `StoreBusy` when another process uses the
    store meanwhile; what is left to do is then noted, and `erase` is to be called again.
    """
    if remove_unused(database) is None:
        raise StoreBusy(database.where)
    with database.reading() as connection:
        connection.execute("VACUUM")
    with database.writing() as connection:
        connection.execute("DELETE FROM erasure")
    if not _log_is_empty(database):
        with database.writing() as connection:
            connection.execute("INSERT INTO erasure SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM erasure)")
        raise StoreBusy(database.where)


def _log_is_empty(database: Database) -> bool:
    """Write the log into the file and cut it off; says whether nobody who reads from it kept that from being done."""
    import sqlite3

    try:
        busy, _, _ = database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        shown = translated(error, database.where)
        if isinstance(shown, StoreBusy):
            return False
        raise shown from error
    return not busy
