"""Copies are whole, private and complete before they appear; a moved store is never written at its old place."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pivcs.ops.fsck import fsck
from pivcs.ops.store_admin import back_up_store, move_store, store_facts
from pivcs.store.admin import CannotCopy, TargetExists
from pivcs.store.errors import StoreBusy, StoreDamaged, StoreMoved
from pivcs.store.store import Store
from tests.cli.conftest import child_environment
from tests.ops.syncing import Box, facts, session


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = Box(tmp_path, Store.open(tmp_path / "store" / "store.db", create=True))
    box.put(session(5000))
    box.put(session(20))
    box.put(session(6, session_id="other"), "other.jsonl")
    return box


def state(store: Store) -> list[dict[str, object]]:
    return [facts(store, stream) for stream in store.streams()]


def names(directory: Path) -> list[str]:
    return sorted(os.listdir(directory))


def test_facts_add_up(box: Box):
    found = store_facts(box.store)
    streams = box.store.streams()
    assert (found.streams, found.sources, found.sessions, found.gone, found.events) == (3, 2, 2, 0, 1)
    assert found.rows == sum(stream.row_count for stream in streams) == 5001 + 21 + 7
    assert found.raw == sum(stream.size for stream in streams)
    assert found.unique == found.raw
    assert 0 < found.stored < found.unique
    assert (found.format_version, found.features, found.journal, found.read_only) == (1, (), "wal", False)
    assert found.file_size == (box.directory / "store" / "store.db").stat().st_size
    assert found.log_size == (box.directory / "store" / "store.db-wal").stat().st_size > 0
    box.path.unlink()
    box.sync()
    assert store_facts(box.store).gone == 1


def test_backup_is_a_private_store_of_its_own(box: Box):
    target = box.directory / "copy.db"
    done = back_up_store(box.store, target)
    assert (done.target, done.size) == (target, target.stat().st_size)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(box.directory) == ["copy.db", "other.jsonl", "session.jsonl", "store"]
    assert target.stat().st_nlink == 1
    with Store.open(target) as copy:
        assert state(copy) == state(box.store)
        assert list(fsck(copy)) == []


def test_backup_can_be_read_where_nothing_can_be_written(box: Box):
    target = box.directory / "copy.db"
    back_up_store(box.store, target)
    connection = sqlite3.connect(f"file:{target}?mode=ro&immutable=1", uri=True)
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
    assert connection.execute("SELECT count(*) FROM stream").fetchone()[0] == 3
    connection.close()


def test_backup_overwrites_nothing(box: Box):
    target = box.directory / "copy.db"
    target.write_bytes(b"mine")
    link = box.directory / "link.db"
    link.symlink_to("nowhere")
    for path in (target, link):
        with pytest.raises(TargetExists):
            back_up_store(box.store, path)
    assert target.read_bytes() == b"mine"
    with pytest.raises(CannotCopy, match="no such file or directory"):
        back_up_store(box.store, box.directory / "none" / "copy.db")
    assert names(box.directory) == ["copy.db", "link.db", "other.jsonl", "session.jsonl", "store"]


def test_name_that_is_taken_meanwhile_is_left_alone(box: Box, monkeypatch: pytest.MonkeyPatch):
    target = box.directory / "copy.db"
    link = os.link

    def link_late(source: Path, name: Path) -> None:
        target.write_bytes(b"somebody else's")
        link(source, name)

    monkeypatch.setattr(os, "link", link_late)
    with pytest.raises(TargetExists):
        back_up_store(box.store, target)
    assert target.read_bytes() == b"somebody else's"
    assert names(box.directory) == ["copy.db", "other.jsonl", "session.jsonl", "store"]


def test_backup_works_without_hard_links(box: Box, monkeypatch: pytest.MonkeyPatch):
    def no_links(*_: object) -> None:
        raise PermissionError(1, "operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    back_up_store(box.store, box.directory / "copy.db")
    with Store.open(box.directory / "copy.db") as copy:
        assert state(copy) == state(box.store)


def test_damaged_store_is_not_backed_up_as_if_it_were_good(box: Box):
    box.store.close()
    path = box.directory / "store" / "store.db"
    data = bytearray(path.read_bytes())
    data[8192 * 3 : 8192 * 5] = b"\xa5" * 8192 * 2
    path.write_bytes(data)
    with Store.open(path) as store, pytest.raises(StoreDamaged):
        back_up_store(store, box.directory / "copy.db")
    assert names(box.directory) == ["other.jsonl", "session.jsonl", "store"]


def test_backup_is_of_one_moment_while_others_write(box: Box):
    stop = threading.Event()

    def write() -> None:
        with Store.open(box.directory / "store" / "store.db", wait=60) as store:
            other = Box(box.directory, store)
            number = 0
            while not stop.is_set():
                number += 1
                other.put(session(50 + number, number % 3), f"busy{number % 7}.jsonl")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Store.open(box.directory / "store" / "store.db", wait=60) as store:
            for number in range(5):
                back_up_store(store, box.directory / f"copy{number}.db")
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        with Store.open(box.directory / f"copy{number}.db") as copy:
            assert list(fsck(copy, sources=False)) == []


def test_move_leaves_nothing_behind_and_everything_there(box: Box):
    before = state(box.store)
    done = move_store(box.store, box.directory / "new" / "place")
    assert done.target == box.directory / "new" / "place" / "store.db"
    assert names(box.directory / "store") == []
    assert names(done.target.parent) == ["store.db"]
    assert stat.S_IMODE(done.target.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(done.target.stat().st_mode) == 0o600
    with Store.open(done.target) as moved:
        assert state(moved) == before
        assert store_facts(moved).features == ()
        assert list(fsck(moved)) == []


def test_move_to_a_store_that_exists_is_refused_and_the_old_one_stays(box: Box):
    Store.open(box.directory / "new" / "store.db", create=True).close()
    with pytest.raises(TargetExists):
        move_store(box.store, box.directory / "new")
    box.store.close()
    with Store.open(box.directory / "store" / "store.db") as store:
        assert len(store.streams()) == 3
        Box(box.directory, store).put(session(7), "later.jsonl")


def test_move_of_a_store_that_is_in_use_is_refused(box: Box):
    with Store.open(box.directory / "store" / "store.db", wait=0.1) as mine, pytest.raises(StoreBusy):
        move_store(mine, box.directory / "new")
    assert not (box.directory / "new").exists()
    assert len(box.store.streams()) == 3


def test_who_waited_for_the_old_store_is_told_and_writes_nothing(box: Box, monkeypatch: pytest.MonkeyPatch):
    path = box.directory / "store" / "store.db"
    opening = [sys.executable, "-c", OPEN, str(path), str(box.directory / "held")]
    waiting: list[subprocess.Popen[bytes]] = []
    link = os.link

    def link_while_somebody_waits(source: Path, name: Path) -> None:
        waiting.append(subprocess.Popen(opening, env=child_environment(), stderr=subprocess.PIPE))
        while not (box.directory / "held").exists():
            threading.Event().wait(0.01)
        link(source, name)

    monkeypatch.setattr(os, "link", link_while_somebody_waits)
    done = move_store(box.store, box.directory / "new")
    _, complaint = waiting[0].communicate(timeout=60)
    assert b"StoreMoved" in complaint
    assert str(done.target) in complaint.decode()
    with Store.open(done.target) as moved:
        assert len(moved.streams()) == 3


OPEN = """
import os, sys, sqlite3
from pathlib import Path
from pivcs.store import database
from pivcs.store.store import Store
connect = database._connect
def tell(*arguments, **options):
    connection = connect(*arguments, **options)
    descriptor = os.open(sys.argv[1], os.O_RDONLY)  # so that the file outlives its name
    Path(sys.argv[2]).touch()
    return connection
database._connect = tell
Store.open(Path(sys.argv[1]), wait=60)
"""


def test_who_had_the_old_store_open_without_a_log_cannot_write_to_it(box: Box):
    box.store.close()
    path = box.directory / "store" / "store.db"
    idle = Store.open(path)
    idle.database.connection.execute("PRAGMA journal_mode = DELETE")
    with Store.open(path) as mine:
        mine.database.connection.execute("PRAGMA journal_mode = DELETE")
        idle.database.connection.execute("PRAGMA journal_mode = DELETE")
        move_store(mine, box.directory / "new")
    with pytest.raises(StoreDamaged):
        Box(box.directory, idle).put(session(3), "late.jsonl")
    idle.close()


def test_store_that_was_left_behind_names_its_new_place(box: Box):
    path = box.directory / "store" / "store.db"
    box.store.database.connection.execute("INSERT INTO feature VALUES ('moved to /new/place')")
    box.store.close()
    with pytest.raises(StoreMoved, match="/new/place"):
        Store.open(path)
