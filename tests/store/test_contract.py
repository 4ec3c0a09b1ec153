"""What the layers above rely on, for a store in memory and one on disk."""

from __future__ import annotations

import pytest

from pivcs.store.content import ChunkVanished
from pivcs.store.errors import StoreDamaged, StreamMoved
from pivcs.store.records import Event, Source
from pivcs.store.store import Store
from tests.builders import build_session, header_line, message_line
from tests.store.filling import KEY, add, bytes_of, columns, extend, new_source, stat, state, table_of
from tests.store.limits import small_chunks

DATA = build_session("a-b-c, b-d", labels={"a": "good"})
MORE = message_line("eeeeeeee", "dddddddd")
ODD = [b"", b"no line", b"\n", DATA[:-1], b"\xff\0\r\n" * 9]


def test_new_store_knows_nothing(store: Store) -> None:
    assert store.sources() == []
    assert store.streams() == store.current_streams() == []
    assert store.session_keys() == []
    assert store.source(1) is None
    assert store.source_at(b"/a") is None
    assert store.stream(1) is None
    assert store.current_stream(1) is None
    assert store.events_of([]) == store.events_of([1]) == []
    assert not store.read_only


def test_sources_are_found_by_number_and_path(store: Store) -> None:
    first, second = new_source(store, b"/a"), new_source(store, b"/\xff odd \x01\n path")
    assert store.sources() == [Source(first, b"/a", False), Source(second, b"/\xff odd \x01\n path", False)]
    assert store.source(second) == store.source_at(b"/\xff odd \x01\n path")
    assert store.source_at(b"/A") is None


def test_source_goes_and_comes_back(store: Store) -> None:
    source = new_source(store, b"/a")
    with store.writing():
        store.set_gone(source, True)
    assert store.source(source) == Source(source, b"/a", True)
    with store.writing():
        store.move_source(source, b"/b")
    assert store.source(source) == store.source_at(b"/b") == Source(source, b"/b", False)
    assert store.source_at(b"/a") is None


@pytest.mark.parametrize("data", [DATA, *ODD], ids=range(6))
def test_stream_gives_back_bytes_and_rows(store: Store, data: bytes) -> None:
    stream = add(store, new_source(store), data)
    assert bytes_of(store, stream) == data
    assert columns(store.table_of(stream)) == columns(table_of(data))
    assert (stream.generation, stream.size, stream.session) == (1, len(data), KEY)
    assert (stream.file, stream.verified_size, stream.probes) == (stat(len(data)), len(data), b"probes")
    assert stream.summary == b'{"entries": %d}' % len(data)


def test_stream_grows(store: Store) -> None:
    first = add(store, new_source(store), DATA[:-9])
    grown = extend(store, first, DATA + MORE)
    assert (grown.id, grown.generation) == (first.id, 1)
    assert bytes_of(store, grown) == DATA + MORE
    assert columns(store.table_of(grown)) == columns(table_of(DATA + MORE))
    assert store.stream(first.id) == store.current_stream(first.source) == grown


def test_stream_read_before_it_grew_is_what_it_was(store: Store) -> None:
    with small_chunks():
        first = add(store, new_source(store), DATA)
        source, table = store.bytes_of(first), columns(store.table_of(first))
        extend(store, first, DATA + b"".join(message_line(f"{n:08x}", text) for n, text in enumerate(["x"] * 40)))
        assert source.read_range(0, first.size + 99) == DATA
        assert bytes_of(store, first) == DATA
        assert columns(store.table_of(first)) == table


def test_generations_follow_each_other(store: Store) -> None:
    source, other = new_source(store, b"/a"), new_source(store, b"/b")
    streams = [add(store, source, DATA), add(store, source, DATA[:100]), add(store, other, DATA)]
    third = add(store, source, b"")
    assert [stream.generation for stream in (*streams, third)] == [1, 2, 1, 3]
    assert store.streams_of_source(source) == [streams[0], streams[1], third]
    assert store.current_stream(source) == third
    assert store.current_streams() == [third, streams[2]]
    assert store.streams() == [streams[0], streams[1], third, streams[2]]
    assert [bytes_of(store, stream) for stream in store.streams()] == [DATA, DATA[:100], b"", DATA]


def test_streams_are_found_by_session(store: Store) -> None:
    source = new_source(store)
    first = add(store, source, DATA)
    content = store.writer(None)
    content.add(b"x")
    table = table_of(b"x")
    with store.writing():
        other = state(1, table, None, None, session=b"\0other")
        second = store.add_stream(source, content, table, other)
    with store.writing():
        none = state(0, table_of(b""), None, None, session=None)
        third = store.add_stream(source, store.writer(None), table_of(b""), none)
    assert store.streams_of_session(KEY) == [first]
    assert store.streams_of_session(b"\0other") == [second]
    assert store.streams_of_session(b"") == []
    assert third.session is None
    assert store.session_keys() == [b"\0other", KEY]
    assert store.session_keys(KEY[:3]) == [KEY]
    assert store.session_keys(b"zz") == []


def test_one_of_two_who_extend_a_stream_loses(store: Store) -> None:
    stream = add(store, new_source(store), DATA)
    extend(store, stream, DATA + MORE)
    with pytest.raises(StreamMoved):
        extend(store, stream, DATA + MORE)
    now = store.current_stream(stream.source)
    assert now is not None
    assert bytes_of(store, now) == DATA + MORE


def test_failed_transaction_leaves_nothing(store: Store) -> None:
    source = new_source(store)
    before = add(store, source, DATA)
    content = store.writer(before)
    content.add(MORE)
    rows = table_of(header_line() + MORE)

    def fail() -> None:
        with store.writing():
            store.extend_stream(before, content, rows, state(len(DATA + MORE), rows, False, None))
            store.add_source(b"/b")
            store.add_event(Event(1, source, 1, "gone", ""))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.current_stream(source) == before
    assert [each.path for each in store.sources()] == [b"/sessions/a.jsonl"]
    assert store.events_of([source]) == []
    assert bytes_of(store, before) == DATA


def test_same_bytes_are_stored_once(store: Store) -> None:
    with small_chunks():
        data = b"".join(message_line(f"{number:08x}") for number in range(90))
        count = "SELECT count(*), sum(size) FROM chunk"
        source, connection = new_source(store), store.database.connection
        add(store, source, data)
        before = connection.execute(count).fetchone()
        assert before[0] > 9
        add(store, new_source(store, b"/copy"), data)
        add(store, source, data)
        assert connection.execute(count).fetchone() == before


def test_chunk_that_is_collected_before_it_is_used_is_noticed(store: Store) -> None:
    with small_chunks():
        source = new_source(store)
        add(store, source, DATA * 9)
        content = store.writer(None)
        content.add(DATA * 9)
        with store.writing() as connection:
            connection.execute("DELETE FROM stream_chunk")
            connection.execute("DELETE FROM chunk")
        table = table_of(DATA * 9)
        with pytest.raises(ChunkVanished), store.writing():
            store.add_stream(source, content, table, state(len(DATA * 9), table, False, None))
        assert len(store.streams()) == 1


def test_missing_chunk_is_an_error_with_its_number(store: Store) -> None:
    with small_chunks():
        stream = add(store, new_source(store), DATA * 9)
        with store.writing() as connection:
            connection.execute("PRAGMA defer_foreign_keys = ON")
            connection.execute("UPDATE stream_chunk SET chunk = chunk + 1000 WHERE offset > 0")
            connection.execute(
                "INSERT INTO chunk SELECT id + 1000, CAST(x'00' || hash AS BLOB), size, codec, x'28' FROM chunk"
            )
        with pytest.raises(StoreDamaged, match="a chunk cannot be read"):
            bytes_of(store, stream)
        with store.writing() as connection:
            connection.execute("DELETE FROM stream_chunk")
        with pytest.raises(StoreDamaged, match="no chunk for byte 0"):
            bytes_of(store, stream)


def test_missing_segment_is_an_error(store: Store) -> None:
    stream = add(store, new_source(store), DATA)
    with store.writing() as connection:
        connection.execute("DELETE FROM segment")
    with pytest.raises(StoreDamaged, match="rows from 0 on are missing"):
        store.table_of(stream)


def test_short_segment_is_an_error(store: Store) -> None:
    stream = add(store, new_source(store), DATA)
    with store.writing() as connection:
        connection.execute("UPDATE segment SET data = x'0102'")
    with pytest.raises(StoreDamaged, match="the checksum of the rows from 0 on is wrong"):
        store.table_of(stream)


def test_file_of_unchanged_bytes_is_noted(store: Store) -> None:
    stream = add(store, new_source(store), DATA)
    with store.writing():
        store.note_file(stream.id, stat(7), 3)
    now = store.stream(stream.id)
    assert now == stream._replace(file=stat(7))
    with store.writing():
        store.note_file(stream.id, stat(8), stream.verified_size + 1)
    now = store.stream(stream.id)
    assert now == stream._replace(file=stat(8), verified_size=stream.verified_size + 1)


def test_events_are_kept_in_order(store: Store) -> None:
    first, second = new_source(store, b"/a"), new_source(store, b"/b")
    events = [Event(5, first, 1, "gone", ""), Event(4, second, None, "gone", "x"), Event(3, first, 2, "moved", "é")]
    with store.writing():
        for event in events:
            store.add_event(event)
    assert store.events_of([first, second]) == events
    assert store.events_of([first]) == [events[0], events[2]]


def test_state_may_hold_the_largest_numbers(store: Store) -> None:
    table = table_of(DATA)
    source = new_source(store)
    large = state(2**60, table, True, (len(table) - 1, b"d" * 32), line_end=2**60, verified_size=2**62)
    with store.writing():
        stream = store.add_stream(source, store.writer(None), table, large)
    assert (stream.size, stream.line_end, stream.verified_size) == (2**60, 2**60, 2**62)
    assert (stream.version1, stream.last_record) == (True, (len(table) - 1, b"d" * 32))


def test_closing_twice_is_harmless(store: Store) -> None:
    store.close()
    store.close()
