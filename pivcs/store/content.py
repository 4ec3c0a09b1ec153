"""Bytes of streams: put away in chunks and a tail, and read back from any position."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, Protocol
from zlib import crc32

from pivcs.objects.chunking import chunk_end
from pivcs.objects.hashing import chunk_id
from pivcs.store.database import Database
from pivcs.store.errors import StoreDamaged
from pivcs.store.lease import hold_lease
from pivcs.store.packing import Packer
from pivcs.store.pieces import pack, unpack, unpack_checked
from pivcs.store.records import Stream
from pivcs.store.unpacking import ReadAhead, Row

PIECE: Final = 1 << 20
COMMIT_EVERY: Final = 32 << 20
"""Raw bytes after which chunks are committed, so that a large session does not keep other writers waiting."""
TAIL_PIECES: Final = 64
"""Pieces of a tail after which they are put together."""
CACHED_CHUNKS: Final = 8
MANY: Final = 4 << 20
"""Bytes that are to be read in order, from which on chunks are unpacked ahead."""


class Readable(Protocol):
    """Bytes that can be read by position."""

    def read_range(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset`, fewer only at the end."""
        ...


class Cutter:
    """Cuts a stream that comes in pieces; what is behind the last cut stays in `tail`."""

    def __init__(self, start: int = 0, tail: bytes = b"") -> None:
        self.start = start
        self._buffer = bytearray(tail)

    @property
    def tail(self) -> bytes:
        """The bytes behind the last cut; they begin at stream position `start`."""
        return bytes(self._buffer)

    def feed(self, data: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
        """Yield position and bytes of each chunk that is certain now."""
        buffer = self._buffer
        buffer += data
        at = 0
        while (end := chunk_end(buffer, at, len(buffer))) is not None:
            yield self.start + at, bytes(buffer[at:end])
            at = end
        del buffer[:at]
        self.start += at


class ContentWriter:
    """Puts the new bytes of a stream away. Chunks are stored at once, in transactions of their own when there are many;
    they belong to no stream until `finish`, so a crash before that leaves nothing but chunks for `gc`."""

    def __init__(self, database: Database, stream: Stream | None) -> None:
        self._database = database
        self._packer = Packer()
        tail = b"" if stream is None else read_tail(database, stream)
        self._old_tail_size = len(tail)
        self._cutter = Cutter(0 if stream is None else stream.tail_start, tail)
        self._chunks: list[tuple[int, bytes]] = []
        self._seen: set[bytes] = set()
        self._waiting_size = 0
        self._fed = 0
        self._leased = False

    def use_thread(self) -> None:
        """Compress in a second thread from now on: for large sessions, when this process will not fork any more."""
        self._packer.start_thread()

    @property
    def tail_start(self) -> int:
        """Stream position of the first uncut byte."""
        return self._cutter.start

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes at the end of the stream."""
        self._fed += len(data)
        for offset, chunk in self._cutter.feed(data):
            digest = chunk_id(chunk).digest
            self._chunks.append((offset, digest))
            if digest not in self._seen and not self._has(digest):
                self._seen.add(digest)
                self._packer.put(digest, chunk)
                self._waiting_size += len(chunk)
        if self._waiting_size >= COMMIT_EVERY:
            if not self._leased:
                self._leased = True
                hold_lease(self._database.path, self)
            with self._database.writing() as connection:
                self._store(connection)

    def _has(self, digest: bytes) -> bool:
        with self._database.reading() as connection:
            return connection.execute("SELECT 1 FROM chunk WHERE hash = ?", (digest,)).fetchone() is not None

    def _store(self, connection: sqlite3.Connection) -> None:
        connection.executemany(
            "INSERT OR IGNORE INTO chunk (hash, size, codec, data) VALUES (?, ?, ?, ?)", self._packer.take()
        )
        self._seen.clear()
        self._waiting_size = 0

    def matches(self, file: Readable, end: int) -> bool:
        """Whether a file has, up to `end`, the bytes that were added (and the old tail before them)."""
        ends = [offset for offset, _ in self._chunks[1:]] + [self._cutter.start]
        for (offset, digest), stop in zip(self._chunks, ends, strict=False):
            if chunk_id(file.read_range(offset, stop - offset)).digest != digest:
                return False
        return file.read_range(self._cutter.start, end - self._cutter.start) == self._cutter.tail

    def finish(self, connection: sqlite3.Connection, stream: int) -> None:
        """Give the chunks and the tail to a stream, inside the caller's transaction.

        Raises `ChunkVanished` when a chunk that was there has been collected meanwhile; the caller starts again.
        """
        self._store(connection)
        for offset, digest in self._chunks:
            found = connection.execute("SELECT id FROM chunk WHERE hash = ?", (digest,)).fetchone()
            if found is None:
                raise ChunkVanished(self._database.where)
            connection.execute("INSERT INTO stream_chunk VALUES (?, ?, ?)", (stream, offset, found[0]))
        tail = self._cutter.tail
        if self._chunks or self._old_tail_size == 0:
            connection.execute("DELETE FROM tail WHERE stream = ?", (stream,))
            self._write_tail(connection, stream, self._cutter.start, tail)
        elif self._fed:
            new = tail[self._old_tail_size :]
            self._write_tail(connection, stream, self._cutter.start + self._old_tail_size, new)
            (pieces,) = connection.execute("SELECT count(*) FROM tail WHERE stream = ?", (stream,)).fetchone()
            if pieces > TAIL_PIECES:
                connection.execute("DELETE FROM tail WHERE stream = ?", (stream,))
                self._write_tail(connection, stream, self._cutter.start, tail)

    @staticmethod
    def _write_tail(connection: sqlite3.Connection, stream: int, offset: int, data: bytes) -> None:
        if data:
            codec, packed = pack(data)
            connection.execute(
                "INSERT INTO tail (stream, offset, size, codec, crc, data) VALUES (?, ?, ?, ?, ?, ?)",
                (stream, offset, len(data), codec, crc32(data), packed),
            )


class ChunkVanished(StoreDamaged):
    """A chunk was collected between being found and being used."""

    def __init__(self, where: str) -> None:
        super().__init__(where, "a chunk vanished while it was being used")


def read_tail(database: Database, stream: Stream, start: int | None = None) -> bytes:
    """Return the uncut bytes of a stream, which begin at byte `start` if that is known. Raises `StoreDamaged`."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT offset, size, codec, crc, data FROM tail WHERE stream = ? ORDER BY offset", (stream.id,)
        ).fetchall()
    parts: list[bytes] = []
    at = start if start is not None else rows[0][0] if rows else 0
    for offset, size, codec, crc, data in rows:
        try:
            if offset != at:
                raise ValueError(f"a piece begins at byte {offset}, not at {at}")
            parts.append(unpack_checked(codec, data, size, crc))
        except ValueError as error:
            what = f"a tail cannot be read, that of stream {stream.id}: {error}"
            raise StoreDamaged(database.where, what) from error
        at += size
    return b"".join(parts)


class StreamSource:
    """The bytes of a stream as a `ByteSource` (`pivcs.session.source`). Raises `StoreDamaged` while reading.

    They are those of the stream as it was given, also when another process makes it grow and cuts its tail meanwhile.
    Each chunk is compared with its hash; without `checked` it is taken as it is, for who looks into damage.
    """

    def __init__(self, database: Database, stream: Stream, *, start: int = 0, checked: bool = True) -> None:
        self._database = database
        self._checked = checked
        self._stream = stream
        self._position = start
        self._starts: list[int] = []
        self._chunks: list[int] = []
        self._tail_start = stream.tail_start
        self._tail: bytes | None = None
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._ahead: ReadAhead | None = None
        with database.reading() as connection:
            self._load_chunks(connection)
        if (self._starts[0] if self._starts else self._tail_start) != 0:
            raise StoreDamaged(database.where, f"stream {stream.id} has no chunk for byte 0")

    @property
    def size(self) -> int:
        """Number of bytes in the stream."""
        return self._stream.size

    def readinto(self, buffer: memoryview) -> int:
        """See `ByteSource`."""
        part = self.read_range(self._position, min(len(buffer), PIECE))
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)

    def read_range(self, offset: int, length: int) -> bytes:
        """See `ByteSource`."""
        return b"".join(self.iter_range(offset, length))

    def iter_range(self, offset: int, length: int) -> Iterator[bytes]:
        """See `ByteSource`."""
        end = min(offset + length, self.size)
        if end - offset >= MANY and (self._ahead is None or self._ahead.is_done):
            self.expect([(offset, end)])
        while offset < end:
            part = self._part(offset, end)
            if not part:
                raise StoreDamaged(self._database.where, f"stream {self._stream.id} ends early, at byte {offset}")
            yield part
            offset += len(part)

    def expect(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Tell which ranges, from start to end, will be read in this order: where these are many bytes, chunks are
        unpacked ahead in a second thread."""
        ranges = list(ranges)
        if sum(end - start for start, end in ranges) >= MANY:
            starts, chunks = self._starts, self._chunks
            idents = (
                chunks[place]
                for start, end in ranges
                for place in range(max(0, bisect_right(starts, start) - 1), bisect_right(starts, end - 1))
            )
            unpack = partial(_unpacked, self._database.where, self._stream.id, self._checked)
            self._ahead = ReadAhead(partial(_load_chunk, self._database), unpack, idents)

    def close(self) -> None:
        """See `ByteSource`: the store is closed by whoever opened it."""

    def _load_chunks(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute(
            "SELECT offset, chunk FROM stream_chunk WHERE stream = ? ORDER BY offset", (self._stream.id,)
        ).fetchall()
        self._starts = [offset for offset, _ in rows]
        self._chunks = [chunk for _, chunk in rows]

    def _load_tail(self) -> bytes:
        """Load the tail, and what has been cut off its beginning since the stream was read."""
        with self._database.snapshot() as connection:
            row = connection.execute("SELECT tail_start, size FROM stream WHERE id = ?", (self._stream.id,)).fetchone()
            if row is not None and row[0] != self._tail_start:
                self._tail_start = row[0]
                self._load_chunks(connection)
            tail = read_tail(self._database, self._stream, self._tail_start)
        end = self._tail_start + len(tail)
        if row is not None and end != row[1]:
            detail = f"ends early, at byte {end}" if end < row[1] else f"has bytes behind its end, at byte {row[1]}"
            raise StoreDamaged(self._database.where, f"stream {self._stream.id} {detail}")
        return tail

    def _part(self, offset: int, end: int) -> bytes:
        """Return the bytes from `offset` to `end`, or to the end of the chunk that it lies in."""
        if offset >= self._tail_start:
            if self._tail is None:
                self._tail = self._load_tail()
            if offset >= self._tail_start:
                return self._tail[offset - self._tail_start : end - self._tail_start]
        place = bisect_right(self._starts, offset) - 1
        if place < 0:
            raise StoreDamaged(self._database.where, f"stream {self._stream.id} has no chunk for byte {offset}")
        start = self._starts[place]
        return self._chunk(place)[offset - start : end - start]

    def _chunk(self, place: int) -> bytes:
        ident = self._chunks[place]
        data = self._cache.get(ident)
        if data is not None:
            self._cache.move_to_end(ident)
            return data
        if self._ahead is not None:
            data = self._ahead.take(ident)
        if data is None:
            row = _load_chunk(self._database, ident)
            data = _unpacked(self._database.where, self._stream.id, self._checked, ident, row)
        end = self._starts[place + 1] if place + 1 < len(self._starts) else self._tail_start
        if self._starts[place] + len(data) != end:
            name = _name(ident, self._stream.id)
            raise StoreDamaged(
                self._database.where, f"{name} ends at byte {self._starts[place] + len(data)}, not at {end}"
            )
        self._cache[ident] = data
        if len(self._cache) > CACHED_CHUNKS:
            self._cache.popitem(last=False)
        return data


def _name(ident: int, stream: int) -> str:
    return f"chunk {ident} of stream {stream}"


def _load_chunk(database: Database, ident: int) -> Row | None:
    with database.reading() as connection:
        row = connection.execute("SELECT size, codec, data, hash FROM chunk WHERE id = ?", (ident,)).fetchone()
    return None if row is None else Row(*row)


def _unpacked(where: str, stream: int, checked: bool, ident: int, row: Row | None) -> bytes:
    """Return the bytes of a chunk; raises `StoreDamaged`. Uses nothing of the store, so any thread may call it."""
    name = _name(ident, stream)
    if row is None:
        raise StoreDamaged(where, f"{name} is missing")
    try:
        data = unpack(row.codec, row.data, row.size)
    except ValueError as error:
        raise StoreDamaged(where, f"a chunk cannot be read, {name}: {error}") from error
    if checked and chunk_id(data).digest != row.digest:
        raise StoreDamaged(where, f"{name} is not what its hash says")
    return data


def layout_of(database: Database, stream: Stream) -> list[tuple[int, int, bytes]]:
    """Return position, length and hash of each chunk of a stream, in order."""
    with database.reading() as connection:
        return connection.execute(
            "SELECT stream_chunk.offset, chunk.size, chunk.hash FROM stream_chunk JOIN chunk ON chunk.id = chunk "
            "WHERE stream = ? ORDER BY stream_chunk.offset",
            (stream.id,),
        ).fetchall()
