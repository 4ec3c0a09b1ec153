"""Every `--json` document: one JSON value that names its schema and has the documented fields."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION_ID, build_session, header_line, message_line
from tests.cli.conftest import Program

SESSION = {"path", "key", "id", "name", "cwd", "version", "parent_session", "head", "head_branch"}
ENTRY = {
    "entry", "oid", "parent", "parent_oid", "missing_parent", "type", "role", "time", "line", "offset", "length",
    "label", "branches", "tags", "head", "failed", "subject",
}  # fmt: skip
TURN = {"entries", "last", "oid", "parent", "prompt", "answer", "finished", "time"}
LISTED = {
    "path", "id", "key", "name", "first_prompt", "cwd", "time", "size", "entries", "tips", "branches", "state",
    "origin",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    extra = [b"{torn\n", message_line("99999999", "ffffffff"), b'{"pending']
    path.write_bytes(build_session("a-b-c, b-d", labels={"c": "good one"}, extra=extra))
    return path


def test_log(pivcs: Program, tree: Path):
    found = pivcs("log", "--json", "--all", tree)
    document = found.json
    assert found.code == 0
    assert list(document) == ["schema", "session", "entries"]
    assert document["schema"] == "pivcs.log/1"
    assert set(document["session"]) == SESSION
    assert all(set(entry) == ENTRY for entry in document["entries"])
    by_id = {entry["entry"]: entry for entry in document["entries"]}
    assert set(by_id) == {"99999999", "1abe0000", "dddddddd", "cccccccc", "bbbbbbbb", "aaaaaaaa"}
    c, orphan = by_id["cccccccc"], by_id["99999999"]
    assert (c["parent"], c["parent_oid"]) == ("bbbbbbbb", by_id["bbbbbbbb"]["oid"])
    assert (c["label"], c["line"], c["time"]) == ("good one", 4, "2026-01-01T00:00:03.000Z")
    assert (c["type"], c["role"], c["head"], c["failed"], c["subject"]) == ("message", "user", False, False, "c")
    assert (orphan["missing_parent"], orphan["parent"], orphan["head"]) == ("ffffffff", None, True)
    data = tree.read_bytes()
    for entry in by_id.values():
        record = data[entry["offset"] : entry["offset"] + entry["length"]]
        assert json.loads(record)["id"] == entry["entry"]


def test_count_and_order_hold_for_documents_too(pivcs: Program, tree: Path):
    document = pivcs("log", "--json", "-n", "2", "--reverse", tree, "good one").json
    assert [entry["entry"] for entry in document["entries"]] == ["bbbbbbbb", "cccccccc"]
    assert pivcs("log", "--json", "-n0", tree).json["entries"] == []


def test_turns(pivcs: Program, tree: Path):
    document = pivcs("log", "--turns", "--json", tree, "dddddddd").json
    assert (document["schema"], set(document["session"])) == ("pivcs.turns/1", SESSION)
    assert all(set(turn) == TURN for turn in document["turns"])
    assert [(turn["last"], turn["finished"], turn["prompt"]) for turn in document["turns"]] == [
        ("dddddddd", False, "d"),
        ("bbbbbbbb", True, "a"),
    ]


def test_show(pivcs: Program, tree: Path):
    document = pivcs("show", "--json", tree, "cccccccc", "HEAD").json
    assert document["schema"] == "pivcs.show/1"
    assert [set(entry) for entry in document["entries"]] == [ENTRY | {"value"}] * 2
    lines = tree.read_bytes().splitlines()
    assert document["entries"][0]["value"] == json.loads(lines[3])


def test_status(pivcs: Program, tree: Path):
    document = pivcs("status", "--json", tree).json
    assert document["schema"] == "pivcs.status/1"
    assert set(document) >= {
        "schema", "session", "size", "lines", "line_count", "nodes", "salvaged", "tips", "labels", "pending",
        "findings",
    }  # fmt: skip
    assert document["lines"] == {"header": 1, "entry": 6, "glued": 0, "foreign": 0, "damaged": 1, "blank": 0}
    assert document["line_count"] == 8
    assert document["session"]["id"] == SESSION_ID
    assert [finding["kind"] for finding in document["findings"]] == ["damaged-line", "missing-parent", "pending-line"]
    data = tree.read_bytes()
    torn = document["findings"][0]
    assert data[torn["offset"] :][: torn["length"]] == b"{torn"


def test_list(pivcs: Program, tree: Path, tmp_path: Path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    document = pivcs("ls", "--json", tmp_path).json
    assert document["schema"] == "pivcs.ls/1"
    assert [set(session) for session in document["sessions"]] == [LISTED] * 2
    assert [session["state"] for session in document["sessions"]] == [["damaged", "pending"], ["empty"]]


def test_empty_list_is_a_document_too(pivcs: Program, tmp_path: Path):
    found = pivcs("ls", "--json", tmp_path / "home")
    assert (found.code, found.json) == (10, {"schema": "pivcs.ls/1", "sessions": []})


def strange() -> bytes:
    """Values that JSON text for other readers cannot carry as they are."""
    lines = [
        '{"type":"message","id":"aaaaaaaa","parentId":"\\ud800","timestamp":"t",'
        '"message":{"role":"user","content":"half \\ud83d \\u202e \\u0000 a"}}',
        '{"type":"x","id":"\\udc00","parentId":"aaaaaaaa","timestamp":"9999-99-99","n":123456789012345678901234567890}',
        '{"type":"label","id":"bbbbbbbb","parentId":"\\udc00","targetId":"aaaaaaaa","label":"\\ud83d!"}',
        '{"type":"x","id":"cccccccc","parentId":"bbbbbbbb","n":1e400,"deep":' + "[" * 3000 + "]" * 3000 + "}",
    ]
    return (
        header_line(cwd="/w/\udcff".encode("utf-8", "surrogatepass").decode("latin-1"))
        + b"".join(line.encode() + b"\n" for line in lines)
        + message_line("dddddddd", "cccccccc").replace(b"text", b"te\xffxt")
    )


@pytest.mark.parametrize("arguments", [["log", "--all"], ["log", "--turns"], ["status"], ["ls"]])
def test_documents_are_json_for_every_reader_whatever_the_session_holds(
    pivcs: Program, tmp_path: Path, arguments: list[str]
):
    path = tmp_path / "s.jsonl"
    path.write_bytes(strange())
    found = pivcs(*arguments, "--json", path)
    assert found.code == 0
    assert b"\x00" not in found.out
    assert found.json["schema"].startswith("pivcs.")


def test_shown_values_keep_what_a_reader_of_json_accepts(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(strange())
    for name in ("aaaaaaaa", "bbbbbbbb", "dddddddd", "L3"):
        document: Any = json.loads(pivcs("show", "--json", path, name).out.decode("utf-8"))
        assert set(document["entries"][0]) == ENTRY | {"value"}
    value = json.loads(pivcs("show", "--json", path, "L3").out)["entries"][0]["value"]
    assert value["n"] == 123456789012345678901234567890
    text = pivcs("show", "--json", path, "aaaaaaaa").text
    assert "half \\ud83d" in text
    assert re.search(r'"missing_parent":"\ufffd"', text)
