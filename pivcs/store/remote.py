"""What a store is called where several meet, and the names that other stores have for its sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from pivcs.store.database import Database

NAMES_FORMAT: Final = "pivcs names 1"
ID_SIZE: Final = 16


class StoreNames(NamedTuple):
    """The names that one store has for a session: pairs of a name and an object id. `time` is in milliseconds."""

    time: int
    branches: tuple[tuple[str, bytes], ...]
    tags: tuple[tuple[str, bytes], ...]


class RemoteNames(NamedTuple):
    """The names of another store, as it wrote them: its id and the text of its `names.json`."""

    store: bytes
    data: bytes


class RemoteStore:
    """The tables about other stores. Methods that write take part in the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def id(self) -> bytes | None:
        """Return this store's id; None when it has not needed one yet."""
        rows = self._all("SELECT id FROM identity ORDER BY rowid LIMIT 1")
        return bytes(rows[0][0]) if rows else None

    def give_id(self, ident: bytes) -> bytes:
        """Give the store an id of 16 random bytes unless it has one; returns the one that it has."""
        if len(ident) != ID_SIZE:
            raise ValueError("the id of a store has 16 bytes")
        self._database.connection.execute("INSERT INTO identity SELECT ? WHERE NOT EXISTS (SELECT 1 FROM identity)",
                                          (ident,))  # fmt: skip
        return self.id() or ident

    def latest_change(self, session: bytes) -> int:
        """Return the time of the latest operation of a person on names of a session; 0 when there was none."""
        ((time,),) = self._all(
            "SELECT coalesce(max(operation.time), 0) FROM ref_change "
            "JOIN operation ON operation.id = ref_change.operation JOIN session ON session.id = ref_change.session "
            "WHERE session.key = ? AND ref_change.ref IN ('branch', 'tag') AND operation.kind <> 'sync'",
            session,
        )
        return int(time)

    def names(self, session: bytes) -> list[RemoteNames]:
        """Return what other stores call things of a session, by store."""
        rows = self._all(
            "SELECT remote_names.store, remote_names.data FROM remote_names "
            "JOIN session ON session.id = remote_names.session WHERE session.key = ? ORDER BY remote_names.store",
            session,
        )
        return [RemoteNames(*row) for row in rows]

    def put_names(self, session: bytes, names: RemoteNames) -> None:
        """Remember the names of another store for a known session in place of what they were."""
        self._database.connection.execute(
            "INSERT OR REPLACE INTO remote_names (session, store, data) SELECT id, ?, ? FROM session WHERE key = ?",
            (names.store, names.data, session),
        )

    def taken(self, repository: bytes) -> set[tuple[bytes, bytes]]:
        """Return what was taken from the repository with a common directory (a real path): ids of commits, each with
        the key of the session."""
        rows = self._all("SELECT ident, session FROM taken WHERE repository = ?", repository)
        return {(bytes(ident), bytes(session)) for ident, session in rows}

    def put_taken(self, repository: bytes, commits: Iterable[tuple[bytes, bytes]]) -> None:
        """Remember commits that were taken from a repository: pairs of an id and the key of the session."""
        self._database.connection.executemany(
            "INSERT OR REPLACE INTO taken (repository, ident, session) VALUES (?, ?, ?)",
            [(repository, ident, session) for ident, session in commits],
        )

    def came_through(self, repository: bytes) -> set[bytes]:
        """Return the keys of the sessions that were taken from a repository."""
        rows = self._all("SELECT DISTINCT session FROM taken WHERE repository = ?", repository)
        return {bytes(row[0]) for row in rows}

    def _all(self, statement: str, *values: object) -> list[Any]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()


def decode_names(data: bytes, session: bytes, store: bytes) -> StoreNames | None:
    """Return the names in the text of a `names.json`; None when it is not one of this session and store."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("format") != NAMES_FORMAT:
        return None
    if value.get("session") != session.hex() or value.get("store") != store.hex():
        return None
    branches, tags = _pairs(value.get("branches")), _pairs(value.get("tags"))
    time = value.get("time")
    if branches is None or tags is None or type(time) is not int:
        return None
    return StoreNames(time, branches, tags)


def _pairs(value: object) -> tuple[tuple[str, bytes], ...] | None:
    if not isinstance(value, list):
        return None
    found = []
    for each in value:
        name, node = (each.get("name"), each.get("node")) if isinstance(each, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(node, str):
            return None
        try:
            oid = bytes.fromhex(node)
        except ValueError:
            return None
        if len(oid) != 32:
            return None
        found.append((name, oid))
    return tuple(found)
