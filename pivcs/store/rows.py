"""Rows of streams: segments written so that one more line rewrites little, and ids found without reading them all."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from bisect import bisect_left
from typing import Final
from zlib import crc32

from pivcs.objects.table import NODE, OTHER_ID, POSITIONAL, Table
from pivcs.store.database import Database
from pivcs.store.errors import StoreDamaged
from pivcs.store.records import Stream
from pivcs.store.segments import append_segment, encode_segment

FULL: Final = 4096
"""Rows of a full segment."""
OPEN: Final = 128
"""Rows of a segment behind the last full one; these are put together when they make up a full one."""
_SHIFT: Final = 56


def load_table(database: Database, stream: Stream, *, first: int = 0, last: int | None = None) -> Table:
    """Return the rows of a stream from `first` on, which must be the first of a segment, up to `last` (exclusive).

    Raises `StoreDamaged`.
    """
    stop = stream.row_count if last is None else last
    with database.reading() as connection:
        table = _load(connection, database.where, stream.id, first, stop)
    table.end, table.pending = stream.line_end, stream.size - stream.line_end
    return table


def _load(connection: sqlite3.Connection, where: str, stream: int, first: int, stop: int) -> Table:
    table = Table()
    at = first
    for start, count, crc, data in connection.execute(
        "SELECT first_row, row_count, crc, data FROM segment WHERE stream = ? AND first_row >= ? AND first_row < ? "
        "ORDER BY first_row",
        (stream, first, stop),
    ):
        if start != at:
            break
        try:
            if crc32(data) != crc:
                raise ValueError(f"the checksum of the rows from {start} on is wrong")
            append_segment(table, data, count)
        except (ValueError, TypeError) as error:
            raise StoreDamaged(where, f"stream {stream}: {error}") from error
        at += count
    if at < stop:
        raise StoreDamaged(where, f"stream {stream}: rows from {at} on are missing")
    if at > stop:  # rows were added since the stream was read, and its open segments put together
        table.truncate(stop - first)
    return table


def append_rows(connection: sqlite3.Connection, where: str, stream: int, first: int, new: Table) -> None:
    """Add rows to a stream that has `first` rows, inside the caller's transaction."""
    if not len(new):
        return
    total = first + len(new)
    fills_one = total - first + first % FULL >= FULL
    base = first - first % (FULL if fills_one else OPEN)
    table = new
    if base < first:
        table = _load(connection, where, stream, base, first)
        table.extend(new)
        connection.execute("DELETE FROM segment WHERE stream = ? AND first_row >= ?", (stream, base))
    at = base
    while at < total:
        count = FULL if at % FULL == 0 and total - at >= FULL else min(OPEN, total - at)
        data = encode_segment(table, at - base, at - base + count)
        connection.execute(
            "INSERT INTO segment (stream, first_row, row_count, crc, data) VALUES (?, ?, ?, ?, ?)",
            (stream, at, count, crc32(data), data),
        )
        at += count
    full = total - total % FULL
    if full > base:
        _remember_ids(connection, stream, id_places(table, full - base, base))


def id_places(table: Table, stop: int, base: int = 0) -> list[int]:
    """Return for each id of the first `stop` rows its number (see `id_number`) in the upper 32 bits of a number, and
    its row in the lower ones, `base` being the row of the first; sorted."""
    wanted = NODE | POSITIONAL | OTHER_ID
    ids = zip(table.entry_id[:stop], table.flags, strict=False)
    places = [number << 32 | row for row, (number, flag) in enumerate(ids, base) if flag & wanted == NODE]
    places += [id_number(text) << 32 | base + row for row, text in table.other_ids.items() if row < stop]
    places.sort()
    return places


def id_number(entry_id: str) -> int:
    """Return an id as a number: its value when it is eight hexadecimal digits, else a CRC (two ids may share it)."""
    if len(entry_id) == 8 and not entry_id.strip("0123456789abcdef"):
        return int(entry_id, 16)
    return crc32(entry_id.encode("utf-8", "surrogatepass"))


def _remember_ids(connection: sqlite3.Connection, stream: int, places: list[int]) -> None:
    start = 0
    while start < len(places):
        bucket = places[start] >> _SHIFT
        stop = bisect_left(places, (bucket + 1) << _SHIFT, start)
        mine = array("Q", places[start:stop])
        known = known_ids(connection, stream, bucket)
        if known:
            mine = array("Q", sorted((*known, *mine)))
        connection.execute(
            "INSERT OR REPLACE INTO known_id VALUES (?, ?, ?)", (stream, bucket, _little(mine).tobytes())
        )
        start = stop


def known_ids(connection: sqlite3.Connection, stream: int, bucket: int) -> array[int]:
    """Return the places (`id_places`) of the ids with this highest byte in the full segments of a stream."""
    row = connection.execute("SELECT ids FROM known_id WHERE stream = ? AND bucket = ?", (stream, bucket)).fetchone()
    ids = array("Q")
    if row is not None:
        ids.frombytes(row[0])
    return _little(ids)


def _little(ids: array[int]) -> array[int]:
    """Swap between the machine's order and little-endian."""
    if sys.byteorder == "big":
        ids = ids[:]
        ids.byteswap()
    return ids


class RowFinder:
    """Rows of a stream looked at one by one: only the segments that they are in are loaded."""

    def __init__(self, database: Database, stream: Stream) -> None:
        self._database = database
        self._stream = stream
        self._loaded: dict[int, Table] = {}

    def at(self, row: int) -> tuple[Table, int]:
        """Return a table that has a row, and where in it the row is. Parents there are rows of the stream."""
        full = self._stream.row_count - self._stream.row_count % FULL
        first = min(row - row % FULL, full)
        table = self._loaded.get(first)
        if table is None:
            last = first + FULL if first < full else None
            table = self._loaded[first] = load_table(self._database, self._stream, first=first, last=last)
        return table, row - first


class IdFinder:
    """Finds the records of a stream that have an id: what an `Indexer` asks when it goes on with the stream."""

    def __init__(self, database: Database, stream: Stream) -> None:
        self._database = database
        self._stream = stream
        self._full_rows = stream.row_count - stream.row_count % FULL
        self._rows = RowFinder(database, stream)
        self._buckets: dict[int, array[int]] = {}

    def __call__(self, entry_id: str) -> list[tuple[int, bytes]]:
        """Return row and digest of each record with this id, in file order."""
        found: list[tuple[int, bytes]] = []
        for row in self._places_in_full(entry_id):
            table, at = self._rows.at(row)
            if table.name(at) == entry_id:
                found.append((row, table.digest(at)))
        if self._full_rows < self._stream.row_count:
            table, _ = self._rows.at(self._full_rows)
            found += [(self._full_rows + at, table.digest(at)) for at in table.records_named(entry_id)]
        return found

    def _places_in_full(self, entry_id: str) -> list[int]:
        """Return the rows of full segments that may have an id."""
        if not self._full_rows:
            return []
        number = id_number(entry_id)
        bucket = number >> (_SHIFT - 32)
        known = self._buckets.get(bucket)
        if known is None:
            with self._database.reading() as connection:
                known = self._buckets[bucket] = known_ids(connection, self._stream.id, bucket)
        start = bisect_left(known, number << 32)
        stop = bisect_left(known, (number + 1) << 32, start)
        rows = [place & 0xFFFFFFFF for place in known[start:stop]]
        return [row for row in rows if row < self._full_rows]  # the stream may have grown since it was read
