"""What `docs/format.md`, "Store" says is enough to read a store: `plain_reader.py` gets everything back."""

from __future__ import annotations

import ast
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import pytest
from blake3 import blake3

from pivcs.ops.sync import sync_file
from pivcs.store.store import Store
from tests.builders import CLOCK, build_session, header_line, label_line, line, message_line
from tests.objects import reference
from tests.store import plain_reader
from tests.store.plain_reader import KINDS, OTHER_ID, POSITIONAL, RECORD, TAKEN, PlainReader, Row

_TORN = message_line("bbbbbbbb", "aaaaaaaa", "assistant", "Half of it.")[:60]
_NOT_UTF8 = message_line("bbbbbbbb", "aaaaaaaa", content="\xe9").replace("\xe9".encode(), b"\xe9")
_LONE = label_line("LONE", "aaaaaaaa", "aaaaaaaa", "x").replace(b"LONE", b"\\ud800-\\u00e9")
_GROWTH = b"".join(
    message_line(f"{number:08x}", f"{number - 1:08x}" if number else None, content="All work. " * 12)
    for number in range(9_000)
)
_IMAGE = message_line("1mage", None, content=[{"type": "image", "data": "iVBORw0KGgo" * 9_000}])

SESSIONS: dict[str, bytes] = {
    "tree": build_session("a-b-c, b-d", labels={"b": "fork"}),
    "glued": b"".join(
        [
            build_session("a"),
            _TORN,
            label_line("11111111", "aaaaaaaa", "aaaaaaaa", "x")[:-1],
            label_line("22222222", "11111111", "aaaaaaaa", "y"),
            label_line("33333333", "22222222", "aaaaaaaa", "z"),
        ]
    ),
    "glued header": header_line() + b"\0\0" + header_line("other")[:-1] + message_line("aaaaaaaa"),
    "other ids": b"".join(
        [
            build_session("a"),
            _LONE,
            message_line("ABCDEF01", "aaaaaaaa"),
            message_line("caf\xe9 \U0001f375", "ABCDEF01"),
            message_line("", "caf\xe9 \U0001f375"),
            message_line("dddddddd", ""),
        ]
    ),
    "odd lines": build_session("a") + b"\r\n\n[1]\n\0\0\n" + _NOT_UTF8,
    "orphan and doubled": build_session("a-b") + message_line("cccccccc", "99999999") * 2,
    "version 1": header_line(version=None) + line({"type": "message", "message": {"role": "user"}}) * 2 + line({}),
    "pending": build_session("a-b") + b'{"type":"mess',
    "only pending": b"{",
    "no header": build_session("a-b", header=b""),
    "empty": b"",
    "several chunks and segments": header_line() + _GROWTH + _IMAGE,
    "long tail": header_line() + _GROWTH[:100_000],
}


class Stores:
    """A store that session files are synced into, and what is read from it without pivcs."""

    def __init__(self, place: Path) -> None:
        self.path = place / "store.db"
        self.file = place / "session.jsonl"
        self._store = Store.open(self.path, create=True)
        self._readers: list[PlainReader] = []

    def sync(self, data: bytes) -> None:
        self.file.write_bytes(data)
        sync_file(self._store, self.file, CLOCK)

    def read(self) -> tuple[PlainReader, list[int]]:
        reader = PlainReader(self.path)
        self._readers.append(reader)
        return reader, reader.generations(os.path.realpath(self.file).encode())

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        self._store.close()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    made = Stores(tmp_path)
    yield made
    made.close()


def records(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.oid is not None]


def value_of(data: bytes, row: Row) -> dict[str, object]:
    value = json.loads(data[row.offset : row.offset + row.length].decode("utf-8", "replace"))
    assert isinstance(value, dict)
    return value


def check(reader: PlainReader, stream: int, data: bytes) -> list[Row]:
    """Compare everything that is kept of a stream with what the format says of its bytes; return its rows."""
    assert reader.bytes_of(stream) == data
    rows = reader.rows_of(stream)
    lines = data.split(b"\n")
    pending = lines.pop()
    assert reader.column(stream, "line_end") == len(data) - len(pending)
    whole = [row for row in rows if row.kind != TAKEN]
    assert [data[row.offset : row.offset + row.length] for row in whole] == lines
    assert [row.line for row in whole] == list(range(1, len(lines) + 1))
    check_nodes(data, rows, version1=bool(reader.column(stream, "version1")))
    check_key(reader, stream, data, whole)
    last = records(rows)[-1:]
    standing = reader.column(stream, "last_row")
    assert reader.column(stream, "last_oid") == (bytes.fromhex(last[0].oid or "") if last else None)
    assert standing == (next(at for at, row in enumerate(rows) if row.oid == last[0].oid) if last else None)
    return rows


def check_nodes(data: bytes, rows: Sequence[Row], *, version1: bool) -> None:
    latest: dict[object, bytes] = {}
    seen: set[bytes] = set()
    before: bytes | None = None
    for row in records(rows):
        value, record = value_of(data, row), data[row.offset : row.offset + row.length]
        wanted = before if version1 else latest.get(value.get("parentId")) if value.get("parentId") else None
        oid = blake3((wanted or bytes(32)) + record, derive_key_context="pivcs node v1").digest()
        assert row.oid == oid.hex()
        parent = rows[row.parent] if row.parent is not None else None
        assert (parent.oid if parent else None) == (wanted.hex() if wanted else None)
        assert parent is None or not parent.flags & 128
        assert bool(row.flags & 128) == (oid in seen)
        assert bool(row.flags & POSITIONAL) == version1
        if not version1:
            assert row.name == value["id"]
            assert bool(row.flags & 4) == (wanted is None and value.get("parentId") is not None)
            latest[value["id"]] = oid
        seen.add(oid)
        before = oid


def check_key(reader: PlainReader, stream: int, data: bytes, lines: Sequence[Row]) -> None:
    headers = [value_of(data, row) for row in lines if KINDS[row.kind] == "header"]
    first = [data[row.offset : row.offset + row.length] for row in lines if KINDS[row.kind] != "blank"]
    if headers:
        assert reader.key(stream) == reference.session_key(str(headers[0]["id"]), str(headers[0]["timestamp"]))
    else:
        assert reader.key(stream) == (reference.headerless_key(first[0]) if first else None)


def test_plain_reader_knows_nothing_of_pivcs() -> None:
    tree = ast.parse(Path(plain_reader.__file__).read_text(encoding="utf-8"))
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {name.split(".")[0] for name in named} & {"pivcs", "tests"} == set()
    assert "zstandard" in named


@pytest.mark.parametrize("name", SESSIONS)
def test_session_comes_back(name: str, stores: Stores) -> None:
    stores.sync(SESSIONS[name])
    reader, (stream,) = stores.read()
    check(reader, stream, SESSIONS[name])


@pytest.mark.parametrize("name", SESSIONS)
def test_session_comes_back_that_was_synced_as_it_grew(name: str, stores: Stores) -> None:
    data = SESSIONS[name]
    step = max(1, len(data) // 7)
    for end in [*range(0, len(data), step), len(data)]:
        stores.sync(data[:end])
    reader, (stream,) = stores.read()
    check(reader, stream, data)


def test_two_generations_and_shared_chunks(stores: Stores) -> None:
    first = SESSIONS["several chunks and segments"]
    second = header_line() + line({"type": "custom", "customType": "n", "id": "f", "parentId": None}) + first[200:]
    for data in (first, second, second[:-1], second):
        stores.sync(data)
    reader, streams = stores.read()
    assert len(streams) == 3
    for stream, data in zip(streams, (first, second, second), strict=True):
        check(reader, stream, data)
    used = reader.db.execute("SELECT count(*), count(DISTINCT chunk) FROM stream_chunk").fetchone()
    assert used[0] > 2 * used[1] > 6
    kinds = [kind for (kind,) in reader.db.execute("SELECT kind FROM event ORDER BY id")]
    assert kinds == ["rewritten", "truncated"]


@pytest.mark.parametrize("name", ["a run of base64", "lines of base64", "no line end"])
def test_chunks_are_cut_and_named_as_the_format_says(name: str, stores: Stores) -> None:
    (vector,) = (each for each in reference.load("chunks.json")["streams"] if each["name"] == name)
    data = reference.made(vector["recipe"])
    stores.sync(data)
    reader, (stream,) = stores.read()
    found = reader.db.execute(
        "SELECT stream_chunk.offset + size, hash FROM stream_chunk JOIN chunk ON chunk.id = chunk "
        "WHERE stream = ? ORDER BY stream_chunk.offset",
        (stream,),
    ).fetchall()
    certain = len(vector["ends"])
    assert [end for end, _ in found[:certain]] == vector["ends"]
    assert [digest.hex() for _, digest in found[:certain]] == vector["ids"]
    assert reader.bytes_of(stream) == data
    assert len(data) - int(reader.column(stream, "tail_start")) < (1 << 20) + (32 << 10)  # type: ignore[call-overload]


def test_kinds_and_names_of_a_glued_line(stores: Stores) -> None:
    stores.sync(SESSIONS["glued"])
    reader, (stream,) = stores.read()
    rows = reader.rows_of(stream)
    assert [row.kind for row in rows] == [0, 1, 2, TAKEN, TAKEN, 1]
    assert [row.name for row in rows] == [None, "aaaaaaaa", None, "11111111", "22222222", "33333333"]
    assert [row.line for row in rows] == [1, 2, 3, 3, 3, 4]


def test_names_in_version_1_are_positions(stores: Stores) -> None:
    data = SESSIONS["version 1"] + b'{"torn' + b'{"type":"label","id":"a","parentId":null}' * 2 + b"\n"
    stores.sync(data)
    reader, (stream,) = stores.read()
    assert [row.name for row in check(reader, stream, data)][1:] == ["L2", "L3", "L4", None, "L5", "L5.2"]


def test_flags_codes_and_times(stores: Stores) -> None:
    data = build_session(
        "a-b-c-d", kinds={"a": "user", "b": "tool", "c": "error", "d": "compaction"}, labels={"a": "x"}
    ) + line({"type": "new kind", "id": "\xe9", "parentId": "1abe0000", "timestamp": "2026-02-30T10:00"})
    stores.sync(data.replace('"\xe9"'.encode(), b'"\xe9"'))
    reader, (stream,) = stores.read()
    rows = reader.rows_of(stream)
    assert [row.code for row in rows] == [1, 17, 18, 19, 4, 8, 0]
    assert [row.flags & ~RECORD & ~OTHER_ID for row in rows] == [0, 0, 32, 64, 0, 0, 16]
    march_2 = 1_772_445_600_000
    assert [row.time for row in rows] == [CLOCK, *(CLOCK + 1000 * at for at in range(1, 6)), march_2]
    assert rows[-1].name == "\ufffd"


def test_known_ids_are_those_of_full_segments(stores: Stores) -> None:
    data = SESSIONS["several chunks and segments"]
    rows = _rows(stores, data)[:8192]
    places = [(int(value_of(data, row)["id"], 16), at) for at, row in enumerate(rows) if row.oid]  # type: ignore[arg-type]
    reader, (stream,) = stores.read()
    assert reader.known(stream) == sorted(places)
    assert len(reader.known(stream)) == 8191
    assert reader.db.execute("SELECT first_row, row_count FROM segment WHERE row_count = 4096").fetchall() == [
        (0, 4096),
        (4096, 4096),
    ]


def test_known_number_of_another_id_is_its_crc(stores: Stores) -> None:
    others = [f"other {number} \xe9" for number in range(4095)]
    data = header_line() + b"".join(message_line(name, None) for name in others)
    stores.sync(data)
    reader, (stream,) = stores.read()
    assert reader.known(stream) == sorted((crc32(name.encode()), row) for row, name in enumerate(others, 1))


def _rows(stores: Stores, data: bytes) -> list[Row]:
    stores.sync(data)
    reader, (stream,) = stores.read()
    return reader.rows_of(stream)


@pytest.mark.parametrize("size", [0, 1, 7, 100, 4095, 50_001])
def test_probes_are_pieces_of_the_bytes(size: int, stores: Stores) -> None:
    data = (SESSIONS["long tail"])[:size]
    stores.sync(data)
    reader, (stream,) = stores.read()
    probes = reader.probes(stream)
    places = [(0, min(4096, size)), *((size * k // 8, 64) for k in range(1, 8)), (max(0, size - 4096), 4096)]
    wanted = [(at, min(length, size - at)) for at, length in places] if size else []
    assert [(offset, length) for offset, length, _ in probes] == wanted
    assert all(digest == blake3(data[at : at + length]).digest()[:16] for at, length, digest in probes)


def test_growth_moves_only_the_last_probe(stores: Stores) -> None:
    whole = header_line() + message_line("aaaaaaaa", content="word " * 600_000)
    assert len(whole) > 2 << 20
    stores.sync(whole)
    reader, (stream,) = stores.read()
    before = reader.probes(stream)
    stores.sync(whole + b"\n")
    after = reader.probes(stream)
    assert before[:-1] == after[:-1]
    assert after[-1][0] == before[-1][0] + 1
    assert reader.column(stream, "verified_size") == len(whole)


def test_store_of_another_version_or_feature_is_refused(stores: Stores) -> None:
    stores.sync(SESSIONS["tree"])
    stores.close()
    other = sqlite3.connect(stores.path, isolation_level=None)
    other.execute("INSERT INTO feature VALUES ('unknown')")
    with pytest.raises(ValueError, match="newer"):
        PlainReader(stores.path)
    other.execute("DELETE FROM feature")
    other.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="newer"):
        PlainReader(stores.path)
    other.close()
