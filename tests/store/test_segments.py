from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.table import Table
from pivcs.store import segments
from pivcs.store.segments import COLUMNS, ROW_SIZE, append_segment, encode_segment
from tests.builders import header_line, message_line
from tests.ops.syncing import session_bytes, share
from tests.store.filling import columns, table_of

DATA = header_line() + message_line("0000abcd") + message_line("odd é", "0000abcd") + b'{"type":"x","id":"q"}{}\n'


def rows_of(table: Table) -> dict[str, object]:
    """Return what a segment holds of a table."""
    return {name: value for name, value in columns(table).items() if name not in ("end", "pending")}


@given(session_bytes(), st.floats(0, 1))
@share(0.4)
def test_rows_come_back_from_any_two_segments(data: bytes, place: float) -> None:
    table, again = table_of(data), Table()
    cut = int(place * len(table))
    for start, stop in ((0, cut), (cut, len(table))):
        append_segment(again, encode_segment(table, start, stop), stop - start)
    assert rows_of(again) == rows_of(table)


def test_layout_is_that_of_the_format() -> None:
    """Little-endian columns one after the other, object ids, then the ids that are no numbers."""
    table = table_of(DATA)
    data, count = encode_segment(table, 0, 5), len(table)
    assert count == 5
    assert " ".join(name for name, _ in COLUMNS) == "kind flags code offset length parent time entry_id"
    at = 0
    for letter, name in zip("BBBQQIqI", (name for name, _ in COLUMNS), strict=True):
        values = struct.unpack_from(f"<{count}{letter}", data, at)
        assert list(values) == list(getattr(table, name))
        at += struct.calcsize(f"<{count}{letter}")
    assert data[at : at + 32 * count] == table.oid
    at += 32 * count
    assert at == count * ROW_SIZE
    assert data[at:] == struct.pack("<II", 2, 6) + "odd é".encode() + struct.pack("<II", 4, 1) + b"q"


def test_layout_is_the_same_on_machines_of_the_other_byte_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A swapped table stands for what such a machine has in memory."""
    table = table_of(DATA)
    expected = encode_segment(table, 0, 5)
    for name, _ in COLUMNS:
        getattr(table, name).byteswap()
    swapped = {name: list(getattr(table, name)) for name, _ in COLUMNS}
    monkeypatch.setattr(segments, "_SWAP", True)
    assert encode_segment(table, 0, 5) == expected
    again = Table()
    append_segment(again, expected, 5)
    assert {name: list(getattr(again, name)) for name, _ in COLUMNS} == swapped


@pytest.mark.parametrize("size", [0, 1, ROW_SIZE * 5 - 1])
def test_short_segment_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="5 rows"):
        append_segment(Table(), encode_segment(table_of(DATA), 0, 5)[:size], 5)


@pytest.mark.parametrize("cut", [1, 3, 8, 9, 12, 23])
def test_cut_list_of_ids_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="a segment of 5 rows"):
        append_segment(Table(), encode_segment(table_of(DATA), 0, 5)[:-cut], 5)


@pytest.mark.parametrize("row", [5, 1 << 31])
def test_id_of_no_row_is_refused(row: int) -> None:
    table = table_of(DATA)
    data = encode_segment(table, 0, 5) + struct.pack("<II", row, 1) + b"x"
    with pytest.raises(ValueError, match="a segment of 5 rows"):
        append_segment(Table(), data, 5)
