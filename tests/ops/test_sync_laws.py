"""What must hold for every session file and every way of syncing it, with limits so small that all paths are taken."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from pivcs.objects.index import index_source
from pivcs.session.source import BytesSource
from pivcs.store.store import Store
from tests.builders import header_line, message_line
from tests.ops.syncing import Box, cuts_of, facts, many_lines, session, session_bytes, share
from tests.store.filling import columns
from tests.store.limits import small_limits

PLACES = st.lists(st.floats(0, 1), max_size=6)
HEAD = header_line()
A, B = message_line("aaaaaaaa"), message_line("bbbbbbbb", "aaaaaaaa")


@given(session_bytes(), PLACES)
@example(HEAD + A + B + A + message_line("cccccccc", "aaaaaaaa"), [(len(HEAD + A + B + A) + 0.5) / 700])
@example(message_line("aaaaaaaa") + HEAD, [0.3, 0.9])
@example(b"\n\n" + HEAD + A, [0.001, 0.01, 0.5])
@example(b"x" * 1500 + b"\n" + HEAD, [0.2, 0.5, 0.95])
@example(A + B[:-1] + B + b'{"type":"session"}\n' + A, [0.4, 0.7, 0.8])
@share(0.5)
def test_syncing_at_any_moments_gives_what_one_sync_gives(data: bytes, places: list[float]) -> None:
    with small_limits(), tempfile.TemporaryDirectory() as directory:
        box, other = Box(Path(directory)), Box(Path(directory))
        box.write(b"")
        done = 0
        for cut in cuts_of(data, places):
            box.append(data[done:cut])
            synced = box.sync()
            assert synced.outcome in ("new", "appended", "unchanged")
            done = cut
        assert synced.stream is not None
        assert synced.stream.generation == 1
        once = other.sync()
        assert once.stream is not None
        assert facts(box.store, synced.stream) == facts(other.store, once.stream)
        assert box.events() == other.events() == []


@given(session_bytes())
@share(0.2)
def test_rows_and_bytes_are_those_of_the_file(data: bytes) -> None:
    with small_limits(), tempfile.TemporaryDirectory() as directory:
        box = Box(Path(directory))
        stream = box.put(data)
        assert columns(box.store.table_of(stream)) == columns(index_source(BytesSource(data))[0])
        assert box.path.read_bytes() == data
        box.path.unlink()
        assert box.cat(box.path) == data


@given(session_bytes(), PLACES)
@share(0.2)
def test_second_sync_writes_nothing(data: bytes, places: list[float]) -> None:
    with small_limits(), tempfile.TemporaryDirectory() as directory:
        box = Box(Path(directory))
        for cut in cuts_of(data, places):
            first = box.put(data[:cut])
            before = box.changes()
            again = box.sync()
            assert (again.outcome, again.stream, again.rows, again.bytes) == ("unchanged", first, 0, 0)
            assert box.changes() == before


@given(session_bytes(), session_bytes(), PLACES)
@share(0.2)
def test_every_generation_comes_back(first: bytes, second: bytes, places: list[float]) -> None:
    """A file that is rewritten, cut and grown at random: each state that a sync has seen is a prefix of some stream."""
    with small_limits(whole=1 << 20), tempfile.TemporaryDirectory() as directory:
        box = Box(Path(directory))
        seen = []
        cuts = [int(place * len(first)) for place in places]
        for data in (*(first[:cut] for cut in cuts), second, first):
            box.put(data)
            seen.append(data)
            source = box.store.source_at(str(box.path.resolve()).encode())
            assert source is not None
            streams = box.store.streams_of_source(source.id)
            held = [box.cat(box.path, generation=stream.generation) for stream in streams]
            assert held[-1] == data
            for state in seen:
                assert any(stored.startswith(state) for stored in held)
        assert len(box.events()) == len(streams) - 1


@given(session_bytes())
@share(0.1)
def test_new_store_gets_the_same_nodes(data: bytes) -> None:
    with small_limits(), tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.db"
        found = []
        for _ in range(2):
            with Store.open(path, create=True) as store:
                box = Box(Path(directory), store)
                stream = box.put(data)
                found.append(facts(store, stream))
            path.unlink()
        assert found[0] == found[1]


def test_second_sync_leaves_the_store_file_as_it_is(tmp_path: Path) -> None:
    with small_limits(), Store.open(tmp_path / "store" / "store.db", create=True) as store:
        box = Box(tmp_path, store)
        box.put(session(50))
        files = sorted((tmp_path / "store").iterdir())
        assert {file.name for file in files} >= {"store.db", "store.db-wal"}
        before = [(file.name, file.read_bytes(), file.stat().st_mtime_ns) for file in files if "-shm" not in file.name]
        for _ in range(3):
            assert box.sync().outcome == "unchanged"
            assert list(box.reader.open_path(box.path).table.nodes())
        after = [(file.name, file.read_bytes(), file.stat().st_mtime_ns) for file in files if "-shm" not in file.name]
        assert after == before


def test_line_that_is_pending_for_many_syncs_is_taken_whole(tmp_path: Path) -> None:
    """Its tail passes through chunks while it has no end."""
    data = session(9) + message_line("eeeeeeee", None, "user", "word " * 900) + many_lines(3, seed=4)
    with small_limits():
        box, other = Box(tmp_path), Box(tmp_path)
        box.write(b"")
        for at in range(0, len(data), 97):
            box.append(data[at : at + 97])
            synced = box.sync()
        once = other.sync()
        assert synced.stream is not None
        assert once.stream is not None
        assert facts(box.store, synced.stream) == facts(other.store, once.stream)
