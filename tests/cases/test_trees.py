"""Faults of ids and links: repeated ids, circles, gaps, depth, order. Numbers are those of the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops import log as ops
from tests.builders import entry_line, header_line, message_line, tool_call_line, tool_result_line
from tests.cases.files import E, H, found, ids, opened, texts
from tests.cli.conftest import Program
from tests.ops.test_size import chain


def test_repeated_line_is_one_node(tmp_path: Path):
    """case 39"""
    view = opened(tmp_path, H + E("a") + E("b", "a") + E("b", "a") + E("c", "b"))
    assert ids(view) == ["a", "b", "c"]
    assert len(view.tips()) == 1


def test_repeated_id_with_other_bytes_is_another_node_and_children_take_the_last(tmp_path: Path):
    """case 39"""
    view = opened(tmp_path, H + E("a") + E("b", "a", "one") + E("b", "a", "two") + E("c", "b"))
    assert ids(view) == ["a", "b", "b", "c"]
    assert texts(view) == ["text", "one", "two", "text"]
    parent = view.table.parent_of(4)
    assert parent is not None
    assert view.subject(parent) == "two"


def test_repeated_id_below_other_parents_ends(tmp_path: Path, pivcs: Program):
    """case 39"""
    view = opened(tmp_path, H + E("a") + E("b", "a") + E("c", "b") + E("b", "c") + E("d", "b"))
    assert len(ops.rows_of_tree(view)) == 5
    assert pivcs("log", "--graph", tmp_path / "session.jsonl").text.count("bbbbbbbb") == 2


@pytest.mark.parametrize(
    ("lines", "roots"),
    [
        ([E("a", "a")], 1),
        ([E("a", "b"), E("b", "a")], 1),
        ([E("a", "c"), E("b", "a"), E("c", "b")], 1),
        ([E("b", "a"), E("a")], 2),
    ],
    ids=["own parent", "circle of two", "circle of three", "child before parent"],
)
def test_circles_and_forward_references_end(tmp_path: Path, pivcs: Program, lines: list[bytes], roots: int):
    """case 40"""
    view = opened(tmp_path, H + b"".join(lines))
    rows = ops.rows_of_tree(view)
    assert len(rows) == len(lines)
    assert sum(view.table.parent_of(row) is None for row in rows) == roots
    assert ("missing-parent", 2) in found(view)
    for arguments in (["log"], ["log", "--graph"], ["log", "--turns"], ["status"]):
        assert pivcs(*arguments, tmp_path / "session.jsonl").code == 0


def test_every_command_answers_for_a_chain_of_20_000(tmp_path: Path, pivcs: Program):
    """case 41"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(chain(20_000))
    assert len(pivcs("log", "--oneline", path).lines) == 20_000
    assert len(pivcs("log", "--graph", path, "-n", "100").lines) >= 100
    assert len(pivcs("log", "--json", path).json["entries"]) == 20_000
    assert pivcs("log", "--turns", path).code == 0
    assert pivcs("show", path, "HEAD~19999").lines[0] == "entry 00000000"
    assert "20,000 entries, 1 tip" in pivcs("status", path).text


def test_missing_line_in_the_middle_loses_no_other_entry(tmp_path: Path, pivcs: Program):
    """case 43"""
    lines = chain(100).splitlines(keepends=True)
    removed = lines.pop(50)
    assert b'"id":"00000031"' in removed
    view = opened(tmp_path, b"".join(lines))
    assert len(ids(view)) == 99
    assert found(view) == [("missing-parent", 51)]
    text = pivcs("log", "--graph", "--full", tmp_path / "session.jsonl").text
    assert text.count(" user: entry ") == 99
    assert "[parent 00000031 is missing]" in text


def test_children_of_one_node_are_all_shown(tmp_path: Path):
    """case 43"""
    data = H + E("a") + E("b", "a") + E("c", "b")
    for number, parent in enumerate("aabbcc"):
        data += E(f"0000000{number}", parent)
    view = opened(tmp_path, data)
    assert len(ops.rows_of_tree(view)) == 9
    assert [len(view.children[row]) for row in (1, 2, 3)] == [3, 3, 2]
    assert len(view.tips()) == 6


def test_result_before_its_call_is_shown(tmp_path: Path, pivcs: Program):
    """case 52"""
    result = tool_result_line("aaaaaaaa", "bbbbbbbb", "bash", "done", call_id="1")
    call = tool_call_line("bbbbbbbb", None, "bash", {"command": "ls"}, call_id="1")
    view = opened(tmp_path, header_line() + result + call)
    assert ids(view) == ["a", "b"]
    assert found(view) == [("missing-parent", 2)]
    for arguments in (["log", "--graph"], ["log", "--turns"], ["log", "--all", "--json"]):
        assert pivcs(*arguments, tmp_path / "session.jsonl").code == 0


def test_entry_that_resuming_adds_moves_the_position_and_nothing_else(tmp_path: Path):
    """case 52"""
    before = opened(tmp_path, H + E("a") + message_line("b" * 8, "a" * 8, "assistant"))
    digests = [before.table.digest(row) for row in before.table.nodes()]
    level = entry_line("thinking_level_change", "c" * 8, "b" * 8, thinkingLevel="high")
    after = opened(tmp_path, H + E("a") + message_line("b" * 8, "a" * 8, "assistant") + level)
    assert [after.table.digest(row) for row in after.table.nodes()][:2] == digests
    assert after.table.name(after.head or 0) == "cccccccc"
    turns = ops.turns_of(after, ops.rows_of_path(after, after.head))
    assert [(turn.finished, len(turn.rows)) for turn in turns] == [(True, 2)]
