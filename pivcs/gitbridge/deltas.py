"""Deltas between git objects that are known by construction: a piece of the old object is replaced, the rest stays.

See git's gitformat-pack, "Deltified representation". Nothing is searched for, so a delta costs as much as it is long.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_COPY: Final = 0xFFFF
"""Bytes that one instruction copies here; git's limit is higher, and its readers disagree on where."""
_INSERT: Final = 127


def splice_delta(old_size: int, start: int, end: int, new: bytes) -> bytes:
    """Return the delta that makes `old[:start] + new + old[end:]` of an object of `old_size` bytes."""
    return b"".join(
        (
            _number(old_size),
            _number(start + len(new) + old_size - end),
            _copies(0, start),
            _inserts(new),
            _copies(end, old_size - end),
        )
    )


def _number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@lru_cache(maxsize=1 << 14)
def _copies(offset: int, size: int) -> bytes:
    """Return the instructions that copy a piece; trees of the same directory ask for the same ones again and again."""
    out = bytearray()
    while size > 0:
        count = min(size, _COPY)
        place = len(out)
        out.append(0)
        code = 0x80
        for bit, byte in enumerate(offset.to_bytes(4, "little") + count.to_bytes(2, "little")):
            if byte:
                code |= 1 << bit
                out.append(byte)
        out[place] = code
        offset += count
        size -= count
    return bytes(out)


def _inserts(data: bytes) -> bytes:
    if len(data) <= _INSERT:
        return bytes((len(data),)) + data if data else b""
    pieces = [data[at : at + _INSERT] for at in range(0, len(data), _INSERT)]
    return b"".join([bytes((len(piece),)) + piece for piece in pieces])
