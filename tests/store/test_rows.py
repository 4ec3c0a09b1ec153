from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.table import NODE, POSITIONAL, Table
from pivcs.session.fields import LineKind
from pivcs.store.rows import id_number, load_table
from pivcs.store.store import Store
from tests.builders import header_line, message_line
from tests.ops.syncing import many_lines, session_bytes, share
from tests.session.streams import IDS
from tests.store.filling import add, columns, extend, new_source, table_of
from tests.store.limits import small_segments

SEGMENTS = "SELECT first_row, row_count FROM segment ORDER BY first_row"


def naive(table: Table, name: str) -> list[tuple[int, bytes]]:
    """Return row and digest of the records with an id, found by looking at every row."""
    return [
        (row, table.digest(row))
        for row, flags in enumerate(table.flags)
        if flags & (NODE | POSITIONAL) == NODE and table.name(row) == name
    ]


@given(session_bytes(), st.lists(st.floats(0, 1), max_size=5))
@share(0.4)
def test_ids_are_found_as_by_looking_at_every_row(data: bytes, places: list[float]) -> None:
    with small_segments(), Store.in_memory() as store:
        stream = add(store, new_source(store), b"")
        for cut in sorted({int(place * len(data)) for place in places} | {len(data)}):
            stream = extend(store, stream, data[:cut])
        table = table_of(data)
        known = {table.name(row) for row in table.nodes()}
        finder = store.finder(stream)
        for name in (*IDS, *known, "ffffffff", "", "L1", "L2", "x\udc00", "unknown"):
            assert finder(name) == naive(table, name)


@given(session_bytes(), st.lists(st.floats(0, 1), max_size=8))
@share(0.4)
def test_rows_do_not_depend_on_how_they_came(data: bytes, places: list[float]) -> None:
    with small_segments(), Store.in_memory() as store, Store.in_memory() as other:
        stream = add(store, new_source(store), b"")
        for cut in sorted({int(place * len(data)) for place in places} | {len(data)}):
            stream = extend(store, stream, data[:cut])
            assert columns(store.table_of(stream)) == columns(table_of(data[:cut]))
        once = add(other, new_source(other), data)
        both = [each.database.connection.execute(SEGMENTS).fetchall() for each in (store, other)]
        assert both[0] == both[1]
        assert both[0] == expected_segments(once.row_count)
        ids = [each.database.connection.execute("SELECT * FROM known_id").fetchall() for each in (store, other)]
        assert ids[0] == ids[1]


def expected_segments(rows: int) -> list[tuple[int, int]]:
    """Return the segments of a stream: full ones of eight rows, then open ones of two."""
    full = [(first, 8) for first in range(0, rows - rows % 8, 8)]
    return full + [(first, min(2, rows - first)) for first in range(rows - rows % 8, rows, 2)]


def test_appending_one_row_writes_one_small_segment(store: Store) -> None:
    """Full segments are never touched again, open ones only when they make up a full one."""
    with small_segments():
        data = header_line() + many_lines(8)
        stream = add(store, new_source(store), data)
        seen = []
        for number in range(16):
            before = dict(store.database.connection.execute("SELECT first_row, data FROM segment"))
            data += many_lines(1, seed=number + 1)
            stream = extend(store, stream, data)
            after = dict(store.database.connection.execute("SELECT first_row, data FROM segment"))
            seen.append(sum(before.get(first) != value for first, value in after.items()))
        assert seen == [1] * 16


def test_rows_are_loaded_from_a_segment_on(store: Store) -> None:
    with small_segments():
        data = header_line() + many_lines(20)
        stream = add(store, new_source(store), data)
        whole = table_of(data)
        part = load_table(store.database, stream, first=16)
        assert len(part) == 5
        assert list(part.offset) == list(whole.offset)[16:]
        assert part.oid == whole.oid[16 * 32 :]
        first = load_table(store.database, stream, last=16)
        assert list(first.offset) == list(whole.offset)[:16]


def test_rows_of_a_stream_that_grew_are_cut_to_what_it_had(store: Store) -> None:
    odd = message_line("odd id") + b'{"type":"x","id":"q"}{"type":"x","id":"r"}\n'
    with small_segments():
        data = header_line() + many_lines(4) + odd
        stream = add(store, new_source(store), data)
        grown = extend(store, stream, data + odd * 5 + many_lines(4, 1))
        table = store.table_of(stream)
        assert columns(table) == columns(table_of(data))
        assert LineKind.GLUED in table.kind
        assert len(store.table_of(grown)) > 2 * len(table)
        assert store.finder(stream)("odd id") == naive(table, "odd id")


def test_ids_are_numbers() -> None:
    assert id_number("0000000e") == 14
    assert id_number("ffffffff") == 0xFFFFFFFF
    # The CRC-32 of "123456789" is the standard's check value.
    assert id_number("123456789") == 0xCBF43926
    assert id_number("0000000E") != 14
    assert 0 <= id_number("x\udc00") < 1 << 32


def test_ids_with_the_same_number_are_told_apart(store: Store) -> None:
    """The number of an id that is no eight hexadecimal digits is a CRC, which an ordinary id may have too."""
    with small_segments():
        data = header_line() + message_line("123456789") + message_line("cbf43926") + many_lines(10)
        stream = add(store, new_source(store), data)
        finder = store.finder(stream)
        assert [row for row, _ in finder("123456789")] == [1]
        assert [row for row, _ in finder("cbf43926")] == [2]


def test_new_ids_are_known_without_loading_full_segments(store: Store) -> None:
    with small_segments():
        stream = add(store, new_source(store), header_line() + many_lines(40))
        with store.writing() as connection:
            connection.execute("DELETE FROM segment WHERE first_row < 40")
        assert store.finder(stream)("00000007") == []
