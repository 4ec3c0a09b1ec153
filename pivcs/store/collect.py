"""Giving back space: chunks that no stream has, better compression, free pages. Bytes of streams are never lost by it.

Each step is a transaction of its own, short enough that others who write meanwhile need not be told that the store is
busy. Whatever is stopped in the middle leaves a good store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from pivcs.objects.hashing import chunk_id
from pivcs.store.database import Database
from pivcs.store.errors import StoreDamaged
from pivcs.store.lease import no_leases
from pivcs.store.pieces import is_well_packed, pack_well, unpack, unpack_checked

BATCH: Final = 8 << 20
"""Raw bytes that are compressed again in one transaction."""
PAGES: Final = 256
"""Pages given back in one transaction."""
_FRAME_START: Final = 8

Progress = Callable[[int], None]
"""Told how many raw bytes have been looked at since the last call."""


@dataclass(frozen=True, slots=True)
class Unused:
    """Rows that nothing refers to: chunks with the bytes that they take, and sessions."""

    chunks: int
    chunk_bytes: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Repacked:
    """What compressing again did: how many chunks and tails, their stored bytes before and after, and how many were
    left as they are because they cannot be read."""

    count: int = 0
    before: int = 0
    after: int = 0
    damaged: int = 0

    def __add__(self, other: Repacked) -> Repacked:
        return Repacked(
            self.count + other.count,
            self.before + other.before,
            self.after + other.after,
            self.damaged + other.damaged,
        )


def find_unused(database: Database) -> Unused:
    """Return what `remove_unused` would remove."""
    with database.reading() as connection:
        chunks, size = connection.execute(
            f"SELECT count(*), coalesce(sum(length(data)), 0) FROM chunk WHERE {_unreferenced(connection, 'chunk')}"
        ).fetchone()
        (sessions,) = connection.execute(
            f"SELECT count(*) FROM session WHERE {_unreferenced(connection, 'session')}"
        ).fetchone()
    return Unused(chunks, size, sessions)


def remove_unused(database: Database) -> Unused | None:
    """Remove the rows that nothing refers to. Returns None, and does nothing, while a sync is under way that has stored
    chunks which no stream has yet. Raises `StoreBusy`."""
    with no_leases(database.path) as alone:
        if not alone:
            return None
        with database.writing() as connection:
            found = find_unused(database)
            if found.chunks:
                connection.execute(f"DELETE FROM chunk WHERE {_unreferenced(connection, 'chunk')}")
            if found.sessions:
                connection.execute(f"DELETE FROM session WHERE {_unreferenced(connection, 'session')}")
    return found


def _unreferenced(connection: sqlite3.Connection, table: str) -> str:
    """Return the condition that no row of any table refers to a row of `table`.

    The references are those that the file's own schema declares, so that what a later version adds counts as well.
    """
    conditions = []
    for (other,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        quoted = other.replace('"', '""')
        for row in connection.execute(f'PRAGMA foreign_key_list("{quoted}")').fetchall():
            if row[2] == table:
                column = row[3].replace('"', '""')
                conditions.append(f'NOT EXISTS (SELECT 1 FROM "{quoted}" WHERE "{quoted}"."{column}" = {table}.id)')
    return " AND ".join(conditions)


def loosely_packed(database: Database) -> list[tuple[str, int, int]]:
    """Return table (`chunk` or `tail`), row and raw size of everything that was compressed in haste."""
    found = []
    with database.reading() as connection:
        for table in ("chunk", "tail"):
            for ident, codec, size in connection.execute(f"SELECT id, codec, size FROM {table} ORDER BY id").fetchall():
                if not (isinstance(size, int) and isinstance(codec, int)):
                    raise StoreDamaged(database.where, f"row {ident} of table {table} has no size or codec")
                if not is_well_packed(codec, size, b"") and not is_well_packed(
                    codec, size, _beginning(connection, table, ident)
                ):
                    found.append((table, ident, size))
    return found


def _beginning(connection: sqlite3.Connection, table: str, ident: int) -> bytes:
    """Return the first bytes of a row's data without reading all of it; none when it is no blob."""
    try:
        with connection.blobopen(table, "data", ident, readonly=True) as blob:
            return blob.read(_FRAME_START)
    except sqlite3.Error:
        return b""


def repack(database: Database, items: Sequence[tuple[str, int, int]], progress: Progress) -> Repacked:
    """Compress what `loosely_packed` found as well as can be. Raises `StoreBusy`."""
    done = Repacked()
    batch: list[tuple[str, int, int]] = []
    for item in items:
        batch.append(item)
        if sum(size for _, _, size in batch) >= BATCH:
            done += _repack(database, batch, progress)
            batch = []
    return done + _repack(database, batch, progress)


def _repack(database: Database, batch: Sequence[tuple[str, int, int]], progress: Progress) -> Repacked:
    done = Repacked()
    ready: list[tuple[str, int, bytes, int, bytes]] = []
    for table, ident, raw_size in batch:
        with database.reading() as connection:
            check = "hash" if table == "chunk" else "crc"
            row = connection.execute(
                f"SELECT {check}, size, codec, data FROM {table} WHERE id = ?", (ident,)
            ).fetchone()
        progress(raw_size)
        if row is None:
            continue
        wanted, size, codec, data = row
        try:
            raw = unpack(codec, data, size)
        except (ValueError, TypeError):
            raw = None
        # What is damaged stays as it is: it may yet be mended, and must not look as if it had been checked.
        if raw is None or wanted != (chunk_id(raw).digest if table == "chunk" else crc32(raw)):
            done += Repacked(damaged=1)
            continue
        new_codec, packed = pack_well(raw)
        ready.append((table, ident, data, new_codec, packed))
    if ready:
        with database.writing() as connection:
            for table, ident, old, codec, new in ready:
                # The number may have been given to another row meanwhile: the old bytes tell.
                changed = connection.execute(
                    f"UPDATE {table} SET codec = ?, data = ? WHERE id = ? AND data = ?", (codec, new, ident, old)
                ).rowcount
                done += Repacked(changed, len(old) * changed, len(new) * changed)
    return done


def split_tails(database: Database) -> list[int]:
    """Return the streams whose tail is in several pieces."""
    with database.reading() as connection:
        rows = connection.execute("SELECT stream FROM tail GROUP BY stream HAVING count(*) > 1 ORDER BY stream")
        return [stream for (stream,) in rows]


def merge_tails(database: Database, streams: Sequence[int]) -> int:
    """Put the pieces of tails together; returns for how many streams. Raises `StoreBusy`.

    Pieces that do not follow each other or cannot be read are left as they are.
    """
    merged = 0
    for stream in streams:
        with database.writing() as connection:
            rows = connection.execute(
                "SELECT offset, size, codec, crc, data FROM tail WHERE stream = ? ORDER BY offset", (stream,)
            ).fetchall()
            data = _joined(rows)
            if data is None:
                continue
            codec, packed = pack_well(data)
            connection.execute("DELETE FROM tail WHERE stream = ?", (stream,))
            connection.execute(
                "INSERT INTO tail (stream, offset, size, codec, crc, data) VALUES (?, ?, ?, ?, ?, ?)",
                (stream, rows[0][0], len(data), codec, crc32(data), packed),
            )
            merged += 1
    return merged


def _joined(rows: Sequence[tuple[int, int, int, int, bytes]]) -> bytes | None:
    if len(rows) < 2:
        return None
    parts, at = [], rows[0][0]
    for offset, size, codec, crc, data in rows:
        if offset != at:
            return None
        try:
            parts.append(unpack_checked(codec, data, size, crc))
        except (ValueError, TypeError):
            return None
        at += size
    return b"".join(parts)


def free_bytes(database: Database) -> int:
    """Return the size of the pages in the file that hold nothing."""
    with database.reading() as connection:
        (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(size)


def return_space(database: Database) -> None:
    """Give free pages back to the file system, and shorten the log. Raises `StoreBusy`."""
    with database.reading() as connection:
        (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
        if mode == 2:
            for _ in _steps(database):
                with database.writing():
                    connection.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
        elif free_bytes(database):
            # A file that was made without the map of pages that small steps need.
            connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _steps(database: Database) -> Iterator[None]:
    """Yield as long as there are free pages and they become fewer; others may use some and free some meanwhile."""
    left = free_bytes(database)
    while left:
        yield
        before, left = left, free_bytes(database)
        if left >= before:
            return
