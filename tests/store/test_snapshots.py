from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pivcs.ops.store_admin import back_up_store, move_store
from pivcs.store.admin import CannotCopy, TargetExists
from pivcs.store.snapshots import (
    SnapshotRecord,
    add_snapshot,
    all_snapshots,
    set_snapshot_deleted,
    snapshot,
    snapshot_repository,
    snapshots_of,
)
from pivcs.store.store import Store

KEY, OTHER = b"k" * 32, b"o" * 32
RECORD = SnapshotRecord(0, KEY, b"n" * 32, 5, "caf\u00e9", b"t" * 20, b"/p\xff", b"sub", 7)


def with_sessions(store: Store) -> Store:
    with store.writing() as connection:
        connection.executemany("INSERT OR IGNORE INTO session (key) VALUES (?)", [(KEY,), (OTHER,)])
    return store


def test_snapshots_come_back_by_session_in_the_order_in_which_they_were_taken(store: Store) -> None:
    with_sessions(store)
    with store.writing():
        first = add_snapshot(store, RECORD)
        other = add_snapshot(store, RECORD._replace(session=OTHER, oid=None, message=""))
        second = add_snapshot(store, RECORD._replace(time=1))
    assert [first.id, other.id, second.id] == [1, 2, 3]
    assert snapshots_of(store, KEY) == [first, second]
    assert snapshots_of(store, OTHER) == [other]
    assert snapshots_of(store, b"x" * 32) == []
    assert all_snapshots(store) == [first, other, second]
    assert snapshot(store, 2) == other
    assert snapshot(store, 4) is None


def test_deleted_snapshot_stays_and_keeps_its_number(store: Store) -> None:
    with_sessions(store)
    with store.writing():
        first = add_snapshot(store, RECORD)
        set_snapshot_deleted(store, first.id, True)
        assert add_snapshot(store, RECORD).id == 2
    assert [each.id for each in snapshots_of(store, KEY)] == [2]
    assert snapshots_of(store, KEY, deleted=True)[0] == first._replace(deleted=True)
    with store.writing():
        set_snapshot_deleted(store, first.id, False)
    assert snapshot(store, 1) == first


def test_snapshot_needs_a_session(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError), store.writing():
        add_snapshot(store, RECORD)
    assert all_snapshots(store) == []


def test_stores_in_one_directory_have_repositories_of_their_own(tmp_path: Path) -> None:
    assert snapshot_repository(tmp_path / "store.db") == tmp_path / "snapshots.git"
    assert snapshot_repository(tmp_path / "copy.db") == tmp_path / "copy.snapshots.git"


def filled(store: Path) -> Store:
    place = snapshot_repository(store)
    (place / "objects" / "aa").mkdir(parents=True)
    (place / "objects" / "aa" / "tmp_obj_1").write_text("half")
    (place / "objects" / "aa" / "whole").write_text("whole")
    (place / "objects" / "aa" / "whole").chmod(0o444)
    return with_sessions(Store.open(store, create=True))


def contents(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.rglob("*") if path.is_file()}


def test_backup_has_the_files_of_snapshots(tmp_path: Path) -> None:
    with filled(tmp_path / "store.db") as store:
        back_up_store(store, tmp_path / "copy.db")
        assert contents(tmp_path / "copy.snapshots.git") == {"whole": "whole"}
        (tmp_path / "copy.db").unlink()
        with pytest.raises(TargetExists, match=r"copy\.snapshots\.git' exists already"):
            back_up_store(store, tmp_path / "copy.db")
        assert not (tmp_path / "copy.db").exists()


def test_failed_backup_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> str:
        raise OSError(28, "No space left on device")

    with filled(tmp_path / "store.db") as store:
        before = sorted(tmp_path.iterdir())
        monkeypatch.setattr("pivcs.store.snapshots.shutil.copy2", refuse)
        with pytest.raises(CannotCopy, match=r"copy\.db': \[errno 28\] no space left on device$"):
            back_up_store(store, tmp_path / "copy.db")
        assert sorted(tmp_path.iterdir()) == before


def test_moved_store_takes_its_snapshots_along(tmp_path: Path) -> None:
    store = filled(tmp_path / "store.db")
    move_store(store, tmp_path / "new")
    assert contents(tmp_path / "new" / "snapshots.git") == {"whole": "whole"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]
