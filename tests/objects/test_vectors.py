"""The vectors of `docs/format.md`: pivcs, a second implementation in `reference.py`, and b3sum agree on them."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from blake3 import blake3

from pivcs.objects.chunking import LOOK_AHEAD, cut_chunks
from pivcs.objects.hashing import chunk_id, headerless_key, node_id, session_key, whole_hash
from pivcs.objects.index import index_source
from pivcs.objects.oid import ObjectId
from pivcs.objects.table import NODE
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind
from pivcs.session.lines import SALVAGED
from pivcs.session.source import BytesSource
from tests.objects import reference

NODES = reference.load("nodes.json")["sessions"]
KEYS = reference.load("keys.json")
STREAMS = reference.load("chunks.json")["streams"]


def by_name(vectors: list[dict[str, Any]]) -> Any:
    assert len({vector["name"] for vector in vectors}) == len(vectors) > 0
    return pytest.mark.parametrize("vector", vectors, ids=lambda vector: vector["name"])


@by_name(NODES)
def test_nodes_of_a_session(vector: dict[str, Any]):
    data = reference.bytes_of(vector)
    table, reader = index_source(BytesSource(data))
    rows = [row for row in range(len(table)) if table.flags[row] & NODE]
    assert [table.object_id(row).hex for row in rows] == vector["oids"]
    bounds = [[table.offset[row], table.offset[row] + table.length[row]] for row in rows]
    assert bounds == vector["records"]
    kinds = [LineKind(kind).name.lower() for kind in table.kind if kind != SALVAGED]
    assert kinds == vector["lines"]
    assert sum(1 for _ in table.nodes()) == vector["nodes"] == len(set(vector["oids"]))
    assert table.pending == vector["pending"]
    assert bool(reader.version1) is vector["version1"]


@by_name(NODES)
def test_node_ids_by_the_reference(vector: dict[str, Any]):
    data = reference.bytes_of(vector)
    assert reference.node_ids(data, vector["records"], version1=vector["version1"]) == vector["oids"]


def test_each_node_id_is_a_function_of_parent_and_record():
    checked = 0
    for vector in NODES:
        data = reference.bytes_of(vector)
        table, _ = index_source(BytesSource(data))
        for row in range(len(table)):
            if table.flags[row] & NODE and row not in table.forgotten_rows():
                parent = table.parent_of(row)
                record = data[table.offset[row] :][: table.length[row]]
                oid = node_id(None if parent is None else table.object_id(parent), record)
                assert oid == table.object_id(row)
                checked += 1
    assert checked > 40


@pytest.mark.parametrize("vector", KEYS["sessions"], ids=lambda vector: ascii(vector["id"])[:20])
def test_session_key(vector: dict[str, Any]):
    assert session_key(vector["id"], vector["timestamp"]).hex == vector["key"]
    assert reference.session_key(vector["id"], vector["timestamp"]) == vector["key"]


def test_session_keys_tell_texts_apart_that_join_to_the_same():
    keys = [vector["key"] for vector in KEYS["sessions"]]
    assert len(set(keys)) == len(keys)
    assert session_key("ab", "c") != session_key("a", "bc")


@pytest.mark.parametrize("vector", KEYS["headerless"])
def test_headerless_key(vector: dict[str, Any]):
    line = reference.bytes_of(vector)
    assert headerless_key([line[:3], line[3:]]).hex == vector["key"]
    assert reference.headerless_key(line) == vector["key"]


@by_name(KEYS["files"])
def test_key_of_a_file(vector: dict[str, Any]):
    source = BytesSource(reference.bytes_of(vector))
    view = SessionView(index_source(source)[0], source, vector["name"])
    assert (view.key.hex if view.key else None) == vector["key"]


@by_name(STREAMS)
def test_cuts_of_a_stream(vector: dict[str, Any]):
    data = reference.made(vector["recipe"])
    assert (len(data), whole_hash([data]).hex()) == (vector["size"], vector["blake3"])
    cuts = cut_chunks(data)
    assert cuts[: len(vector["ends"])] == vector["ends"]
    pieces = zip([0, *vector["ends"]], vector["ends"], strict=False)
    assert [chunk_id(data[start:end]).hex for start, end in pieces] == vector["ids"]
    assert len(data) - (vector["ends"] or [0])[-1] < LOOK_AHEAD


def test_derive_key_contexts_differ_from_each_other_and_from_a_plain_hash():
    data = bytes(32) + b"record"
    found = {node_id(None, b"record"), headerless_key([data]), chunk_id(data)}
    assert len(found) == 3
    assert chunk_id(data).hex == blake3(data).hexdigest()


def test_object_ids_are_typed_and_of_one_size():
    oid = chunk_id(b"x")
    assert ObjectId.from_hex(str(oid)) == oid
    assert {oid: 1}[ObjectId(oid.digest)] == 1
    for wrong in ("", "00", oid.hex + "00", "zz" * 32):
        with pytest.raises(ValueError, match=r"object id|hexadecimal"):
            ObjectId.from_hex(wrong)


@pytest.mark.skipif(shutil.which("b3sum") is None, reason="b3sum is not installed")
def test_public_b3sum_confirms_the_vectors():
    def b3sum(context: str | None, data: bytes) -> str:
        command = ["b3sum", "--no-names", *(["--derive-key", context] if context else [])]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().strip()

    for vector in NODES[:6]:
        data = reference.bytes_of(vector)
        latest: dict[str | None, bytes] = {}
        before = bytes(32)
        for (start, end), oid in zip(vector["records"], vector["oids"], strict=True):
            value = json.loads(data[start:end])
            parent = before if vector["version1"] else latest.get(value.get("parentId"), bytes(32))
            assert b3sum("pivcs node v1", parent + data[start:end]) == oid
            before = latest[value.get("id")] = bytes.fromhex(oid)
    for vector in KEYS["headerless"]:
        assert b3sum("pivcs headerless v1", reference.bytes_of(vector)) == vector["key"]
    stream = STREAMS[0]
    data = reference.made(stream["recipe"])
    assert b3sum(None, data[: stream["ends"][0]]) == stream["ids"][0]
