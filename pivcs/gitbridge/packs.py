"""Writing objects into a repository as one pack with its index (git's gitformat-pack, versions 2 of both).

Objects go to the disk as they come. What stays in memory is an id and a place for each, about 150 bytes, whatever the
objects' sizes. A pack that is being written has a name of ours: what git calls `tmp_...` its `gc --prune=now` removes,
from under whoever writes it. What a killed process left of it goes with the next pack that is written a day later. Then
it gets its name, the index last, and only who has the index sees it. It is kept from a gc that runs at the same time
(`.keep`) until the refs that reach its objects are written.
"""

from __future__ import annotations

import os
import secrets
import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha1
from itertools import accumulate
from pathlib import Path
from typing import Final

from pivcs.errors import StateError
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.objects import COMMIT, TREE, object_id
from pivcs.gitbridge.sharing import share, sharing_of

Deflate = Callable[[bytes], bytes]

DEEPEST: Final = 50
"""Deltas that may stand on each other, as git's default; reading an object means to apply them all."""
_DELTA_BY_OFFSET: Final = 6
_BUFFER: Final = 1 << 20
_KEEP: Final = b"pivcs writes refs to this pack\n"
_OLD: Final = 24 * 3600
"""Seconds after which a file of ours is one that a killed process left."""
_DEPTH_BITS: Final = 6
_DEPTH: Final = (1 << _DEPTH_BITS) - 1
_OFFSET_BITS: Final = _DEPTH_BITS + 32
_BATCH: Final = 1 << 14
_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class NotWritten(StateError):
    """The system refuses to write objects."""

    def __init__(self, objects: Path, error: OSError) -> None:
        super().__init__(f"cannot write objects to '{objects}': {(error.strerror or str(error)).lower()}")


def best_deflate() -> Deflate:
    """Return the fastest compression that is installed. Ids of objects do not depend on it."""
    try:
        from isal import isal_zlib
    except ImportError:
        return lambda data: zlib.compress(data, 1)
    compress = isal_zlib.compress
    return lambda data: compress(data, 2)


class PackWriter:
    """One pack. Use as a context manager: leaving it gives up a pack that was not finished.

    `existing` says which objects are there already; they are not written again. `relied_on` has those of them that were
    added.
    """

    def __init__(self, objects: Path, existing: Existing | None = None, *, deflate: Deflate | None = None) -> None:
        self.relied_on: set[bytes] = set()
        self._objects = objects
        self._existing = existing
        self._deflate = deflate or best_deflate()
        self._directory = objects / "pack"
        self.commits_written = 0
        """How many commits were written."""
        self._places: dict[bytes, int] = {}
        """Where each object begins, the CRC-32 of its record, and how deep its deltas are, in one number."""
        self._out: list[bytes] = []
        self._waiting = 0
        self._position = 12
        self._file = -1
        self._temporary: Path | None = None
        self._keep: Path | None = None

    def __enter__(self) -> PackWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def __len__(self) -> int:
        return len(self._places)

    def has(self, ident: bytes) -> bool:
        """Whether an object is in this pack, or in the repository already."""
        if ident in self._places or ident in self.relied_on:
            return True
        if self._existing is not None and self._existing.has(ident):
            self.relied_on.add(ident)
            return True
        return False

    def add(self, kind: int, data: bytes, base: bytes | None = None, delta: bytes | None = None) -> bytes:
        """Add an object unless it is there, and return its id.

        `delta` makes it of the object `base`; it is used when that one is in this pack and not too deep itself, as a
        pack must be readable alone. Raises `NotWritten`.
        """
        ident = object_id(kind, data)
        if ident in self._places or (self._existing is not None and self.has(ident)):
            return ident
        under = self._places.get(base) if base is not None else None
        if delta is not None and under is not None and under & _DEPTH < DEEPEST:
            head = _head(_DELTA_BY_OFFSET, len(delta)) + _distance(self._position - (under >> _OFFSET_BITS))
            body = _stored(delta) if len(delta) < 100 else self._deflate(delta)
            self._put(ident, head + body, (under & _DEPTH) + 1)
        else:
            # Deflating a short object costs more than it gains; ids in trees cannot be compressed at all.
            body = _stored(data) if kind == TREE and len(data) < 200 else self._deflate(data)
            self._put(ident, _head(kind, len(data)) + body, 0)
            self.commits_written += kind == COMMIT
        return ident

    def add_deflated(self, kind: int, ident: bytes, size: int, body: bytes) -> None:
        """Add an object that was hashed and compressed elsewhere and is not there (see `has`). Raises `NotWritten`."""
        if ident not in self._places:
            self._put(ident, _head(kind, size) + body, 0)

    def append(self, records: bytes, objects: Iterable[tuple[bytes, int, int]]) -> None:
        """Add all records of another pack, which are none of this one's: `objects` has the id of each, its place in
        `records`, and the CRC-32. Raises `NotWritten`.
        """
        for ident, place, crc in objects:
            self._places[ident] = (self._position + place) << _OFFSET_BITS | crc << _DEPTH_BITS | DEEPEST
        self._out.append(records)
        self._position += len(records)
        self._waiting += len(records)
        self._write_waiting()

    def deflate(self, data: bytes) -> bytes:
        """Compress as `add` does; from any thread."""
        return self._deflate(data)

    def finish(self) -> Path | None:
        """Complete the pack and give it its name; returns its path, None when nothing had to be written.

        It is kept from git's gc until `release`. Raises `NotWritten`.
        """
        if not self._places:
            return None
        try:
            self._flush()
            trailer = self._complete()
            name = self._directory / f"pack-{trailer.hex()}"
            index = self._write_index(trailer)
            self._keep = name.with_suffix(".keep")
            _write_whole(self._keep, [_KEEP], 0o600)
            assert self._temporary is not None
            share(sharing_of(self._objects.parent), (self._temporary, index, self._keep))
            os.replace(self._temporary, name.with_suffix(".pack"))
            self._temporary = None
            os.replace(index, name.with_suffix(".idx"))
            _sync_directory(self._directory)
        except OSError as error:
            raise NotWritten(self._objects, error) from error
        self._places = {}
        return name.with_suffix(".pack")

    def release(self) -> None:
        """Let git's gc have the pack, as refs reach its objects now; small packs that have become many are joined."""
        if self._keep is not None:
            from pivcs.gitbridge.pack_merging import merge_small_packs

            self._drop_keep()
            merge_small_packs(self._objects)

    def abandon(self) -> None:
        """Give up what is not finished; harmless after `finish`."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink()
            self._temporary = None
        self._drop_keep()

    def _drop_keep(self) -> None:
        if self._keep is not None:
            with suppress(OSError):
                self._keep.unlink()
            self._keep = None

    def _put(self, ident: bytes, record: bytes, depth: int) -> None:
        self._places[ident] = self._position << _OFFSET_BITS | zlib.crc32(record) << _DEPTH_BITS | depth
        self._out.append(record)
        self._position += len(record)
        self._waiting += len(record)
        self._write_waiting()

    def _write_waiting(self) -> None:
        if self._waiting >= _BUFFER:
            try:
                self._flush()
            except OSError as error:
                raise NotWritten(self._objects, error) from error

    def _flush(self) -> None:
        if self._file < 0:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._temporary = self._directory / f"pivcs-{secrets.token_hex(8)}.pack.tmp"
            self._file = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o444)
            _remove_what_was_left(self._directory, os.fstat(self._file).st_mtime)
            _write_all(self._file, b"PACK" + struct.pack(">II", 2, 0))
        _write_all(self._file, b"".join(self._out))
        self._out = []
        self._waiting = 0

    def _complete(self) -> bytes:
        """Write the number of objects, which was not known before, and the checksum of the whole; returns it."""
        os.lseek(self._file, 8, os.SEEK_SET)
        _write_all(self._file, struct.pack(">I", len(self._places)))
        os.lseek(self._file, 0, os.SEEK_SET)
        state = sha1(usedforsecurity=False)
        while piece := os.read(self._file, _BUFFER):
            state.update(piece)
        trailer = state.digest()
        _write_all(self._file, trailer)
        os.fsync(self._file)
        os.close(self._file)
        self._file = -1
        return trailer

    def _write_index(self, trailer: bytes) -> Path:
        path = self._directory / f"pivcs-{secrets.token_hex(8)}.idx.tmp"
        try:
            _write_whole(path, _index(self._places, trailer), 0o444)
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise
        return path


def _index(places: dict[bytes, int], trailer: bytes) -> Iterator[bytes]:
    """Yield the index of a pack: ids in order, checksums of their records, and where these are."""
    state = sha1(usedforsecurity=False)
    for piece in _index_columns(places, trailer):
        state.update(piece)
        yield piece
    yield state.digest()


def _index_columns(places: dict[bytes, int], trailer: bytes) -> Iterator[bytes]:
    idents = sorted(places)
    yield b"\xfftOc\x00\x00\x00\x02"
    counts = [0] * 256
    for ident in idents:
        counts[ident[0]] += 1
    yield struct.pack(">256I", *accumulate(counts))
    for first in range(0, len(idents), _BATCH):
        yield b"".join(idents[first : first + _BATCH])
    sums, small, large = array("I"), array("I"), array("Q")
    for ident in idents:
        place = places[ident]
        sums.append(place >> _DEPTH_BITS & 0xFFFFFFFF)
        offset = place >> _OFFSET_BITS
        if offset < 1 << 31:
            small.append(offset)
        else:
            small.append(1 << 31 | len(large))
            large.append(offset)
    for column in (sums, small, large):
        if sys.byteorder == "little":
            column.byteswap()
        yield column.tobytes()
    yield trailer


_HEADS: dict[int, bytes] = {}


def _head(kind: int, size: int) -> bytes:
    """Return what stands before the bytes of an object in a pack; the short ones are made once."""
    key = size << 3 | kind
    head = _HEADS.get(key)
    if head is not None:
        return head
    out = bytearray((kind << 4 | size & 15,))
    size >>= 4
    while size:
        out[-1] |= 0x80
        out.append(size & 0x7F)
        size >>= 7
    head = bytes(out)
    if key < 1 << 16:
        _HEADS[key] = head
    return head


def _distance(distance: int) -> bytes:
    """Return how far back the base of a delta is."""
    out = [distance & 0x7F]
    distance >>= 7
    while distance:
        distance -= 1
        out.append(0x80 | distance & 0x7F)
        distance >>= 7
    return bytes(reversed(out))


_LENGTHS: Final = struct.Struct("<HH").pack


def _stored(data: bytes) -> bytes:
    """Return a zlib stream of less than 64 KiB as they are: a microsecond where compressing costs ten."""
    size = len(data)
    return b"\x78\x01\x01" + _LENGTHS(size, size ^ 0xFFFF) + data + zlib.adler32(data).to_bytes(4, "big")


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _write_whole(path: Path, pieces: Iterable[bytes], mode: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, mode)
    try:
        for piece in pieces:
            _write_all(file, piece)
        os.fsync(file)
    finally:
        os.close(file)


def _sync_directory(path: Path) -> None:
    with suppress(OSError):  # not every system can
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _remove_what_was_left(directory: Path, now: float) -> None:
    """Remove what a killed process of ours was writing, or kept from git's gc; `now` is by the file system's clock."""
    limit = now - _OLD
    for pattern in ("pack-*.keep", "pivcs-*.tmp"):
        for path in directory.glob(pattern):
            with suppress(OSError):
                if path.stat().st_mtime < limit and (path.suffix == ".tmp" or path.read_bytes() == _KEEP):
                    path.unlink()
