from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.store import content, unpacking
from pivcs.store.errors import StoreDamaged
from pivcs.store.store import Store
from pivcs.store.unpacking import ReadAhead, Row
from tests.builders import message_line
from tests.store.filling import add, bytes_of, new_source
from tests.store.limits import small_chunks

LINES = b"".join(message_line(f"{number:08x}", "aaaaaaaa", "user", f"{number}") for number in range(400))


class Chunks:
    """Chunks whose bytes are their numbers; keeps which rows were read."""

    def __init__(self) -> None:
        self.loaded: list[int] = []
        self.threads: set[threading.Thread] = set()

    def load(self, ident: int) -> Row | None:
        self.loaded.append(ident)
        return None if ident == 13 else Row(1, 0, str(ident).encode(), b"")

    def unpack(self, ident: int, row: Row | None) -> bytes:
        self.threads.add(threading.current_thread())
        if row is None:
            raise ValueError(f"no chunk {ident}")
        return row.data

    def ahead(self, idents: Iterable[int]) -> ReadAhead:
        return ReadAhead(self.load, self.unpack, idents)


@given(st.lists(st.integers(20, 60), max_size=60), st.data())
def test_chunks_come_as_they_were_expected(idents: list[int], data: st.DataObject) -> None:
    chunks = Chunks()
    ahead = chunks.ahead(idents)
    order = list(dict.fromkeys(idents))
    asked = [ident for ident in order if data.draw(st.integers(0, 4))]
    for ident in asked:
        answer = ahead.take(ident)
        # Whoever skips more than what is under way reads the rest alone.
        assert answer == str(ident).encode() or (answer is None and asked != order)
    if asked == order:
        assert ahead.take(0) is None
        assert ahead.is_done
    assert chunks.loaded == order[: len(chunks.loaded)]


def test_no_more_rows_are_read_ahead_than_are_under_way() -> None:
    chunks = Chunks()
    ahead = chunks.ahead(range(100, 200))
    assert ahead.take(100) == b"100"
    assert len(chunks.loaded) <= unpacking.BATCH * (unpacking.AHEAD + 1)
    assert ahead.take(199) is None
    assert ahead.take(101) == b"101"


def test_what_fails_is_raised_when_it_is_taken() -> None:
    ahead = Chunks().ahead([11, 12, 13, 14])
    assert ahead.take(12) == b"12"
    with pytest.raises(ValueError, match="no chunk 13"):
        ahead.take(13)
    assert ahead.take(13) is None
    assert ahead.take(14) == b"14"


def test_threads_end_with_whom_they_work_for() -> None:
    chunks = Chunks()
    ahead = chunks.ahead(range(100, 200))
    ahead.take(100)
    del ahead
    gc.collect()
    for thread in chunks.threads:
        thread.join(10)
        assert not thread.is_alive()
    assert chunks.threads


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let some kilobytes be many."""
    monkeypatch.setattr(content, "MANY", 2_000)


@pytest.mark.usefixtures("many")
def test_long_ranges_are_those_of_the_stream(store: Store) -> None:
    with small_chunks():
        stream = add(store, new_source(store), LINES)
        assert len(content.layout_of(store.database, stream)) > 40
        source = store.bytes_of(stream)
        choice = random.Random(3)
        for _ in range(200):
            start = choice.randrange(len(LINES))
            end = min(len(LINES), start + choice.choice([1, 50, 3_000, len(LINES)]))
            reading = source.iter_range(start, end - start)
            if choice.random() < 0.3:
                assert LINES[start:end].startswith(next(reading))  # and no more of it
            else:
                assert b"".join(reading) == LINES[start:end]
        ranges = sorted(choice.sample(range(len(LINES)), 40))
        pairs = list(zip(ranges[::2], ranges[1::2], strict=True))
        source.expect(pairs)
        for start, end in pairs:
            assert source.read_range(start, end - start) == LINES[start:end]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE chunk SET data = substr(data, 2) WHERE id = 20", "a chunk cannot be read, chunk 20 of stream 1"),
        ("UPDATE chunk SET hash = zeroblob(32) WHERE id = 20", "chunk 20 of stream 1 is not what its hash says"),
        ("DELETE FROM chunk WHERE id = 20", "chunk 20 of stream 1 is missing"),
    ],
)
def test_damage_is_told_where_it_is_met(store: Store, statement: str, says: str) -> None:
    with small_chunks():
        stream = add(store, new_source(store), LINES)
        store.database.connection.execute("PRAGMA foreign_keys = OFF")
        store.database.connection.execute(statement)
        begin = content.layout_of(store.database, stream)[18][0]
        pieces = store.bytes_of(stream).iter_range(0, stream.size)
        read = b""
        while len(read) < begin:
            read += next(pieces)
        assert LINES.startswith(read)
        with pytest.raises(StoreDamaged, match=says):
            b"".join(pieces)
        with pytest.raises(StoreDamaged, match=says):
            bytes_of(store, stream)
