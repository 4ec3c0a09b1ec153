"""Several processes use one store at the same time: no error but 'busy', and nothing lost."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pivcs.objects.index import index_source
from pivcs.ops.access import Reader
from pivcs.ops.sync import sync_file
from pivcs.session.layout import Surroundings
from pivcs.session.source import BytesSource
from pivcs.store.store import Store
from tests.crash.writing import check, reported, start, write_for_ever
from tests.ops.syncing import NOW, many_lines, session
from tests.store.filling import bytes_of, columns
from tests.store.limits import small_limits

SECONDS = 2.5
READERS = 10


def end_well(children: list[int]) -> None:
    """Wait for children, none of which may fail."""
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


def read_for(store: Path, seconds: float) -> None:
    """Read all streams again and again: rows must be those of the bytes, whatever the writers do meanwhile."""
    end = time.monotonic() + seconds
    with Store.open(store) as opened:
        while time.monotonic() < end:
            for stream in opened.current_streams():
                data = bytes_of(opened, stream)
                assert len(data) == stream.size
                assert columns(opened.table_of(stream)) == columns(index_source(BytesSource(data))[0])
                assert opened.finder(stream)("ffffffff") == []


def test_two_writers_and_ten_readers(tmp_path: Path) -> None:
    store = tmp_path / "store" / "store.db"
    with small_limits(in_memory=8000, whole=1 << 20):
        Store.open(store, create=True).close()
        children = [start(lambda: read_for(store, SECONDS)) for _ in range(READERS)]
        writers = []
        for writer in "ab":
            (tmp_path / writer).mkdir()
            writers.append(
                start(lambda w=writer: write_for_ever(store, tmp_path / w, tmp_path / f"{w}.log", ord(w), 120))  # type: ignore[misc]
            )
        end_well(writers + children)
        for writer in "ab":
            assert check(store, tmp_path / f"{writer}.log") >= 3
            assert reported(tmp_path / f"{writer}.log")
        check(store, tmp_path / "a.log", full=True)


def test_many_processes_sync_the_same_growing_file(tmp_path: Path) -> None:
    """As when every hook and every command syncs the session that pi is writing."""
    path, file = tmp_path / "store" / "store.db", tmp_path / "session.jsonl"
    file.write_bytes(session(5))

    def sync() -> None:
        with Store.open(path, wait=30) as store:
            for _ in range(40):
                synced = sync_file(store, file, NOW)
                assert synced.outcome in ("new", "appended", "unchanged")

    with small_limits(in_memory=4000):
        Store.open(path, create=True).close()
        children = [start(sync) for _ in range(4)]
        for number in range(60):
            with file.open("ab") as growing:
                data = many_lines(1, seed=number)
                growing.write(data[:50])
                growing.flush()
                growing.write(data[50:])
            time.sleep(0.005)
        end_well(children)
        with Store.open(path) as store:
            sync_file(store, file, NOW)
            (stream,) = store.streams()
            assert bytes_of(store, stream) == file.read_bytes()
            assert columns(store.table_of(stream)) == columns(index_source(BytesSource(file.read_bytes()))[0])
            assert store.events_of([stream.source]) == []


def test_renamed_file_that_two_processes_see_moves_once(tmp_path: Path) -> None:
    path = tmp_path / "store" / "store.db"
    with Store.open(path, create=True) as store:
        for number in range(20):
            file = tmp_path / f"{number}.old"
            file.write_bytes(session(3, number, session_id=str(number)))
            sync_file(store, file, NOW)
            file.rename(tmp_path / f"{number}.new")

    def sync() -> None:
        with Store.open(path, wait=30) as store:
            for number in range(20):
                sync_file(store, tmp_path / f"{number}.new", NOW)

    end_well([start(sync) for _ in range(3)])
    with Store.open(path) as store:
        sources = store.sources()
        assert sorted(source.path for source in sources) == sorted(bytes(tmp_path / f"{n}.new") for n in range(20))
        assert [each.kind for each in store.events_of([source.id for source in sources])] == ["moved"] * 20


@pytest.mark.parametrize("wait", [0.0, 0.3])
def test_reading_command_goes_on_while_somebody_writes(tmp_path: Path, wait: float) -> None:
    path, file = tmp_path / "store" / "store.db", tmp_path / "session.jsonl"
    file.write_bytes(session(5))
    with Store.open(path, create=True) as writer, Store.open(path, wait=wait) as store:
        sync_file(writer, file, NOW)
        with file.open("ab") as growing:
            growing.write(many_lines(1, seed=3))
        warnings: list[str] = []
        reader = Reader(store, Surroundings({}, str(tmp_path), str(tmp_path)), NOW, warnings.append)
        with writer.writing():
            view = reader.open(str(file))
            assert len(view.table) == 6
        assert len(warnings) == 1
        assert "is busy" in warnings[0]
        assert len(reader.open(str(file)).table) == 7
        assert len(warnings) == 1
