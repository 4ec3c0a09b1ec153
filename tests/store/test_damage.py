"""What SQLite gives from a damaged file is told from what was written, and said to be damage."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pivcs.store.database import open_database
from pivcs.store.errors import DAMAGE_HINT, StoreDamaged, StoreReadOnly
from pivcs.store.pieces import pack, unpack
from pivcs.store.store import Store
from tests.store.filling import add, bytes_of, new_source

DATA = b"".join(b'{"type":"message","id":"%08x","parentId":null}\n' % at for at in range(8000))
"""A chunk or two, and a tail."""


def changed(data: bytes) -> bytes:
    """Return bytes with one bit flipped in the middle."""
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


@pytest.mark.parametrize("table", ["chunk", "tail"])
def test_bytes_that_unpack_to_others_are_damage(table: str):
    with Store.in_memory() as store:
        stream = add(store, new_source(store), DATA)
        assert bytes_of(store, stream) == DATA
        with store.writing() as connection:
            ident, codec, data, size = connection.execute(f"SELECT id, codec, data, size FROM {table}").fetchone()
            codec, packed = pack(changed(unpack(codec, data, size)))
            connection.execute(f"UPDATE {table} SET codec = ?, data = ? WHERE id = ?", (codec, packed, ident))
        named = "chunk 1 of stream 1 is not what its hash says" if table == "chunk" else "checksum is wrong"
        with pytest.raises(StoreDamaged, match=named):
            bytes_of(store, stream)


def test_flipped_bit_in_rows_is_damage():
    with Store.in_memory() as store:
        stream = add(store, new_source(store), DATA)
        with store.writing() as connection:
            (data,) = connection.execute("SELECT data FROM segment WHERE first_row = 0").fetchone()
            connection.execute("UPDATE segment SET data = ? WHERE first_row = 0", (changed(data),))
        with pytest.raises(StoreDamaged, match="checksum of the rows from 0 on"):
            store.table_of(stream)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE stream SET size = size - 1",
        "UPDATE stream SET size = size + 1",
        "UPDATE stream SET size = NULL",
        "UPDATE stream SET summary = 'text'",
        "UPDATE stream SET last_row = row_count",
        "UPDATE stream SET conversation = -1",
        "UPDATE stream SET tail_start = tail_start + 1",
        "UPDATE stream_chunk SET offset = offset + 1 WHERE offset > 0",
        "UPDATE stream_chunk SET offset = 1 WHERE offset = 0",
        "UPDATE tail SET offset = offset + 1 WHERE id = (SELECT max(id) FROM tail)",
        "UPDATE tail SET size = size + 1",
        "UPDATE chunk SET size = 1 << 60",
        "UPDATE chunk SET data = 'text'",
        "UPDATE source SET path = 7",
    ],
)
def test_stream_whose_numbers_do_not_fit_is_damage(tmp_path: Path, change: str):
    with Store.open(tmp_path / "s.db", create=True) as store:
        add(store, new_source(store), DATA)
        connection = store.database.connection
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '')  WHERE name = 'stream'")
    raw = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    raw.execute(change)
    raw.close()
    with Store.open(tmp_path / "s.db") as store, pytest.raises(StoreDamaged):
        list(store.sources() and (bytes_of(store, stream) for stream in store.streams()))


def test_lost_column_or_table_is_damage_with_the_hint_to_look(tmp_path: Path):
    Store.open(tmp_path / "s.db", create=True).close()
    raw = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    raw.execute("ALTER TABLE event RENAME COLUMN detail TO details")
    raw.execute("ALTER TABLE stream RENAME COLUMN size TO sizes")
    raw.close()
    with Store.open(tmp_path / "s.db") as store:
        for look in (store.streams, lambda: store.events_of([1])):
            with pytest.raises(StoreDamaged, match="no such column") as caught:
                look()
            assert caught.value.hint == DAMAGE_HINT


@pytest.mark.parametrize("change", ["DROP TABLE feature", "PRAGMA user_version = 0", "PRAGMA application_id = 1"])
def test_store_that_cannot_be_opened_does_not_send_to_fsck(tmp_path: Path, change: str):
    Store.open(tmp_path / "s.db", create=True).close()
    raw = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    raw.execute(change)
    raw.close()
    with pytest.raises(StoreDamaged) as caught:
        open_database(tmp_path / "s.db", create=False)
    assert caught.value.hint is not None
    assert "fsck" not in caught.value.hint
    assert "backup" in caught.value.hint


def test_first_error_is_told_when_sqlite_has_ended_the_transaction_itself(tmp_path: Path):
    with Store.open(tmp_path / "s.db", create=True) as store:
        for block in (store.database.snapshot, store.database.writing):
            with pytest.raises(StoreReadOnly, match="disk I/O"), block() as connection:  # noqa: PT012
                connection.execute("ROLLBACK")  # as SQLite does when a page cannot be written
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR
                raise error
