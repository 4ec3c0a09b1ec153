"""The history of positions of HEAD and of branches."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given

from pivcs.objects.table import NODE
from pivcs.ops.branching import MAIN
from pivcs.ops.operations import create_branch, delete_branches, rename_branches, undo
from pivcs.ops.reflog import Move, NoHistory, branch_moves, head_at, head_moves, moves_of
from pivcs.ops.view import SessionView
from pivcs.session.codes import is_conversation
from tests.builders import build_session, entry_id, header_line, message_line
from tests.ops.syncing import Box, cuts_of
from tests.ops.trees import trees, views
from tests.ops.views import view_of


def told(view: SessionView, moves: list[Move]) -> list[str]:
    """Return moves as `c<b appended`: to, from, why."""

    def name(row: int | None) -> str:
        return "-" if row is None else view.table.name(row)[:2]

    return [f"{name(move.row)}<{name(move.before)} {move.why}" for move in moves]


def test_every_record_line_moves_head():
    data = build_session("a-b-c, b-d", kinds={"c": "name"}, labels={"a": "x"})
    again = data.splitlines(keepends=True)[3]
    view = view_of(data + b"\n{torn\n" + message_line("ffffffff", "bbbbbbbb") + again)
    assert told(view, list(head_moves(view))) == [
        "cc<ff again",
        "ff<1a branched",
        "1a<dd labelled",
        "dd<cc branched",
        "cc<bb named",
        "bb<aa appended",
        "aa<- began",
    ]


@given(views())
def test_history_of_head_is_the_order_of_the_lines(view: SessionView):
    records = [row for row, flags in enumerate(view.table.flags) if flags & NODE]
    moves = list(head_moves(view))
    assert [move.row for move in moves] == [view.table.first_row(row) for row in reversed(records)]
    assert [move.before for move in moves[:-1]] == [move.row for move in moves[1:]]
    assert [head_at(view, number) for number in range(len(moves) + 1)] == [*(move.row for move in moves), None]
    if moves:
        assert moves[0].row == view.head


@given(views())
def test_branches_move_over_every_conversation_entry_once(view: SessionView):
    moved: list[int] = []
    for branch in view.refs.branches:
        moves = branch_moves(view, branch.name)
        assert moves[0].row == branch.row
        assert moves[-1].why == "began"
        assert all(move.why == "appended" for move in moves[:-1])
        assert [move.before for move in moves] == [*(move.row for move in moves[1:]), None]
        moved += [move.row for move in moves if move.row is not None]
    assert sorted(moved) == [row for row in view.table.nodes() if is_conversation(view.table.code[row])]


def test_history_of_a_branch_tells_what_the_user_did(tmp_path: Path):
    box = Box(tmp_path)
    data = build_session("a-b-c-d, b-e")
    box.put(data)
    view = box.reader.open(str(box.path))
    create_branch(view, "mine", 2, force=False, now=10, command="branch mine b")
    create_branch(view, "mine", 5, force=True, now=20, command="branch -f mine e")
    rename_branches(view, [("mine", "ours")], now=30, command="branch -m mine ours")
    rename_branches(view, [(MAIN, "trunk")], now=40, command="branch -m main trunk")
    box.append(message_line("ffffffff", entry_id("d")) + message_line("99999999", "ffffffff"))
    view = box.reader.open(str(box.path))
    assert told(view, branch_moves(view, "ours")) == ["ee<ee renamed", "ee<bb moved", "bb<- created"]
    assert [move.command for move in branch_moves(view, "ours")][1:] == ["branch -f mine e", "branch mine b"]
    assert [move.time for move in branch_moves(view, "ours")] == [30, 20, 10]
    assert told(view, branch_moves(view, "trunk")) == [
        "99<ff appended", "ff<dd appended", "dd<dd renamed", "dd<cc appended", "cc<bb appended", "bb<aa appended",
        "aa<- began",
    ]  # fmt: skip


def test_deleted_branch_that_came_back_has_its_whole_history(tmp_path: Path):
    box = Box(tmp_path)
    box.put(build_session("a-b"))
    view = box.reader.open(str(box.path))
    delete_branches(view, [MAIN], now=10, command="branch -d main")
    undo(box.store, now=20)
    view = box.reader.open(str(box.path))
    assert told(view, branch_moves(view, MAIN)) == ["bb<- undo", "-<bb deleted", "bb<aa appended", "aa<- began"]


def test_branch_that_came_over_a_rewrite_has_the_history_of_its_lines(tmp_path: Path):
    box = Box(tmp_path)
    box.put(build_session("a-b-c"))
    view = box.reader.open(str(box.path))
    rename_branches(view, [(MAIN, "trunk")], now=10, command="")
    box.put(header_line(cwd="/elsewhere") + build_session("a-b-c", header=b""))
    view = box.reader.open(str(box.path))
    assert view.stream is not None
    assert view.stream.generation == 2
    assert told(view, branch_moves(view, "trunk")) == ["cc<bb appended", "bb<aa appended", "aa<- began"]


@given(trees())
def test_history_does_not_depend_on_when_a_session_was_synced(data: bytes):
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        box = Box(Path(directory))
        for end in cuts_of(data, [0.3, 0.5, 0.9]):
            box.path.write_bytes(data[:end])
            box.sync()
        view = box.reader.open(str(box.path))
        whole = view_of(data)
        assert {branch.name for branch in view.refs.branches} == {branch.name for branch in whole.refs.branches}
        for branch in view.refs.branches:
            assert branch_moves(view, branch.name) == branch_moves(whole, branch.name)


def test_only_head_and_branches_have_a_history():
    view = view_of(build_session("a-b", labels={"a": "x"}))
    assert moves_of(view, "@")[0] == "HEAD"
    assert moves_of(view, "heads/main")[0] == "main"
    with pytest.raises(NoHistory, match="there is no branch 'x'"):
        moves_of(view, "x")
    assert branch_moves(view, "x") == []


def test_history_begins_without_reading_all_of_it():
    view = view_of(build_session("-".join(f"{number:08x}" for number in range(3000))))
    assert [move.row for move in islice(head_moves(view), 2)] == [3000, 2999]
