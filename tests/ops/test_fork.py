"""Forks as pi makes them, of saved sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pivcs.ops.checkout import NotInThisVersion
from pivcs.ops.fork import fork, fork_into
from pivcs.ops.view import SessionView
from pivcs.session.appending import SessionFileGone
from pivcs.session.jsontext import parse_json
from pivcs.session.manager import Session
from tests.builders import build_session, entry_id, header_line, line
from tests.ops.syncing import Box
from tests.session.worlds import make_world

TREE = build_session("a-b-c-d, b-e", labels={"b": "here"}, texts={"c": "Try it."})


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


def entries_of(path: Path) -> list[Any]:
    return [parse_json(each) for each in path.read_bytes().splitlines()][1:]


def test_fork_at_a_prompt_ends_before_it_and_gives_its_text(box: Box) -> None:
    view = opened(box)
    done = fork(view, row_of(view, "c"), at=False, world=make_world())
    entries = entries_of(done.path)
    assert [entry["id"] for entry in entries[:2]] == [entry_id("a"), entry_id("b")]
    assert [entry.get("label") for entry in entries[2:]] == ["here"]
    assert done.text == "Try it."
    assert done.path.parent == box.path.parent
    assert done.parent_session == str(box.path)
    assert box.path.read_bytes() == TREE


def test_fork_at_the_prompt_itself_or_at_another_entry_is_a_clone(box: Box) -> None:
    view = opened(box)
    for name, at in (("c", True), ("d", False)):
        done = fork(view, row_of(view, name), at=at, world=make_world(seed=ord(name), clock=ord(name) * 10**10))
        assert entry_id(name) in [entry["id"] for entry in entries_of(done.path)]
        assert done.text is None


def test_fork_at_the_first_prompt_has_only_a_header_but_a_file(box: Box) -> None:
    view = opened(box)
    done = fork(view, row_of(view, "a"), at=False, world=make_world())
    assert entries_of(done.path) == []
    assert (done.leaf, done.text, done.parent_session) == (None, "a", str(box.path))
    assert Session.open(done.path).id == done.session_id


def test_fork_of_a_path_without_conversation_is_written_too(box: Box) -> None:
    view = opened(box, build_session("a-b", kinds={"a": "model", "b": "user"}))
    done = fork(view, row_of(view, "b"), at=False, world=make_world())
    assert [entry["type"] for entry in entries_of(done.path)] == ["model_change"]


def test_whole_session_goes_into_another_project(box: Box, tmp_path: Path) -> None:
    view = opened(box)
    world = make_world(home=tmp_path)
    done = fork_into(view, tmp_path / "other", world=world)
    assert entries_of(done.path) == [parse_json(each) for each in TREE.splitlines()[1:]]
    header = parse_json(done.path.read_bytes().splitlines()[0])
    assert isinstance(header, dict)
    assert header["cwd"] == str(tmp_path / "other")
    assert done.path.parent.name == "--" + str(tmp_path / "other")[1:].replace("/", "-") + "--"


def test_version_1_is_migrated_when_it_goes_into_another_project(box: Box, tmp_path: Path) -> None:
    entries = [line({"type": "message", "message": {"role": "user", "content": str(each)}}) for each in range(3)]
    view = opened(box, header_line(version=None) + b"".join(entries))
    with pytest.raises(NotInThisVersion):
        fork(view, 2, at=False, world=make_world())
    done = fork_into(view, tmp_path, world=make_world(home=tmp_path / "home"))
    written = entries_of(done.path)
    assert [entry["parentId"] for entry in written] == [None, written[0]["id"], written[1]["id"]]
    assert done.version == 3


def test_file_that_is_gone_is_refused(box: Box) -> None:
    view = opened(box)
    box.path.unlink()
    with pytest.raises(SessionFileGone):
        fork(view, row_of(view, "d"), at=False, world=make_world())
    assert list(box.directory.iterdir()) == []
