from __future__ import annotations

import json

import pytest

from tests.builders import build_session, entry_id, header_line, label_line


def entries(data: bytes) -> list[dict[str, object]]:
    return [json.loads(text) for text in data.splitlines()[1:]]


def test_graph_gives_parents_and_order_of_lines() -> None:
    found = [(e["id"], e["parentId"]) for e in entries(build_session("a-b-c, b-d, x"))]
    a, b, c, d, x = (entry_id(name) for name in "abcdx")
    assert found == [(a, None), (b, a), (c, b), (d, b), (x, None)]


def test_leaf_comes_last() -> None:
    assert entries(build_session("a-b-c, b-d", leaf="c"))[-1]["id"] == "cccccccc"
    with pytest.raises(ValueError, match="children"):
        build_session("a-b", leaf="a")


def test_roles_alternate_by_depth_and_times_advance() -> None:
    found = entries(build_session("a-b-c"))
    assert [e["message"]["role"] for e in found] == ["user", "assistant", "user"]  # type: ignore[index]
    assert [e["timestamp"] for e in found][:2] == ["2026-01-01T00:00:01.000Z", "2026-01-01T00:00:02.000Z"]


def test_keys_are_in_the_order_in_which_pi_writes_them() -> None:
    assert header_line("x", cwd="/w") == (
        b'{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}\n'
    )
    assert label_line("1", "2", "3", None) == (
        b'{"type":"label","id":"1","parentId":"2","timestamp":"2026-01-01T00:00:00.000Z","targetId":"3"}\n'
    )
    custom = build_session("a", kinds={"a": "custom"}, texts={"a": "mine"}).splitlines()[1]
    assert custom.startswith(b'{"type":"custom","customType":"mine","data":{},"id":"aaaaaaaa",')


def test_labels_follow_the_graph_and_one_another() -> None:
    found = entries(build_session("a-b", labels={"a": "start", "b": None}))
    assert [(e["parentId"], e.get("label")) for e in found[2:]] == [("bbbbbbbb", "start"), ("1abe0000", None)]


def test_ids_are_eight_hex_digits() -> None:
    names = ["a", "b1", "x1", "approach two", "deadbeef", "é"]
    assert [entry_id(name) for name in names][:3] == ["aaaaaaaa", "b1000000", "00007831"]
    assert all(len(entry_id(name)) == 8 and int(entry_id(name), 16) >= 0 for name in names)
