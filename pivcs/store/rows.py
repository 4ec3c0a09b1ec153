"""Rows of streams: segments written so that one more line rewrites little, and ids found without reading them all."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable
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
_SHIFT: Final = 24


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
    for start, count, data in connection.execute(
        "SELECT first_row, row_count, data FROM segment WHERE stream = ? AND first_row >= ? AND first_row < ? "
        "ORDER BY first_row",
        (stream, first, stop),
    ):
        if start != at:
            break
        try:
            append_segment(table, data, count)
        except ValueError as error:
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
    table = _load(connection, where, stream, base, first)
    table.extend(new)
    connection.execute("DELETE FROM segment WHERE stream = ? AND first_row >= ?", (stream, base))
    at = base
    while at < total:
        count = FULL if at % FULL == 0 and total - at >= FULL else min(OPEN, total - at)
        data = encode_segment(table, at - base, at - base + count)
        connection.execute(
            "INSERT INTO segment (stream, first_row, row_count, data) VALUES (?, ?, ?, ?)", (stream, at, count, data)
        )
        at += count
    full = total - total % FULL
    if full > base:
        _remember_ids(connection, stream, id_numbers(table, full - base))


def id_numbers(table: Table, stop: int) -> Iterable[int]:
    """Return the ids of the first `stop` rows as numbers (see `id_number`), in no order."""
    flags = table.flags
    wanted = NODE | POSITIONAL | OTHER_ID
    numbers = [number for number, flag in zip(table.entry_id[:stop], flags, strict=False) if flag & wanted == NODE]
    numbers += [id_number(text) for row, text in table.other_ids.items() if row < stop]
    return numbers


def id_number(entry_id: str) -> int:
    """Return an id as a number: its value when it is eight hexadecimal digits, else a CRC (two ids may share it)."""
    if len(entry_id) == 8 and not entry_id.strip("0123456789abcdef"):
        return int(entry_id, 16)
    return crc32(entry_id.encode("utf-8", "surrogatepass"))


def _remember_ids(connection: sqlite3.Connection, stream: int, numbers: Iterable[int]) -> None:
    ordered = array("I", sorted(numbers))
    start = 0
    while start < len(ordered):
        bucket = ordered[start] >> _SHIFT
        stop = bisect_left(ordered, (bucket + 1) << _SHIFT, start)
        ids = ordered[start:stop]
        known = known_ids(connection, stream, bucket)
        if known:
            ids = array("I", sorted((*known, *ids)))
        connection.execute("INSERT OR REPLACE INTO known_id VALUES (?, ?, ?)", (stream, bucket, _little(ids).tobytes()))
        start = stop


def known_ids(connection: sqlite3.Connection, stream: int, bucket: int) -> array[int]:
    """Return the ids with this highest byte that the full segments of a stream have, as sorted numbers."""
    row = connection.execute("SELECT ids FROM known_id WHERE stream = ? AND bucket = ?", (stream, bucket)).fetchone()
    ids = array("I")
    if row is not None:
        ids.frombytes(row[0])
    return _little(ids)


def _little(ids: array[int]) -> array[int]:
    """Swap between the machine's order and little-endian."""
    import sys

    if sys.byteorder == "big":
        ids = ids[:]
        ids.byteswap()
    return ids


class IdFinder:
    """Finds the records of a stream that have an id: what an `Indexer` asks when it goes on with the stream."""

    def __init__(self, database: Database, stream: Stream) -> None:
        self._database = database
        self._stream = stream
        self._full_rows = stream.row_count - stream.row_count % FULL
        self._open: Table | None = None
        self._full: Table | None = None
        self._buckets: dict[int, array[int]] = {}

    def __call__(self, entry_id: str) -> list[tuple[int, bytes]]:
        """Return row and digest of each record with this id, in file order."""
        if self._open is None:
            self._open = load_table(self._database, self._stream, first=self._full_rows)
        found: list[tuple[int, bytes]] = []
        if self._full_rows and self._may_be_in_full(entry_id):
            if self._full is None:
                self._full = load_table(self._database, self._stream, last=self._full_rows)
            found += [(row, self._full.digest(row)) for row in self._full.records_named(entry_id)]
        found += [(self._full_rows + row, self._open.digest(row)) for row in self._open.records_named(entry_id)]
        return found

    def _may_be_in_full(self, entry_id: str) -> bool:
        number = id_number(entry_id)
        bucket = number >> _SHIFT
        known = self._buckets.get(bucket)
        if known is None:
            with self._database.reading() as connection:
                known = self._buckets[bucket] = known_ids(connection, self._stream.id, bucket)
        place = bisect_left(known, number)
        return place < len(known) and known[place] == number
