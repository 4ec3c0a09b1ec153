"""Collecting makes the store smaller, takes nothing that is needed, and may run beside everything else."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from pivcs.objects.hashing import chunk_id
from pivcs.ops.fsck import fsck
from pivcs.ops.gc import Collected, collect_garbage, plan
from pivcs.store.content import ContentWriter
from pivcs.store.pieces import pack
from pivcs.store.store import Store
from tests.builders import message_line
from tests.cli.conftest import child_environment
from tests.ops.syncing import Box, facts, session, session_bytes, share
from tests.store.filling import bytes_of

BIG = session(9000)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path, Store.open(tmp_path / "store" / "store.db", create=True))


def put_unused(store: Store, count: int = 1) -> None:
    """Store chunks that no stream has, as a sync does that is killed."""
    for number in range(count):
        data = random.Random(number).randbytes(50_000)
        with store.writing() as connection:
            connection.execute(
                "INSERT INTO chunk (hash, size, codec, data) VALUES (?, ?, ?, ?)",
                (chunk_id(data).digest, len(data), *pack(data)),
            )


def words(count: int) -> bytes:
    """Return a line of words, which can be compressed well or less well."""
    chosen = random.Random(1)
    text = " ".join(chosen.choice(["when", "all", "trees", "fall", "at", "once"]) for _ in range(count))
    return message_line("12345678", content=text)


def state(box: Box) -> list[dict[str, object]]:
    return [facts(box.store, stream) for stream in box.store.streams()]


def good(store: Store) -> bool:
    return [finding for finding in fsck(store) if finding.severity == "error"] == []


def test_plan_changes_nothing_and_says_what_there_is_to_do(box: Box):
    box.put(BIG)
    put_unused(box.store, 3)
    before = box.changes()
    found = plan(box.store)
    assert box.changes() == before
    assert (found.applied, found.chunks, found.sessions, found.tails) == (False, 3, 0, 0)
    assert found.chunk_bytes >= 150_000
    assert found.loose == box.store.database.connection.execute("SELECT count(*) FROM chunk").fetchone()[0] + 1
    assert found.loose_bytes == len(BIG) + 150_000
    assert found.size_before == found.size_after >= (box.directory / "store" / "store.db").stat().st_size
    assert not found.nothing


def test_streams_are_as_they_were_and_the_file_is_smaller(box: Box):
    box.put(BIG[:-300])
    box.put(BIG)
    box.put(session(8))
    box.put(session(500, 3) + words(100_000), "other.jsonl")
    put_unused(box.store, 20)
    before = state(box)
    done = collect_garbage(box.store)
    assert state(box) == before
    assert done.chunks == 20
    assert done.saved > 0
    assert done.size_after < done.size_before - 20 * 50_000
    assert done.size_after == (box.directory / "store" / "store.db").stat().st_size
    assert list(fsck(box.store)) == []


def test_second_run_has_nothing_to_do(box: Box):
    box.put(BIG)
    box.put(session(3) + message_line("aaaaaaaa", content=random.Random(1).randbytes(40_000).hex()), "other.jsonl")
    collect_garbage(box.store)
    before = box.changes()
    assert plan(box.store).nothing
    assert collect_garbage(box.store).nothing
    assert box.changes() == before


def test_bytes_that_cannot_be_compressed_are_tried_once(box: Box):
    from pivcs.store.collect import loosely_packed, repack

    put_unused(box.store)
    found = loosely_packed(box.store.database)
    assert len(found) == 1
    assert repack(box.store.database, found, lambda _: None).count == 1
    assert loosely_packed(box.store.database) == []


def test_tail_in_pieces_is_put_together_and_can_go_on(box: Box):
    box.put(session(3))
    data = session(3)
    for number in range(9):
        data += message_line(f"{number:08x}", content="more")
        box.append(data[box.path.stat().st_size :])
        box.sync()
    pieces = "SELECT count(*) FROM tail"
    assert box.store.database.connection.execute(pieces).fetchone()[0] == 10
    assert collect_garbage(box.store).tails == 1
    assert box.store.database.connection.execute(pieces).fetchone()[0] == 1
    box.put(data + message_line("ffffffff", content="the last"))
    assert box.cat(box.path) == box.path.read_bytes()
    assert good(box.store)


def test_damaged_chunk_is_left_as_it_is(box: Box):
    box.put(BIG)
    connection = box.store.database.connection
    connection.execute("UPDATE chunk SET data = x'28b52ffd00' WHERE id = 1")
    connection.execute("UPDATE chunk SET hash = zeroblob(32) WHERE id = 2")
    damaged = connection.execute("SELECT * FROM chunk WHERE id IN (1, 2)").fetchall()
    assert collect_garbage(box.store).damaged == 2
    assert connection.execute("SELECT * FROM chunk WHERE id IN (1, 2)").fetchall() == damaged


def test_session_without_a_stream_is_removed_unless_something_refers_to_it(box: Box):
    box.put(session(2))
    connection = box.store.database.connection
    connection.execute("INSERT INTO session (key) VALUES (x'01'), (x'02')")
    connection.execute("CREATE TABLE later (session INTEGER REFERENCES session)")
    connection.execute("INSERT INTO later SELECT id FROM session WHERE key = x'02'")
    assert collect_garbage(box.store).sessions == 1
    assert sorted(key[:1] for key in box.store.session_keys())[0] == b"\2"
    assert len(box.store.session_keys()) == 2


def test_chunks_of_a_sync_under_way_are_left_alone(box: Box, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pivcs.store.content.COMMIT_EVERY", 1 << 16)
    writer: ContentWriter | None = box.store.writer(None)
    assert writer is not None
    writer.add(BIG)
    (chunks,) = box.store.database.connection.execute("SELECT count(*) FROM chunk").fetchone()
    assert chunks > 0
    done = collect_garbage(box.store)
    assert (done.skipped, done.chunks) == (True, 0)
    del writer
    done = collect_garbage(box.store)
    assert (done.skipped, done.chunks) == (False, chunks)


def test_store_made_without_a_map_of_pages_gives_space_back_as_well(tmp_path: Path):
    import sqlite3

    from pivcs.store import schema

    path = tmp_path / "store.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(schema.TABLES)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {schema.FORMAT_VERSION}")
    connection.close()
    with Store.open(path) as store:
        assert store.database.connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 0
        put_unused(store, 20)
        done = collect_garbage(store)
        assert done.size_after < done.size_before - 20 * 50_000
        assert plan(store).free == 0


@share(0.1)
@given(session_bytes(), session_bytes())
def test_any_session_comes_through(tmp_path_factory: pytest.TempPathFactory, one: bytes, other: bytes):
    box = Box(tmp_path_factory.mktemp("box"))
    box.put(one)
    box.put(one + other)
    box.put(other)
    before = state(box)
    assert isinstance(collect_garbage(box.store), Collected)
    assert state(box) == before
    assert good(box.store)
    box.put(other + one)
    assert box.cat(box.path) == other + one
    assert good(box.store)


SYNC = """
import sys
from pathlib import Path
from pivcs.ops.sync import sync_file
from pivcs.store import content
from pivcs.store.store import Store
content.COMMIT_EVERY = 1 << 16
store, directory, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for number in range(rounds):
    path = directory / f"{number % 5}.jsonl"
    data = (directory / "all").read_bytes()[(number % 3) * 100_000 :]
    path.write_bytes(data[: 400_000 + number * 10_000])
    with Store.open(store, wait=60) as opened:
        assert sync_file(opened, path, number).stream.size == path.stat().st_size
"""


def test_collecting_in_a_loop_beside_syncs_loses_nothing(tmp_path: Path):
    (tmp_path / "all").write_bytes(BIG)
    path = tmp_path / "store" / "store.db"
    Store.open(path, create=True).close()
    rounds = 25
    syncs = subprocess.Popen(
        [sys.executable, "-c", SYNC, path, tmp_path, str(rounds)], env=child_environment(), stderr=subprocess.PIPE
    )
    runs = 0
    try:
        while syncs.poll() is None:
            with Store.open(path, wait=60) as store:
                collect_garbage(store)
            runs += 1
    finally:
        syncs.kill()
        _, complaints = syncs.communicate()
    assert (complaints, syncs.returncode) == (b"", 0)
    assert runs > 1
    with Store.open(path) as store:
        assert good(store)
        assert len(store.streams()) >= 5
        for stream in store.current_streams():
            source = store.source(stream.source)
            assert source is not None
            assert bytes_of(store, stream) == Path(source.path.decode()).read_bytes()
