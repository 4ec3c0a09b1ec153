"""Is a file still what it was, as far as it is known? (`docs/format.md`, "Streams")

Appending is all that pi does to a file, but a migration, an editor or a synchronising program may rewrite it in place.
A known prefix of up to 2 MiB is compared whole. Of a longer one, a few pieces are: its beginning, its end, and some in
between; the whole is compared when the file is another one, when it has doubled, and when it is asked for.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from pivcs.objects.hashing import chunk_id, whole_hash
from pivcs.store.content import Readable, layout_of, read_tail
from pivcs.store.records import FileStat, Stream
from pivcs.store.store import Store

WHOLE: Final = 2 << 20
"""Prefixes up to this many bytes are always compared whole."""
_EDGE: Final = 4096
_PIECES: Final = 8
_PIECE: Final = 64
_PROBE: Final = Struct("<QI16s")


def make_probes(file: Readable, size: int) -> bytes:
    """Return digests of pieces of a prefix of `size` bytes."""
    if not size:
        return b""
    places = [(0, min(_EDGE, size))]
    places += [(size * part // _PIECES, min(_PIECE, size - size * part // _PIECES)) for part in range(1, _PIECES)]
    places.append(_end(size))
    return b"".join(_probe(file, offset, length) for offset, length in places)


def move_last_probe(probes: bytes, file: Readable, size: int) -> bytes:
    """Return probes for a prefix that has grown to `size` bytes: the last one is about its end."""
    if len(probes) <= _PROBE.size:
        return make_probes(file, size)
    return probes[: -_PROBE.size] + _probe(file, *_end(size))


def _end(size: int) -> tuple[int, int]:
    return max(0, size - _EDGE), min(_EDGE, size)


def _probe(file: Readable, offset: int, length: int) -> bytes:
    return _PROBE.pack(offset, length, whole_hash([file.read_range(offset, length)])[:16])


def probes_match(file: Readable, probes: bytes) -> bool:
    """Whether the pieces of a file are what they were."""
    return all(
        whole_hash([file.read_range(offset, length)])[:16] == digest
        for offset, length, digest in _PROBE.iter_unpack(probes)
    )


def first_difference(store: Store, stream: Stream, file: Readable, size: int) -> int | None:
    """Return the position of a chunk of the stream in which the file, of `size` bytes, differs from it; None when the
    shorter of the two is a prefix of the other."""
    for offset, length, digest in layout_of(store.database, stream):
        if offset + length > size:
            known = store.bytes_of(stream).read_range(offset, size - offset) if size > offset else b""
            return None if file.read_range(offset, size - offset) == known else offset
        if chunk_id(file.read_range(offset, length)).digest != digest:
            return offset
    tail = read_tail(store.database, stream)[: max(0, size - stream.tail_start)]
    return None if file.read_range(stream.tail_start, len(tail)) == tail else stream.tail_start


def needs_whole(stream: Stream, now: FileStat) -> bool:
    """Whether pieces are not enough to tell that a file of at least the known size still begins as it did."""
    then = stream.file
    return (
        stream.size <= WHOLE
        or (now.inode, now.device) != (then.inode, then.device)
        or now.size <= then.size
        or now.size >= 2 * stream.verified_size
    )
