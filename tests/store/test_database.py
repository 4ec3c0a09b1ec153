from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from pivcs.store import schema
from pivcs.store.database import translated
from pivcs.store.errors import NewerStore, NoStore, StoreBusy, StoreDamaged, StoreFull, StoreReadOnly
from pivcs.store.store import Store
from tests.builders import build_session
from tests.store.filling import add, bytes_of, new_source
from tests.store.other_user import as_other_user, hand_over

DATA = build_session("a-b-c")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.db"


@pytest.fixture
def made(path: Path) -> Path:
    """A store with one stream."""
    with Store.open(path, create=True) as store:
        add(store, new_source(store), DATA)
    return path


def state_of(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Return what is in a directory."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in directory.iterdir()}


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_store_can_be_read_by_its_owner_only(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with Store.open(path, create=True) as store:
            add(store, new_source(store), DATA)
            assert {file.name: mode(file) for file in path.parent.iterdir()} == {
                "store.db": 0o600,
                "store.db-wal": 0o600,
                "store.db-shm": 0o600,
            }
        assert mode(path) == 0o600
        assert mode(path.parent) == 0o700
    finally:
        os.umask(before)


def test_empty_file_becomes_a_private_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch(mode=0o644)
    with Store.open(path, create=True) as store:
        stream = add(store, new_source(store), DATA)
        assert bytes_of(store, stream) == DATA
    assert mode(path) == 0o600


def test_store_is_as_it_was_written(made: Path) -> None:
    with Store.open(made) as store:
        assert [bytes_of(store, stream) for stream in store.streams()] == [DATA]
    with Store.open(made, create=True) as store:
        assert [bytes_of(store, stream) for stream in store.streams()] == [DATA]


def test_no_store_is_said_and_not_made(path: Path) -> None:
    with pytest.raises(NoStore):
        Store.open(path)
    with pytest.raises(NoStore):
        Store.open(path, create=True, read_only=True)
    assert not path.parent.exists()


def test_settings_are_those_of_the_design(made: Path) -> None:
    with Store.open(made) as store:
        got = {
            name: store.database.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "page_size", "trusted_schema", "foreign_keys",
                         "wal_autocheckpoint", "application_id", "user_version")
        }  # fmt: skip
    assert got == {
        "journal_mode": "wal", "synchronous": 2, "page_size": 8192, "trusted_schema": 0, "foreign_keys": 1,
        "wal_autocheckpoint": 1000, "application_id": 0x70697663, "user_version": schema.FORMAT_VERSION,
    }  # fmt: skip


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "error", "says"),
    [
        (f"PRAGMA user_version = {schema.FORMAT_VERSION + 1}", NewerStore, f"version {schema.FORMAT_VERSION + 1}"),
        ("INSERT INTO feature VALUES ('holograms')", NewerStore, "the feature 'holograms'"),
        ("PRAGMA application_id = 5", StoreDamaged, "it is no pivcs store"),
        ("PRAGMA application_id = 0", StoreDamaged, "it is no pivcs store"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"create": True}, {"read_only": True}], ids=str)
def test_what_is_not_understood_is_refused_before_any_write(
    made: Path, statement: str, error: type[Exception], says: str, options: dict[str, bool]
) -> None:
    change(made, statement)
    before = made.read_bytes(), made.stat().st_mtime_ns
    with pytest.raises(error, match=says) as caught:
        Store.open(made, **options)
    assert (made.read_bytes(), made.stat().st_mtime_ns) == before
    if not options.get("read_only"):  # which may leave an empty log
        assert [file.name for file in made.parent.iterdir()] == [made.name]
    assert caught.value.hint  # type: ignore[attr-defined]


def test_newer_store_that_a_crash_left_open_is_refused_before_any_write(made: Path, tmp_path: Path) -> None:
    """Its last changes are in the log still, and must stay there."""
    connection = sqlite3.connect(made)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA user_version = {schema.FORMAT_VERSION + 1}")
    copy = tmp_path / "copy"
    shutil.copytree(made.parent, copy)
    connection.close()
    (copy / "store.db-shm").unlink()
    before = {name: content for name, content in state_of(copy).items() if not name.endswith("-shm")}
    assert set(before) == {"store.db", "store.db-wal"}
    with pytest.raises(NewerStore):
        Store.open(copy / "store.db", create=True)
    assert {name: content for name, content in state_of(copy).items() if not name.endswith("-shm")} == before


@pytest.mark.parametrize("content", [b"not a database", b"x" * 9000, b"SQLite format 3\0" + b"\xff" * 8176])
def test_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    for options in ({}, {"create": True}, {"read_only": True}):
        with pytest.raises(StoreDamaged):
            Store.open(path, **options)
    assert path.read_bytes() == content
    assert len(list(path.parent.iterdir())) == 1


def test_other_database_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    change(path, "CREATE TABLE mine (x)")
    before = state_of(path.parent)
    with pytest.raises(StoreDamaged, match="it is no pivcs store"):
        Store.open(path, create=True)
    assert state_of(path.parent) == before


def test_directory_in_the_place_of_the_store_is_an_error(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises((StoreReadOnly, StoreDamaged)):
        Store.open(path, create=True)


def test_store_below_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreReadOnly, match="file exists"):
        Store.open(tmp_path / "file" / "store.db", create=True)


@pytest.mark.parametrize("name", ["a b?c#d%41.db", "é日本.db", "x;y&mode=memory.db"])
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path / name, create=True) as store:
        new_source(store)
    assert (tmp_path / name).stat().st_size > 0
    with Store.open(tmp_path / name) as store:
        assert len(store.sources()) == 1


def test_store_opened_for_reading_reads_and_refuses_to_write(made: Path) -> None:
    before = made.read_bytes()
    with Store.open(made, read_only=True) as store:
        assert store.read_only
        assert [bytes_of(store, stream) for stream in store.streams()] == [DATA]
        with pytest.raises(StoreReadOnly):
            new_source(store)
    assert made.read_bytes() == before


@pytest.mark.parametrize(("file_mode", "directory_mode"), [(0o444, 0o555), (0o600, 0o555), (0o444, 0o755)])
def test_store_that_cannot_be_written_can_be_read(open_place: Path, file_mode: int, directory_mode: int) -> None:
    place = open_place / "place"
    with Store.open(place / "store.db", create=True) as store:
        add(store, new_source(store), DATA)
    hand_over(place, place / "store.db")
    (place / "store.db").chmod(file_mode)
    place.chmod(directory_mode)

    def read() -> None:
        for options in ({}, {"create": True}, {"read_only": True}):
            with Store.open(place / "store.db", **options) as store:
                assert store.read_only
                assert [bytes_of(store, stream) for stream in store.streams()] == [DATA]
                with pytest.raises(StoreReadOnly):
                    new_source(store)

    as_other_user(read)
    place.chmod(0o755)


def test_store_that_a_crash_left_open_can_be_read_where_nothing_can_be_written(open_place: Path) -> None:
    place, copy = open_place / "place", open_place / "copy"
    with Store.open(place / "store.db", create=True) as store:
        add(store, new_source(store), DATA)
        shutil.copytree(place, copy)
    hand_over(copy, *copy.iterdir())
    copy.chmod(0o555)

    def read() -> None:
        with Store.open(copy / "store.db") as store:
            assert [bytes_of(store, stream) for stream in store.streams()] == [DATA]

    as_other_user(read)
    copy.chmod(0o755)


def test_place_where_no_store_can_be_made_is_said(open_place: Path) -> None:
    def make() -> None:
        with pytest.raises(StoreReadOnly, match="permission denied"):
            Store.open(open_place / "place" / "store.db", create=True)

    open_place.chmod(0o555)
    as_other_user(make)


def test_unreadable_store_is_said(open_place: Path) -> None:
    def read() -> None:
        with pytest.raises(StoreReadOnly):
            Store.open(open_place / "store.db")

    with Store.open(open_place / "store.db", create=True):
        pass
    hand_over(open_place / "store.db")
    (open_place / "store.db").chmod(0o000)
    as_other_user(read)


def test_second_writer_waits_then_says_busy(made: Path) -> None:
    with Store.open(made) as first, Store.open(made, wait=0.2) as second, first.writing():
        start = time.monotonic()
        with pytest.raises(StoreBusy):
            new_source(second, b"/b")
        assert 0.15 < time.monotonic() - start < 3


def test_second_writer_goes_on_when_the_first_is_done(made: Path) -> None:
    started = threading.Event()

    def write() -> None:
        with Store.open(made) as store, store.writing():
            started.set()
            time.sleep(0.3)

    thread = threading.Thread(target=write)
    with Store.open(made, wait=20) as store:
        thread.start()
        assert started.wait(20)
        assert new_source(store, b"/b") == 2
    thread.join()


def test_readers_do_not_wait_for_a_writer(made: Path) -> None:
    with Store.open(made) as writer, writing(writer), Store.open(made, wait=0) as reader:
        assert [bytes_of(reader, stream) for stream in reader.streams()] == [DATA]
        with Store.open(made, wait=0, read_only=True) as other:
            assert len(other.sources()) == 1  # what is not committed is not seen


def writing(store: Store):  # type: ignore[no-untyped-def]
    """Return a transaction in which a source was added."""

    class Transaction:
        def __enter__(self) -> None:
            self.inner = store.writing()
            self.inner.__enter__()
            store.add_source(b"/not yet")

        def __exit__(self, *error: object) -> None:
            self.inner.__exit__(*error)  # type: ignore[arg-type]

    return Transaction()


def test_snapshot_does_not_change(made: Path) -> None:
    with Store.open(made) as store, Store.open(made) as other:
        with store.database.snapshot():
            assert len(store.sources()) == 1
            new_source(other, b"/b")
            assert len(store.sources()) == 1
        assert len(store.sources()) == 2


def _make(path: Path, start: float, results: multiprocessing.Queue[str]) -> None:  # pragma: no cover
    time.sleep(max(0.0, start - time.time()))
    try:
        with Store.open(path, create=True) as store:
            new_source(store, str(os.getpid()).encode())
        results.put("")
    except BaseException as error:
        results.put(repr(error))


def test_several_processes_make_one_store(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        results: multiprocessing.Queue[str] = context.Queue()
        start = time.time() + 0.1
        children = [context.Process(target=_make, args=(path, start, results)) for _ in range(6)]
        for child in children:
            child.start()
        assert [results.get(timeout=30) for _ in children] == [""] * 6
        for child in children:
            child.join()
        with Store.open(path) as store:
            assert len(store.sources()) == 6
        shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (sqlite3.SQLITE_BUSY, "", StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "", StoreBusy),
        (sqlite3.SQLITE_LOCKED, "", StoreBusy),
        (sqlite3.SQLITE_FULL, "", StoreFull),
        (sqlite3.SQLITE_READONLY_DBMOVED, "", StoreReadOnly),
        (sqlite3.SQLITE_CANTOPEN, "", StoreReadOnly),
        (sqlite3.SQLITE_IOERR_WRITE, "disk I/O error", StoreReadOnly),
        (sqlite3.SQLITE_CORRUPT_INDEX, "", StoreDamaged),
        (sqlite3.SQLITE_NOTADB, "", StoreDamaged),
    ],
)
def test_errors_of_sqlite_become_ours(code: int, message: str, expected: type[Exception]) -> None:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    assert isinstance(translated(error, "s"), expected)


def test_error_of_our_own_statements_stays_what_it_is() -> None:
    error = sqlite3.ProgrammingError("Incorrect number of bindings supplied")
    assert translated(error, "s") is error


def test_failure_while_committing_is_translated(made: Path) -> None:
    with Store.open(made) as store:

        def fill() -> None:
            with store.writing() as connection:
                (pages,) = connection.execute("PRAGMA page_count").fetchone()
                connection.execute(f"PRAGMA max_page_count = {pages}")
                connection.execute("INSERT INTO chunk (hash, size, codec, data) VALUES (x'', 0, 0, zeroblob(100000))")

        with pytest.raises(StoreFull):
            fill()
        store.database.connection.execute("PRAGMA max_page_count = 100000")
        assert new_source(store, b"/b") == 2
