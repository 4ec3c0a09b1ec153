"""Conversation replayed elsewhere has new ids, the same messages, and tool calls together with their results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pivcs.ops.appended import CannotTakeBack
from pivcs.ops.cherry_pick import NotReplayable, cherry_pick
from pivcs.ops.merge_base import range_rows
from pivcs.ops.operations import undo
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer
from pivcs.session.jsontext import parse_json
from pivcs.session.manager import Session
from pivcs.session.wholefile import SessionNotWritable
from tests.builders import build_session, entry_id, entry_line, label_line
from tests.ops.syncing import Box
from tests.session.worlds import make_world

TREE = build_session(
    "a-b-c-d-e-f, b-0", kinds={"d": "tool", "e": "result"}, texts={"c": "Use Decimal.", "f": "Done."}, leaf="0"
)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def opened(box: Box, data: bytes = TREE) -> SessionView:
    box.write(data)
    return box.reader.open_path(box.path)


def row_of(view: SessionView, name: str) -> int:
    row = view.table.row_named(entry_id(name))
    assert row is not None
    return row


def pick(box: Box, view: SessionView, first: str, last: str, onto: str, output: Path | None = None) -> list[Any]:
    rows = range_rows(view, row_of(view, first), row_of(view, last))
    writer = Writer(box.now, "pivcs cherry-pick", box.warnings.append, make_world(seed=40))
    done = cherry_pick(view, rows, row_of(view, onto), writer, output)
    values: list[Any] = [parse_json(each) for each in done.path.read_bytes().splitlines()]
    assert done.appended == tuple(new for _, new in done.replayed)
    return values[-len(done.replayed) :]


def test_messages_are_appended_under_new_ids(box: Box) -> None:
    view = opened(box)
    new = pick(box, view, "b", "f", "0")
    old: list[Any] = [view.value(row_of(view, name)) for name in "cdef"]
    assert [entry["message"] for entry in new] == [entry["message"] for entry in old]
    assert [list(entry) for entry in new] == [list(entry) for entry in old]
    assert [entry["parentId"] for entry in new] == [entry_id("0"), *(entry["id"] for entry in new[:-1])]
    assert not {entry["id"] for entry in new} & {entry["id"] for entry in old}
    assert box.path.read_bytes().startswith(TREE)
    session = Session.open(box.path)
    assert session.leaf == new[-1]["id"]
    assert len(session.build_context().messages) == 7


def test_replay_in_a_new_file_follows_on_the_path(box: Box, tmp_path: Path) -> None:
    view = opened(box)
    new = pick(box, view, "b", "f", "0", tmp_path / "new.jsonl")
    assert [entry["parentId"] for entry in new] == [entry_id("0"), *(entry["id"] for entry in new[:-1])]
    assert box.path.read_bytes() == TREE
    lines = (tmp_path / "new.jsonl").read_bytes().splitlines()
    assert lines[1:4] == [view.record(row_of(view, name)) for name in "ab0"]


@pytest.mark.parametrize(("first", "last"), [("d", "f"), ("b", "d"), ("c", "d")])
def test_call_without_its_result_is_refused(box: Box, first: str, last: str) -> None:
    view = opened(box)
    with pytest.raises(NotReplayable, match="tool"):
        pick(box, view, first, last, "0")
    assert box.path.read_bytes() == TREE


def test_rows_that_do_not_follow_each_other_are_refused(box: Box) -> None:
    view = opened(box)
    writer = Writer(box.now, "x", box.warnings.append, make_world())
    with pytest.raises(NotReplayable, match="one stretch"):
        cherry_pick(view, [row_of(view, "c"), row_of(view, "f")], row_of(view, "0"), writer, None)
    with pytest.raises(NotReplayable, match="no conversation"):
        cherry_pick(view, [], row_of(view, "0"), writer, None)


def test_labels_stay_behind_and_edits_of_the_context_go_along(box: Box) -> None:
    extra = [
        label_line("1abe0001", entry_id("c"), entry_id("c"), "x"),
        entry_line("context_edit", "ed000001", "1abe0001", targetId=entry_id("c"), replacement=None),
        entry_line("context_edit", "ed000002", "ed000001", targetId=entry_id("a"), replacement=None),
    ]
    view = opened(box, build_session("a-b-c", extra=extra))
    rows = range_rows(view, row_of(view, "a"), view.head or 0)
    writer = Writer(box.now, "x", box.warnings.append, make_world(seed=40))
    done = cherry_pick(view, rows, row_of(view, "a"), writer, None)
    new: list[Any] = [parse_json(each) for each in box.path.read_bytes().splitlines()[-3:]]
    assert [entry["type"] for entry in new] == ["message", "message", "context_edit"]
    assert new[2]["targetId"] == new[1]["id"]
    assert [old for old, _ in done.replayed] == [entry_id("b"), entry_id("c"), "ed000001"]


def test_compaction_keeps_the_replays(box: Box) -> None:
    data = build_session("a-b-c-d, a-e", kinds={"d": "compaction"}, leaf="e")
    view = opened(box, data)
    new = pick(box, view, "b", "d", "e")
    assert new[1]["firstKeptEntryId"] == new[0]["id"]
    with pytest.raises(NotReplayable, match="keeps"):
        pick(box, box.reader.open_path(box.path), "c", "d", "e")


def test_full_disk_leaves_the_file_as_it_was(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    view = opened(box)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:700]))
    with pytest.raises(SessionNotWritable):
        pick(box, view, "b", "f", "0")
    monkeypatch.undo()
    assert box.path.read_bytes() == TREE


def test_undo_says_how_to_go_back(box: Box) -> None:
    pick(box, opened(box), "b", "f", "0")
    with pytest.raises(CannotTakeBack) as caught:
        undo(box.store, now=box.now)
    assert entry_id("0") in (caught.value.hint or "")
