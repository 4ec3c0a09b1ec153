"""A second reader of stores, written from `docs/format.md`, "Store", alone: it knows nothing of pivcs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from urllib.parse import quote
from zlib import crc32

import zstandard
from blake3 import blake3

APPLICATION = 1885959779
VERSION = 1
NONE = 0xFFFFFFFF
KINDS = ("header", "entry", "glued", "foreign", "damaged", "blank")
TAKEN = 6
RECORD, POSITIONAL, OTHER_ID = 1, 2, 8
COLUMNS = "BBBQQIqI"
"""The element of each column as `struct` spells it; object ids follow."""
_OTHER = Struct("<II")
_PROBE = Struct("<QI16s")


@dataclass(frozen=True)
class Row:
    """One row of a segment, with the number of its line and what it is called."""

    kind: int
    flags: int
    code: int
    offset: int
    length: int
    parent: int | None
    time: int | None
    oid: str | None
    line: int
    name: str | None


class PlainReader:
    """Reads one store; raises ValueError for what it does not understand."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        problem = self._problem()
        if problem is not None:
            self.close()
            raise ValueError(problem)

    def _problem(self) -> str | None:
        if self._one("PRAGMA application_id") != APPLICATION:
            return "no store"
        if self._one("PRAGMA user_version") != VERSION or self._one("SELECT count(*) FROM feature"):
            return "a newer store"
        return None

    def close(self) -> None:
        self.db.close()

    def _one(self, statement: str, *values: object) -> object:
        row = self.db.execute(statement, values).fetchone()
        return row[0] if row is not None else None

    def generations(self, path: bytes) -> list[int]:
        """Return the streams of the source at a path, oldest first."""
        return [
            ident
            for (ident,) in self.db.execute(
                "SELECT stream.id FROM stream JOIN source ON source.id = stream.source WHERE path = ? "
                "ORDER BY generation",
                (path,),
            )
        ]

    def column(self, stream: int, name: str) -> object:
        return self._one(f"SELECT {name} FROM stream WHERE id = ?", stream)

    def key(self, stream: int) -> str | None:
        key = self._one("SELECT key FROM session JOIN stream ON session = session.id WHERE stream.id = ?", stream)
        return key.hex() if isinstance(key, bytes) else None

    def bytes_of(self, stream: int) -> bytes:
        parts: list[bytes] = []
        at = 0
        for offset, size, codec, data, digest in self.db.execute(
            "SELECT stream_chunk.offset, size, codec, data, hash FROM stream_chunk JOIN chunk ON chunk.id = chunk "
            "WHERE stream = ? ORDER BY stream_chunk.offset",
            (stream,),
        ):
            assert offset == at
            parts.append(_plain(codec, data, size))
            assert blake3(parts[-1]).digest() == digest
            at += size
        assert at == self.column(stream, "tail_start")
        for offset, size, codec, crc, data in self.db.execute(
            "SELECT offset, size, codec, crc, data FROM tail WHERE stream = ? ORDER BY offset", (stream,)
        ):
            assert offset == at
            parts.append(_plain(codec, data, size))
            assert crc32(parts[-1]) == crc
            at += size
        assert at == self.column(stream, "size")
        return b"".join(parts)

    def rows_of(self, stream: int) -> list[Row]:
        rows: list[Row] = []
        line = place = 0
        for first, count, crc, data in self.db.execute(
            "SELECT first_row, row_count, crc, data FROM segment WHERE stream = ? ORDER BY first_row", (stream,)
        ):
            assert first == len(rows)
            assert crc32(data) == crc
            for kind, flags, code, offset, length, parent, time, number, oid, other in _unpacked(data, count):
                if kind != TAKEN:
                    line, place = line + 1, 0
                record = bool(flags & RECORD)
                place += record
                name = None
                if record:
                    position = f"L{line}" + (f".{place}" if place > 1 else "")
                    name = position if flags & POSITIONAL else other if flags & OTHER_ID else f"{number:08x}"
                rows.append(
                    Row(
                        kind, flags, code, offset, length,
                        parent=None if parent == NONE else parent,
                        time=None if time == -(1 << 63) else time,
                        oid=oid.hex() if record else None, line=line, name=name,
                    )
                )  # fmt: skip
        assert len(rows) == self.column(stream, "row_count")
        return rows

    def known(self, stream: int) -> list[tuple[int, int]]:
        """Return number and row of the ids in full segments."""
        numbers: list[tuple[int, int]] = []
        for bucket, ids in self.db.execute(
            "SELECT bucket, ids FROM known_id WHERE stream = ? ORDER BY bucket", (stream,)
        ):
            found = [int.from_bytes(ids[at : at + 8], "little") for at in range(0, len(ids), 8)]
            assert all(place >> 56 == bucket for place in found)
            numbers += [(place >> 32, place & 0xFFFFFFFF) for place in found]
        return numbers

    def probes(self, stream: int) -> list[tuple[int, int, bytes]]:
        probes = self.column(stream, "probes")
        assert isinstance(probes, bytes)
        return list(_PROBE.iter_unpack(probes))


def _plain(codec: int, data: bytes, size: int) -> bytes:
    if codec not in (0, 1):
        raise ValueError(f"unknown codec {codec}")
    plain = data if codec == 0 else zstandard.ZstdDecompressor().decompress(data)
    assert len(plain) == size
    return plain


def _unpacked(data: bytes, count: int) -> Iterator[tuple[int, int, int, int, int, int, int, int, bytes, str | None]]:
    columns: list[tuple[int, ...]] = []
    at = 0
    for spelling in COLUMNS:
        column = Struct(f"<{count}{spelling}")
        columns.append(column.unpack_from(data, at))
        at += column.size
    oids = [data[at + 32 * row : at + 32 * row + 32] for row in range(count)]
    at += 32 * count
    others: dict[int, str] = {}
    while at < len(data):
        row, length = _OTHER.unpack_from(data, at)
        at += _OTHER.size
        others[row] = data[at : at + length].decode("utf-8", "surrogatepass")
        at += length
    for row in range(count):
        kind, flags, code, offset, length, parent, time, number = (column[row] for column in columns)
        yield kind, flags, code, offset, length, parent, time, number, oids[row], others.get(row)
