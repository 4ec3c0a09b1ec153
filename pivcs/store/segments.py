"""Rows of a stream packed into one value: the columns one after the other, little-endian, in the order of `COLUMNS`.

Behind the columns stand the ids that are not eight hexadecimal digits, each as its row in the segment (u32), its length
in bytes (u32) and its UTF-8 bytes (lone surrogates as three bytes each).
"""

from __future__ import annotations

import sys
from array import array
from struct import Struct
from typing import Final

from pivcs.objects.oid import DIGEST_SIZE
from pivcs.objects.table import OTHER_ID, Table
from pivcs.session.fields import SALVAGED

COLUMNS: Final = (
    ("kind", 1),
    ("flags", 1),
    ("code", 1),
    ("offset", 8),
    ("length", 8),
    ("parent", 4),
    ("time", 8),
    ("entry_id", 4),
)
"""Name and bytes a row of each column; the object ids, 32 bytes a row, follow them."""
ROW_SIZE: Final = sum(size for _, size in COLUMNS) + DIGEST_SIZE
_OTHER_ID: Final = Struct("<II")
_WITH_OTHER_ID: Final = bytes(flags for flags in range(256) if flags & OTHER_ID)
_SWAP: Final = sys.byteorder == "big"


def encode_segment(table: Table, start: int, stop: int) -> bytes:
    """Return rows `start` to `stop` of a table as the value of a segment."""
    parts: list[bytes | bytearray] = []
    for name, _ in COLUMNS:
        column: array[int] = getattr(table, name)[start:stop]
        if _SWAP:
            column.byteswap()
        parts.append(column.tobytes())
    parts.append(table.oid[start * DIGEST_SIZE : stop * DIGEST_SIZE])
    for place, flags in enumerate(table.flags[start:stop]):
        if flags & OTHER_ID:
            text = table.other_ids[start + place].encode("utf-8", "surrogatepass")
            parts.append(_OTHER_ID.pack(place, len(text)) + text)
    return b"".join(parts)


def append_segment(table: Table, data: bytes, count: int) -> None:
    """Add the `count` rows of a segment to a table. Raises ValueError when the value has not that many rows, or not the
    ids that their flags promise."""
    if len(data) < count * ROW_SIZE:
        raise ValueError(f"a segment of {count} rows has only {len(data)} bytes")
    first, at = len(table), 0
    view = memoryview(data)
    for name, size in COLUMNS:
        column: array[int] = getattr(table, name)
        if _SWAP:
            part = array(column.typecode)
            part.frombytes(view[at : at + count * size])
            part.byteswap()
            column.extend(part)
        else:
            column.frombytes(view[at : at + count * size])
        at += count * size
    table.oid += view[at : at + count * DIGEST_SIZE]
    at += count * DIGEST_SIZE
    flags = data[count : 2 * count]
    for _ in range(count - len(flags.translate(None, _WITH_OTHER_ID))):
        row, length = _OTHER_ID.unpack_from(data, at) if at + _OTHER_ID.size <= len(data) else (count, 0)
        at += _OTHER_ID.size
        if row >= count or at + length > len(data):
            raise ValueError(f"a segment of {count} rows lacks ids")
        table.other_ids[first + row] = data[at : at + length].decode("utf-8", "surrogatepass")
        at += length
    if at != len(data):
        raise ValueError(f"a segment of {count} rows has more than these")
    kinds, found = data[:count], -1
    while (found := kinds.find(SALVAGED, found + 1)) >= 0:
        table.salvaged.append(first + found)
