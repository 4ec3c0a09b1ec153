"""One line is appended so that pi resumes elsewhere, or nothing at all is written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.errors import PivcsError
from pivcs.ops.checkout import NotInThisVersion
from pivcs.ops.operations import redo, undo
from pivcs.ops.summaries import left_behind, summary_entry
from pivcs.ops.switch import NotInPlace, is_there_already, resume_at
from pivcs.ops.view import SessionView
from pivcs.ops.writing import OldVersion, Writer
from pivcs.session.appending import SessionFileChanged, SessionFileGone
from pivcs.session.jsontext import parse_json
from pivcs.session.manager import Session
from pivcs.session.wholefile import SessionNotWritable
from tests.builders import build_session, entry_id, header_line, label_line, line, message_line
from tests.ops.syncing import Box, share
from tests.session.streams import streams
from tests.session.worlds import make_world

TREE = build_session("a-b-c, b-d-e")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def view_in(box: Box) -> SessionView:
    box.now += 1000
    return box.reader.open_path(box.path)


def writer_of(box: Box) -> Writer:
    return Writer(box.now, "pivcs switch", box.warnings.append, make_world(seed=7))


def row_of(view: SessionView, name: str) -> int:
    row = view.table.row_named(entry_id(name))
    assert row is not None
    return row


def go(box: Box, name: str) -> str:
    view = view_in(box)
    done = resume_at(view, row_of(view, name), writer_of(box))
    assert done.leaf is not None
    return done.leaf


def last_value(box: Box) -> Any:
    return parse_json(box.path.read_bytes().splitlines()[-1])


def test_exactly_one_line_is_appended(box: Box) -> None:
    box.write(TREE)
    leaf = go(box, "c")
    written = box.path.read_bytes()
    assert written.startswith(TREE)
    assert written[len(TREE) :].count(b"\n") == 1
    value = last_value(box)
    assert list(value) == ["type", "customType", "id", "parentId", "timestamp"]
    assert (value["type"], value["customType"], value["id"]) == ("custom", "pivcs.checkout", leaf)
    assert value["parentId"] == entry_id("c")
    assert Session.open(box.path).leaf == leaf


def test_head_follows_and_the_branch_grows_from_there(box: Box) -> None:
    box.write(TREE)
    go(box, "c")
    view = view_in(box)
    assert view.refs.head_branch == "main"
    box.append(message_line("ffffffff", view.table.name(view.head or 0)))
    main = view_in(box).refs.branch("main")
    assert main is not None
    assert view_in(box).table.name(main.row) == "ffffffff"


def test_last_line_without_end_is_ended_first(box: Box) -> None:
    box.write(TREE + b'{"type":"torn')
    go(box, "c")
    assert box.path.read_bytes().splitlines()[-2] == b'{"type":"torn'
    assert last_value(box)["parentId"] == entry_id("c")


def test_recent_change_is_warned_of(box: Box) -> None:
    box.write(TREE)
    box.now = os.stat(box.path).st_mtime_ns // 1_000_000 + 5 * 60_000
    go(box, "c")
    assert any("changed 5 minutes ago" in each for each in box.warnings)
    box.warnings.clear()
    box.now = os.stat(box.path).st_mtime_ns // 1_000_000 + 11 * 60_000
    go(box, "d")
    assert box.warnings == []


def test_undo_and_redo_go_back_and_forth(box: Box) -> None:
    box.write(TREE)
    go(box, "c")
    undo(box.store, now=box.now)
    assert last_value(box)["parentId"] == entry_id("e")
    redo(box.store, now=box.now)
    assert last_value(box)["parentId"] == entry_id("c")
    assert len(box.path.read_bytes().splitlines()) == len(TREE.splitlines()) + 3


def test_entry_at_which_pi_resumes_already_is_known(box: Box) -> None:
    box.write(TREE)
    view = view_in(box)
    assert is_there_already(view, row_of(view, "e"))
    assert not is_there_already(view, row_of(view, "d"))
    go(box, "d")
    view = view_in(box)
    assert is_there_already(view, row_of(view, "d"))
    assert not is_there_already(view, row_of(view, "b"))
    box.append(label_line("1abe0001", view.table.name(view.head or 0), "aaaaaaaa", "x"))
    view = view_in(box)
    assert not is_there_already(view, row_of(view, "d"))


def refused(box: Box, data: bytes, row: Callable[[SessionView], int], error: type[PivcsError]) -> None:
    box.write(data)
    view = view_in(box)
    with pytest.raises(error):
        resume_at(view, row(view), writer_of(box))
    assert box.path.read_bytes() == data


def test_entries_that_pi_would_not_find_are_refused(box: Box) -> None:
    glued = message_line("bbbbbbbb", "aaaaaaaa", "assistant")
    salvaged = build_session("a") + glued[:40] + glued + message_line("cccccccc", "aaaaaaaa")
    refused(box, salvaged, lambda view: row_of(view, "b"), NotInPlace)
    doubled = TREE + message_line("cccccccc", "bbbbbbbb", content="again")
    refused(box, doubled, lambda view: row_of(view, "c"), NotInPlace)


def test_old_versions_are_refused(box: Box) -> None:
    first = header_line(version=None) + line({"type": "message", "message": {"role": "user", "content": "Hi."}})
    refused(box, first, lambda _: 1, NotInThisVersion)
    refused(box, build_session("a-b", header=header_line(version=2)), lambda view: row_of(view, "a"), OldVersion)


def test_vanished_file_is_refused_and_not_created(box: Box) -> None:
    box.write(TREE)
    view = view_in(box)
    box.path.unlink()
    with pytest.raises(SessionFileGone):
        resume_at(view, row_of(view, "c"), writer_of(box))
    assert not box.path.exists()


def test_file_that_was_rewritten_meanwhile_is_refused(box: Box) -> None:
    box.write(TREE)
    view = view_in(box)
    other = build_session("a-b-c", texts={"c": "something else"})
    box.write(other)
    with pytest.raises(SessionFileChanged):
        resume_at(view, row_of(view, "c"), writer_of(box))
    assert box.path.read_bytes() == other


@pytest.mark.parametrize("written", [None, 10])
def test_full_disk_leaves_the_file_and_the_history_as_they_were(
    box: Box, monkeypatch: pytest.MonkeyPatch, written: int | None
) -> None:
    box.write(TREE)
    view = view_in(box)
    before = box.store.refs.operations(kinds=("user",))
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if written is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[:written])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(SessionNotWritable):
        resume_at(view, row_of(view, "c"), writer_of(box))
    monkeypatch.undo()
    assert box.path.read_bytes() == TREE
    assert box.store.refs.operations(kinds=("user",)) == before


def test_summary_is_the_one_line_that_is_appended(box: Box) -> None:
    box.write(TREE)
    view = view_in(box)
    row = row_of(view, "c")
    resume_at(view, row, writer_of(box), summary_entry(left_behind(view, row), "Tried e."))
    value = last_value(box)
    assert list(value) == ["type", "id", "parentId", "timestamp", "fromId", "summary", "details", "fromHook"]
    assert (value["parentId"], value["fromId"], value["fromHook"]) == (entry_id("c"), entry_id("e"), False)
    assert len(box.path.read_bytes().splitlines()) == len(TREE.splitlines()) + 1
    undo(box.store, now=box.now)
    assert last_value(box)["parentId"] == entry_id("e")


@share(0.3)
@given(streams(), st.randoms(use_true_random=False))
def test_position_is_the_entry_or_nothing_was_written(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, random: Any
) -> None:
    box = Box(tmp_path_factory.mktemp("switch"))
    box.write(data)
    view = view_in(box)
    nodes = list(view.table.nodes())
    if not nodes:
        return
    row = random.choice(nodes)
    try:
        resume_at(view, row, writer_of(box))
    except PivcsError:
        assert box.path.read_bytes() == data
        return
    after = box.path.read_bytes()
    assert after.startswith(data)
    assert after[len(data) :].strip(b"\n").count(b"\n") == 0
    now = view_in(box)
    assert now.head is not None
    parent = now.table.parent_of(now.head)
    assert parent is not None
    assert now.table.digest(parent) == view.table.digest(row)
