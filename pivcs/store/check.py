"""The store against itself: every chunk, every stream's layout, every segment, every known id. Reads only.

What the bytes and rows mean is checked above (`pivcs.ops.fsck`); here it is whether they are what was written.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from zlib import crc32

from pivcs.objects.hashing import chunk_id, whole_hash
from pivcs.objects.table import Table
from pivcs.store.database import Database
from pivcs.store.errors import StoreDamaged
from pivcs.store.kept import KeptStore
from pivcs.store.pieces import unpack, unpack_checked
from pivcs.store.records import Stream
from pivcs.store.rows import FULL, id_places, known_ids
from pivcs.store.segments import append_segment, encode_segment

MOST_PROBLEMS: Final = 100
"""Lines of SQLite's own check that are passed on."""

Progress = Callable[[int], None]
"""Told how many bytes have been checked since the last call."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the store that is not as it was written.

    `id` is a stable name. `stream` is the stream that it harms, None when it is no single one; `offset` is the first
    byte of the stream, `row` the first row, that is not to be trusted.
    """

    id: str
    detail: str
    stream: int | None = None
    offset: int | None = None
    row: int | None = None


def check_database(database: Database) -> Iterator[Problem]:
    """Yield what SQLite finds wrong with the file, and references that lead nowhere."""
    try:
        for (line,) in database.connection.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})"):
            if line != "ok":
                yield Problem("database-damaged", " ".join(line.split()))
        for table, row, parent, _ in database.connection.execute("PRAGMA foreign_key_check").fetchall():
            if (table, parent) != ("stream_chunk", "chunk"):  # named by `check_layout`, with the place in the stream
                where = "" if row is None else f" {row}"
                yield Problem("dangling-reference", f"row{where} of table {table} refers to no {parent}")
        yield from _wrong_types(database.connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield Problem("database-damaged", str(error))


def _wrong_types(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Yield the columns that have values of another type than was declared: SQLite itself does not mind."""
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        for _, column, declared, *_ in connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall():
            if declared in ("INTEGER", "BLOB", "TEXT"):
                (count,) = connection.execute(
                    f"SELECT count(*) FROM {_quoted(table)} WHERE typeof({_quoted(column)}) NOT IN (?, 'null')",
                    (declared.lower(),),
                ).fetchone()
                if count:
                    detail = f"{count} rows of table {table} have in {column} what is no {declared}"
                    yield Problem("database-damaged", detail)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_chunks(database: Database, streams: Sequence[Stream], progress: Progress) -> Iterator[Problem]:
    """Yield the chunks of streams that cannot be read or are not what their hash says, for each stream that has one."""
    wanted = {stream.id for stream in streams}
    users: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    with database.reading() as connection:
        for stream, offset, chunk in connection.execute("SELECT stream, offset, chunk FROM stream_chunk"):
            if stream in wanted:
                users[chunk].append((stream, offset))
    for chunk in sorted(users):
        try:
            row = database.connection.execute(
                "SELECT hash, size, codec, data FROM chunk WHERE id = ?", (chunk,)
            ).fetchone()
            found = None if row is None else _chunk_problem(*row)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            row, found = None, ("chunk-unreadable", str(error))
        if found is not None:
            for stream, offset in users[chunk]:
                yield Problem(found[0], f"chunk {chunk}: {found[1]}", stream, offset)
        progress(0 if row is None else row[1])


def _chunk_problem(digest: bytes, size: int, codec: int, data: bytes) -> tuple[str, str] | None:
    try:
        raw = unpack(codec, data, size)
    except (ValueError, TypeError) as error:
        return "chunk-unreadable", str(error)
    found = chunk_id(raw)
    if found.digest == digest:
        return None
    return "chunk-changed", f"its hash is {found.hex[:16]}, not {digest.hex()[:16]}"


def check_kept(database: Database, progress: Progress) -> Iterator[Problem]:
    """Yield the kept files' contents that cannot be read, or are not what their hashes say."""
    kept = KeptStore(database)
    for content in kept.contents():
        read = 0

        def pieces(content: int = content) -> Iterator[bytes]:
            nonlocal read
            for piece in kept.read(content):
                read += len(piece)
                yield piece

        try:
            if whole_hash(pieces()) != kept.digest_of(content):
                yield Problem("kept-damaged", f"kept content {content}: its bytes are not what its hash says")
        except StoreDamaged as error:
            yield Problem("kept-damaged", error.message)
        progress(read)


def unused_chunks(database: Database) -> int:
    """Return how many chunks belong to no stream and to no kept file."""
    with database.reading() as connection:
        return int(
            connection.execute(
                "SELECT count(*) FROM chunk WHERE NOT EXISTS (SELECT 1 FROM stream_chunk WHERE chunk = chunk.id) "
                "AND NOT EXISTS (SELECT 1 FROM kept_piece WHERE chunk = chunk.id)"
            ).fetchone()[0]
        )


def check_layout(database: Database, stream: Stream) -> Iterator[Problem]:
    """Yield the places where a stream's chunks and tail do not cover its bytes, each once and in order."""
    at = 0
    with database.reading() as connection:
        chunks = connection.execute(
            "SELECT stream_chunk.offset, stream_chunk.chunk, chunk.size FROM stream_chunk "
            "LEFT JOIN chunk ON chunk.id = stream_chunk.chunk WHERE stream = ? ORDER BY stream_chunk.offset",
            (stream.id,),
        ).fetchall()
        tail = connection.execute(
            "SELECT offset, size, codec, crc, data FROM tail WHERE stream = ? ORDER BY offset", (stream.id,)
        ).fetchall()
    for offset, chunk, size in chunks:
        if offset != at:
            yield Problem("bytes-missing", f"a chunk begins at byte {offset}, not at {at}", stream.id, at)
        if size is None:
            yield Problem("chunk-missing", f"chunk {chunk} is not there", stream.id, offset)
            following = next((other for other, _, _ in chunks if other > offset), stream.tail_start)
            size = following - offset
        at = offset + size
    if at != stream.tail_start:
        yield Problem("bytes-missing", f"the chunks end at byte {at}, not at {stream.tail_start}", stream.id, at)
    at = stream.tail_start
    for offset, size, codec, crc, data in tail:
        if offset != at:
            yield Problem("bytes-missing", f"a piece of the tail begins at byte {offset}, not at {at}", stream.id, at)
        try:
            unpack_checked(codec, data, size, crc)
        except (ValueError, TypeError) as error:
            yield Problem("tail-unreadable", str(error), stream.id, offset)
        at = offset + size
    if at != stream.size:
        yield Problem("bytes-missing", f"the bytes end at {at}, not at {stream.size}", stream.id, min(at, stream.size))


def check_rows(database: Database, stream: Stream, expected: Table | None) -> Iterator[Problem]:
    """Yield the segments that cannot be read, gaps between them, and rows that are not what `expected` (the rows that
    the stream's bytes give) has; without it rows are only read."""
    at = 0
    tainted: set[int] = set()
    with database.reading() as connection:
        segments = connection.execute(
            "SELECT first_row, row_count, crc, data FROM segment WHERE stream = ? ORDER BY first_row", (stream.id,)
        )
        for first, count, crc, data in segments:
            if first != at:
                yield Problem("rows-missing", f"a segment begins at row {first}, not at {at}", stream.id, row=at)
            at = first + count
            good = isinstance(data, bytes) and crc32(data) == crc
            right = expected is not None and at <= len(expected) and data == encode_segment(expected, first, at)
            if good and right:
                continue
            stored = Table()
            try:
                append_segment(stored, data, count)
            except (ValueError, TypeError, IndexError, ArithmeticError) as error:
                detail = f"segment of rows {first} to {at - 1}: {error}"
                yield Problem("segment-unreadable", detail, stream.id, row=first)
                continue
            problems = [] if expected is None else list(_row_problems(stream.id, stored, expected, first, tainted))
            yield from problems
            if not good and not problems:
                detail = f"segment of rows {first} to {at - 1}: its checksum is wrong"
                yield Problem("segment-unreadable", detail, stream.id, row=first)
    if at != stream.row_count:
        yield Problem("rows-missing", f"there are {at} rows, not {stream.row_count}", stream.id, row=at)


def _row_problems(stream: int, stored: Table, expected: Table, first: int, tainted: set[int]) -> Iterator[Problem]:
    """Yield each row of a segment that differs, with the columns that do.

    A row whose object id is another one only because its parent's is (`tainted`) is no problem of its own.
    """
    for place in range(len(stored)):
        row = first + place
        if row >= len(expected):
            yield Problem("rows-differ", f"row {row} and those behind it have no line", stream, row=row)
            return
        names = [
            name
            for name in ("kind", "flags", "code", "offset", "length", "parent", "time", "entry_id")
            if getattr(stored, name)[place] != getattr(expected, name)[row]
        ]
        if stored.digest(place) != expected.digest(row):
            tainted.add(row)
            if names or expected.parent[row] not in tainted:
                names.append("object id")
        if stored.other_ids.get(place) != expected.other_ids.get(row) and "entry_id" not in names:
            names.append("entry_id")
        if names:
            yield Problem("rows-differ", f"row {row}: {', '.join(names).replace('_', ' ')}", stream, row=row)


def check_known_ids(database: Database, stream: Stream, expected: Table) -> Iterator[Problem]:
    """Yield ids that the rows have and `known_id` has not: a line that refers to one would become an orphan."""
    full = stream.row_count - stream.row_count % FULL
    needed: defaultdict[int, set[int]] = defaultdict(set)
    for place in id_places(expected, full):
        needed[place >> 56].add(place)
    with database.reading() as connection:
        for bucket, numbers in sorted(needed.items()):
            try:
                known = known_ids(connection, stream.id, bucket)
            except (ValueError, TypeError) as error:
                yield Problem("id-unknown", f"the ids beginning with {bucket:02x}: {error}", stream.id)
                continue
            missing = sorted(numbers.difference(known))
            if missing:
                lost = missing[0] >> 32
                detail = f"{len(missing)} of the ids beginning with {bucket:02x}, among them {lost:08x}"
                yield Problem("id-unknown", detail, stream.id)
            elif any(before > after for before, after in pairwise(known)):
                yield Problem("id-unknown", f"the ids beginning with {bucket:02x} are not in order", stream.id)
