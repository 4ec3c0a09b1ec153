from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.chunking import cut_chunks
from pivcs.objects.hashing import chunk_id
from pivcs.session.source import BytesSource
from pivcs.store import content
from pivcs.store.content import Cutter, layout_of, read_tail
from pivcs.store.errors import StoreDamaged
from pivcs.store.store import Store
from tests.builders import message_line
from tests.ops.syncing import share
from tests.store.filling import add, bytes_of, extend, new_source
from tests.store.limits import small_chunks, small_limits

RUN = b'"' + b"iVBORw0KGgo" * 30 + b'"'
PARTS = st.sampled_from([b"\n", b"text ", message_line("aaaaaaaa"), RUN, RUN + b"\n", b"\0" * 90, b"x y" * 700])
STREAMS = st.lists(PARTS, max_size=30).map(b"".join)
LINES = b"".join(message_line(f"{number:08x}", "aaaaaaaa", "user", f"{number}") for number in range(60))


@given(STREAMS, st.lists(st.integers(1, 900), min_size=1, max_size=8))
def test_cuts_do_not_depend_on_the_pieces_in_which_bytes_come(data: bytes, sizes: list[int]) -> None:
    with small_chunks():
        cutter, at, found = Cutter(), 0, []
        while at < len(data):
            size = sizes[len(found) % len(sizes)]
            found += list(cutter.feed(data[at : at + size]))
            at += size
        ends = cut_chunks(data)
        assert [offset + len(chunk) for offset, chunk in found] == ends
        assert b"".join(chunk for _, chunk in found) + cutter.tail == data
        assert cutter.start == (ends[-1] if ends else 0)


@given(STREAMS, st.lists(st.integers(0, 12_000), max_size=6))
@share(0.4)
def test_stream_that_grew_in_steps_is_stored_as_one_that_came_at_once(data: bytes, cuts: list[int]) -> None:
    with small_limits(), Store.in_memory() as store, Store.in_memory() as other:
        stream = add(store, new_source(store), b"")
        for cut in sorted({min(cut, len(data)) for cut in cuts} | {len(data)}):
            stream = extend(store, stream, data[:cut])
            assert bytes_of(store, stream) == data[:cut]
        once = add(other, new_source(other), data)
        assert layout_of(store.database, stream) == layout_of(other.database, once)
        assert read_tail(store.database, stream) == read_tail(other.database, once) == data[stream.tail_start :]


@given(STREAMS, st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 3000)), max_size=9), st.integers(1, 500))
@share(0.4)
def test_any_range_is_that_of_the_file(data: bytes, ranges: list[tuple[int, int]], piece: int) -> None:
    with small_chunks(), Store.in_memory() as store:
        stream = add(store, new_source(store), data)
        source = store.bytes_of(stream)
        assert source.size == len(data)
        for offset, length in ranges:
            assert source.read_range(offset, length) == data[offset : offset + length]
        start = ranges[0][0] if ranges else 0
        source, read = store.bytes_of(stream, start=start), b""
        buffer = bytearray(piece)
        while count := source.readinto(memoryview(buffer)):
            read += buffer[:count]
        assert read == data[start:]


def test_image_that_is_repeated_is_stored_once(store: Store) -> None:
    image = random.Random(1).randbytes(40_000).hex().encode()
    lines = [b'{"type":"x","id":"%d","data":"%s"}\n' % (number, image) for number in range(50)]
    stream = add(store, new_source(store), b"".join(lines))
    (stored,) = store.database.connection.execute("SELECT sum(size) FROM chunk").fetchone()
    assert stream.size > 50 * len(image)
    assert stored < 2 * len(image)
    assert bytes_of(store, stream) == b"".join(lines)


def test_chunks_are_named_by_their_bytes(store: Store) -> None:
    with small_chunks():
        stream = add(store, new_source(store), LINES)
        layout = layout_of(store.database, stream)
        assert len(layout) > 5
        for offset, length, digest in layout:
            assert chunk_id(LINES[offset : offset + length]).digest == digest
        assert [offset + length for offset, length, _ in layout] == cut_chunks(LINES)


def test_tail_that_comes_in_many_pieces_is_put_together(store: Store) -> None:
    with small_chunks():
        count = "SELECT count(*) FROM tail"
        source, connection = new_source(store), store.database.connection
        stream, most = add(store, source, b"a"), 0
        for size in range(2, 40):
            stream = extend(store, stream, b"a" * size)
            most = max(most, connection.execute(count).fetchone()[0])
        assert most == content.TAIL_PIECES
        assert bytes_of(store, stream) == b"a" * 39


def test_appending_does_not_write_the_tail_again(store: Store) -> None:
    """The tail may be a megabyte: one more line must not rewrite it."""
    source, connection = new_source(store), store.database.connection
    start = b"x y " * 25_000 + b"\n"
    stream = add(store, source, start)
    sizes = "SELECT size FROM tail ORDER BY id DESC LIMIT 1"
    for number in range(5):
        stream = extend(store, stream, start + b"line\n" * (number + 1))
        assert connection.execute(sizes).fetchone() == (5,)


def test_file_is_compared_with_what_was_added(store: Store) -> None:
    with small_chunks():
        old = add(store, new_source(store), LINES[:1000])
        writer = store.writer(old)
        writer.add(LINES[1000:])
        assert writer.matches(BytesSource(LINES), len(LINES))
        assert writer.matches(BytesSource(LINES + b"more"), len(LINES))
        assert not writer.matches(BytesSource(LINES[:-1]), len(LINES))
        for place in (1000, 5000, len(LINES) - 1):
            changed = bytearray(LINES)
            changed[place] ^= 1
            assert not writer.matches(BytesSource(bytes(changed)), len(LINES))


def test_chunks_of_a_large_file_are_committed_before_it_is_done(store: Store) -> None:
    with small_chunks():
        writer = store.writer(None)
        writer.add(LINES)
        (stored,) = store.database.connection.execute("SELECT count(*) FROM chunk").fetchone()
        assert stored > 2
        assert not store.database.connection.in_transaction
        assert store.streams() == []


@pytest.mark.parametrize("change", ["UPDATE chunk SET data = zeroblob(9)", "UPDATE chunk SET codec = 77",
                                    "UPDATE chunk SET size = size + 1", "UPDATE chunk SET data = x''"])  # fmt: skip
def test_chunk_that_cannot_be_read_is_an_error(store: Store, change: str) -> None:
    with small_chunks():
        stream = add(store, new_source(store), LINES)
        with store.writing() as connection:
            connection.execute(change)
        with pytest.raises(StoreDamaged, match="a chunk cannot be read"):
            store.bytes_of(stream).read_range(0, 10)


def test_tail_that_cannot_be_read_is_an_error(store: Store) -> None:
    stream = add(store, new_source(store), LINES)
    with store.writing() as connection:
        connection.execute("UPDATE tail SET data = x'00', codec = 1")
    with pytest.raises(StoreDamaged, match="a tail cannot be read"):
        bytes_of(store, stream)


def test_tail_that_is_too_short_is_an_error(store: Store) -> None:
    stream = add(store, new_source(store), LINES)
    with store.writing() as connection:
        connection.execute("DELETE FROM tail")
    with pytest.raises(StoreDamaged, match="ends early, at byte 0"):
        bytes_of(store, stream)
