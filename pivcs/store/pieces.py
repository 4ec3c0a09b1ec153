"""Bytes as the store keeps them: compressed when that helps, with a number that says how."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

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


def pack(data: bytes | memoryview, level: int = FAST) -> tuple[int, bytes]:
    """Return a codec number and the bytes to keep."""
    if len(data) < WORTHWHILE:
        return PLAIN, bytes(data)
    packed = _compressor(level).compress(data)
    return (ZSTD, packed) if len(packed) < len(data) else (PLAIN, bytes(data))


def unpack(codec: int, data: bytes, size: int) -> bytes:
    """Return the bytes that were packed. Raises ValueError when they cannot be had or are not `size` long."""
    if codec == PLAIN:
        plain = data
    elif codec == ZSTD:
        import zstandard

        try:
            plain = _decompressor().decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
    else:
        raise ValueError(f"unknown codec {codec}")
    if len(plain) != size:
        raise ValueError(f"{len(plain)} bytes instead of {size}")
    return plain


@cache
def _compressor(level: int) -> zstandard.ZstdCompressor:
    import zstandard

    return zstandard.ZstdCompressor(level=level, write_content_size=True)


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    import zstandard

    return zstandard.ZstdDecompressor()
