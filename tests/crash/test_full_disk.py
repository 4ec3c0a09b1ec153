"""A disk that is full, or a quota that is reached: a clear error, nothing lost, and the next sync works."""

from __future__ import annotations

import os
import random
import resource
import signal
from pathlib import Path

import pytest

from pivcs.ops.sync import Synced, sync_file
from pivcs.store.content import ContentWriter
from pivcs.store.errors import StoreFull, StoreReadOnly
from pivcs.store.store import Store
from tests.crash.writing import check, kill_after, start, write_for_ever
from tests.ops.syncing import Box, session
from tests.store.filling import bytes_of
from tests.store.limits import small_limits


@pytest.mark.parametrize("room", [*range(7), 10, 20, 30, 40])
def test_sync_into_a_full_store_fails_whole(tmp_path: Path, room: int) -> None:
    """SQLite's own limit of pages stands for the size of the disk."""
    with small_limits(), Store.open(tmp_path / "store" / "store.db", create=True) as store:
        box = Box(tmp_path, store)
        first = box.put(session(20))
        connection = store.database.connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + room}")
        noise = [random.Random(number).randbytes(600).hex().encode() for number in range(400)]
        large = session(20) + b"".join(b'{"type":"x","id":"q","v":"%s"}\n' % each for each in noise)
        box.write(large)
        with pytest.raises(StoreFull, match="no space left") as caught:
            box.sync()
        assert caught.value.hint == "nothing was lost; free some space"
        assert store.current_streams() == [first]
        assert bytes_of(store, first) == session(20)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("PRAGMA max_page_count = 1000000")
        assert box.sync().outcome == "appended"
        assert box.cat(box.path) == large


def limit_file_size(size: int) -> None:
    """Let no file of this process become larger; writing more is an error, not a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("size", [1000, 20_000, 60_000, 100_000, 150_000, 250_000])
def test_files_that_may_not_grow_end_in_a_clear_error(tmp_path: Path, size: int) -> None:
    path = tmp_path / "store" / "store.db"
    files = [tmp_path / f"{number}.jsonl" for number in range(60)]
    for number, file in enumerate(files):
        file.write_bytes(session(30, number, session_id=str(number)))

    def sync() -> None:
        limit_file_size(size)
        with pytest.raises(StoreReadOnly, match="a quota may be reached"), Store.open(path, create=True) as store:  # noqa: PT012
            for file in files:
                sync_file(store, file, 1)
                with (tmp_path / "done").open("a") as done:
                    done.write(file.name + "\n")

    child = start(sync)
    kill_after_end(child)
    done = (tmp_path / "done").read_text().split() if (tmp_path / "done").exists() else []
    assert len(done) < len(files)
    with Store.open(path, create=True) as store:
        assert store.database.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        kept = {source.path: source.id for source in store.sources()}
        for name in done:
            stream = store.current_stream(kept[bytes(tmp_path / name)])
            assert stream is not None
            assert bytes_of(store, stream) == (tmp_path / name).read_bytes()
        for file in files:
            assert isinstance(sync_file(store, file, 2), Synced)
        assert [bytes_of(store, each) for each in store.streams()] == [file.read_bytes() for file in files]


def kill_after_end(child: int) -> None:
    """Wait for a child that must end well."""
    _, status = os.waitpid(child, 0)
    assert status == 0, "the child process failed, see its output"


def test_commit_that_fails_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk may be full only when the last chunks come."""
    with small_limits(), Store.open(tmp_path / "store" / "store.db", create=True) as store:
        box = Box(tmp_path, store)
        finish = ContentWriter.finish

        def finish_on_full_disk(self: ContentWriter, connection, stream: int) -> None:  # type: ignore[no-untyped-def]
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}")
            finish(self, connection, stream)
            connection.execute("INSERT INTO chunk (hash, size, codec, data) VALUES (x'', 0, 0, zeroblob(1000000))")

        box.write(session(60))
        with monkeypatch.context() as patch:
            patch.setattr(ContentWriter, "finish", finish_on_full_disk)
            with pytest.raises(StoreFull):
                box.sync()
        assert store.streams() == []
        assert store.sources() == []
        store.database.connection.execute("PRAGMA max_page_count = 1000000")
        assert box.sync().outcome == "new"


def test_killed_on_a_full_disk(tmp_path: Path) -> None:
    """Both at once: the writer runs out of room again and again, and is killed while it tries."""
    store, reports, directory = tmp_path / "store" / "store.db", tmp_path / "reports", tmp_path / "sessions"
    directory.mkdir()

    def write() -> None:
        limit_file_size(200_000)
        for number in range(1000):
            try:
                write_for_ever(store, directory, reports, number)
            except StoreReadOnly:
                continue

    with small_limits(in_memory=8000, whole=1 << 20):
        for number in range(6):
            kill_after(start(write), 0.1 + number / 30)
            check(store, reports)
        check(store, reports, full=True)
