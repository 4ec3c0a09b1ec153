"""Bytes as the store keeps them: compressed when that helps, with a number that says how."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    import zstandard

PLAIN: Final = 0
ZSTD: Final = 1

FAST: Final = 1
"""Level for what is written while someone waits."""
BEST: Final = 12
"""Level for what `gc` writes."""

WORTHWHILE: Final = 1 << 12
"""Fewer bytes than this stay plain: most tails are a few lines, and the import of the codec costs 20 ms."""

_OF_THREAD: Final = threading.local()

_DESCRIPTOR: Final = 4
"""Place of the byte in a Zstandard frame (RFC 8878, 3.1.1.1.1) of which one bit says that there is a checksum."""
_HAS_CHECKSUM: Final = 1 << 2


def pack(data: bytes | memoryview, level: int = FAST) -> tuple[int, bytes]:
    """Return a codec number and the bytes to keep."""
    if len(data) < WORTHWHILE:
        return PLAIN, bytes(data)
    packed = _compressor(level).compress(data)
    return (ZSTD, packed) if len(packed) < len(data) else (PLAIN, bytes(data))


def pack_well(data: bytes) -> tuple[int, bytes]:
    """Return the same for good: as small as can be had, and marked so that `is_well_packed` knows it again."""
    if len(data) < WORTHWHILE:
        return PLAIN, data
    best = _compressor(BEST, checksum=True).compress(data)
    fast = _compressor(FAST, checksum=True).compress(data)
    return ZSTD, min(best, fast, key=len)


def is_well_packed(codec: int, size: int, beginning: bytes) -> bool:
    """Whether bytes were packed by `pack_well`, or are too few for it; `beginning` is at least their first five."""
    if size < WORTHWHILE:
        return codec == PLAIN
    return codec == ZSTD and len(beginning) > _DESCRIPTOR and bool(beginning[_DESCRIPTOR] & _HAS_CHECKSUM)


def unpack(codec: int, data: bytes, size: int) -> bytes:
    """Return the bytes that were packed. Raises ValueError when they cannot be had or are not `size` long, also when
    the arguments are of other types, as they may be in a damaged store."""
    if not isinstance(data, bytes):
        raise ValueError("the data is no blob")
    if codec == PLAIN:
        plain = data
    elif codec == ZSTD:
        import zstandard

        try:
            if zstandard.frame_content_size(data) != size:  # a wrong one could ask for any amount of memory
                raise ValueError(f"{zstandard.frame_content_size(data)} bytes instead of {size}")
            plain = _decompressor().decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
    else:
        raise ValueError(f"unknown codec {codec}")
    if len(plain) != size:
        raise ValueError(f"{len(plain)} bytes instead of {size}")
    return plain


def unpack_checked(codec: int, data: bytes, size: int, crc: int) -> bytes:
    """Return the same of a piece of a tail; raises ValueError also when its checksum is another one."""
    plain = unpack(codec, data, size)
    if crc32(plain) != crc:
        raise ValueError("its checksum is wrong")
    return plain


@cache
def _compressor(level: int, *, checksum: bool = False) -> zstandard.ZstdCompressor:
    import zstandard

    return zstandard.ZstdCompressor(level=level, write_content_size=True, write_checksum=checksum)


def _decompressor() -> zstandard.ZstdDecompressor:
    """Return the decompressor of this thread: two threads with one would spoil each other's output."""
    found: zstandard.ZstdDecompressor | None = getattr(_OF_THREAD, "decompressor", None)
    if found is None:
        import zstandard

        found = _OF_THREAD.decompressor = zstandard.ZstdDecompressor()
    return found
