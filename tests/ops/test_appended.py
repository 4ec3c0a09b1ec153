"""What was appended to a session file is taken back by appending the opposite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pivcs.ops import operations
from pivcs.ops.appended import (
    CannotTakeBack,
    label_entry,
    position_entry,
    record_append,
    text_value,
)
from pivcs.ops.operations import NothingToUndo, RefMoved
from pivcs.ops.view import SessionView
from pivcs.ops.writing import OldVersion, Writer, append_entries, open_to_append
from pivcs.session.appending import SessionFileChanged, SessionFileGone
from pivcs.session.manager import Session
from pivcs.session.world import World
from pivcs.store.refs import RefChange
from tests.builders import build_session, entry_id, header_line, message_line
from tests.ops.syncing import NOW, Box

A, B, C, D = map(entry_id, "abcd")


class Appending(Box):
    """A session file to which operations append."""

    def view(self) -> SessionView:
        return self.reader.open(str(self.path))

    def append_entry(self, entry: dict[str, object]) -> SessionView:
        view = self.view()
        session = open_to_append(view, World.real())
        writer = Writer(NOW, "test", self.warnings.append, World.real())
        after = append_entries(view, session, [entry], writer).view
        assert after is not None
        return after

    def label(self, target: str, text: str | None) -> RefChange:
        old = Session.open(self.path).label(target)
        after = self.append_entry(label_entry(target, text))
        return record_append(after, "label", target, text_value(old), text_value(text), now=NOW, command="label x")

    def rename(self, name: str) -> None:
        old = Session.open(self.path).name
        after = self.append_entry({"type": "session_info", "name": name})
        record_append(after, "session-name", "", text_value(old), text_value(name), now=NOW, command="rename x")

    def move(self, target: str) -> None:
        before = self.view()
        assert before.head is not None
        after = self.append_entry(position_entry(target))
        row = after.table.row_named(target)
        assert row is not None
        old, new = before.table.digest(before.head), after.table.digest(row)
        record_append(after, "position", "HEAD", old, new, now=NOW, command="switch x")

    def undo(self) -> list[bytes]:
        """Undo, and return the lines that it appended."""
        return self.lines_added_by(lambda: operations.undo(self.store, now=NOW, warn=self.warnings.append))

    def redo(self) -> list[bytes]:
        return self.lines_added_by(lambda: operations.redo(self.store, now=NOW, warn=self.warnings.append))

    def lines_added_by(self, act: Callable[[], object]) -> list[bytes]:
        before = self.path.read_bytes()
        act()
        after = self.path.read_bytes()
        assert after.startswith(before)
        return after[len(before) :].splitlines()

    @property
    def session(self) -> Session:
        return Session.open(self.path)


@pytest.fixture
def box(tmp_path: Path) -> Appending:
    box = Appending(tmp_path)
    box.put(build_session("a-b-c, b-d"))
    return box


def test_label_is_undone_and_done_again_by_a_line_each(box: Appending):
    box.label(B, "first")
    box.label(B, "second")
    assert len(box.undo()) == 1
    assert box.session.label(B) == "first"
    assert len(box.undo()) == 1
    assert box.session.label(B) is None
    assert len(box.redo()) == 1
    assert box.session.label(B) == "first"
    assert len(box.redo()) == 1
    assert box.session.label(B) == "second"
    with pytest.raises(NothingToUndo):
        box.redo()


def test_undone_first_label_is_cleared_as_pi_clears_it(box: Appending):
    box.label(B, "first")
    (line,) = box.undo()
    assert line.endswith(b'"targetId":"%s"}' % B.encode())


def test_name_is_undone_and_done_again(box: Appending):
    box.rename("one")
    box.rename("two")
    box.undo()
    assert box.session.name == "one"
    box.undo()
    assert box.session.name is None
    box.redo()
    assert box.session.name == "one"


def test_position_is_undone_and_done_again(box: Appending):
    box.move(C)
    assert parent_of_leaf(box) == C
    (line,) = box.undo()
    assert b'"pivcs.checkout"' in line
    assert parent_of_leaf(box) == D
    box.redo()
    assert parent_of_leaf(box) == C


def parent_of_leaf(box: Appending) -> object:
    leaf = box.session.leaf_entry
    assert isinstance(leaf, dict)
    return leaf["parentId"]


def test_position_is_undone_over_a_label_that_was_undone(box: Appending):
    box.move(C)
    box.label(A, "x")
    box.undo()
    box.undo()
    assert parent_of_leaf(box) == D


def test_label_that_changed_since_is_refused_and_named(box: Appending):
    box.label(B, "mine")
    box.append_entry(label_entry(B, "theirs"))
    before = box.path.read_bytes()
    with pytest.raises(RefMoved, match=f"the label of '{B}'"):
        box.undo()
    assert box.path.read_bytes() == before


def test_name_that_changed_since_is_refused(box: Appending):
    box.rename("mine")
    box.append_entry({"type": "session_info", "name": "theirs"})
    with pytest.raises(RefMoved, match="the session's name"):
        box.undo()


def test_position_from_which_the_conversation_went_on_is_refused(box: Appending):
    box.move(C)
    box.append(message_line("99999999", str(box.session.leaf)))
    with pytest.raises(RefMoved, match="the position"):
        box.undo()


def test_label_is_undone_while_the_conversation_went_on(box: Appending):
    box.label(B, "mine")
    box.append(message_line("99999999", str(box.session.leaf)))
    box.undo()
    assert box.session.label(B) is None
    assert parent_of_leaf(box) == "99999999"


def test_appended_entries_are_not_undone_but_others_before_them_are(box: Appending):
    change = box.label(B, "mine")
    before = box.view()
    assert before.head is not None
    after = box.append_entry({"type": "message", "message": {"role": "user", "content": "more"}})
    assert after.head is not None
    old, new = before.table.digest(before.head), after.table.digest(after.head)
    record_append(after, "entries", after.table.name(after.head), old, new, now=NOW, command="append x")
    data = box.path.read_bytes()
    with pytest.raises(CannotTakeBack) as caught:
        box.undo()
    assert f"pivcs switch {before.table.name(before.head)}" in str(caught.value.hint)
    assert box.path.read_bytes() == data
    (first,) = [op.id for op in box.store.refs.operations(kinds=("user",)) if op.command == "label x"]
    undone = operations.undo(box.store, now=NOW, number=first)
    assert undone.changes == (change._replace(old=change.new, new=change.old),)
    assert box.session.label(B) is None
    with pytest.raises(NothingToUndo, match=f"operation {first} "):
        operations.undo(box.store, now=NOW, number=first)


def test_vanished_file_is_refused(box: Appending):
    box.label(B, "mine")
    box.path.unlink()
    with pytest.raises(SessionFileGone):
        operations.undo(box.store, now=NOW)
    assert not box.path.exists()


def test_rewritten_file_is_refused(box: Appending):
    box.label(B, "mine")
    data = header_line(cwd="/elsewhere") + box.path.read_bytes()
    box.put(data)
    with pytest.raises(SessionFileChanged):
        operations.undo(box.store, now=NOW)
    assert box.path.read_bytes() == data


def test_failed_undo_stays_the_next_to_undo(box: Appending):
    box.label(B, "mine")
    kept = box.path.read_bytes()
    box.path.unlink()
    with pytest.raises(SessionFileGone):
        operations.undo(box.store, now=NOW)
    box.path.write_bytes(kept)
    box.undo()
    assert box.session.label(B) is None


def test_missing_last_lf_is_written_first(box: Appending):
    box.label(B, "mine")
    box.append(b'{"torn')
    before = box.path.read_bytes()
    box.undo()
    assert box.path.read_bytes()[len(before) :].startswith(b"\n{")
    assert box.session.label(B) is None


def test_file_of_an_old_version_is_refused(box: Appending):
    box.put(build_session("a-b", header=header_line(version=2)))
    data = box.path.read_bytes()
    with pytest.raises(OldVersion, match="version 2"):
        box.append_entry(label_entry(A, "x"))
    assert box.path.read_bytes() == data


def test_file_that_has_just_changed_is_warned_of(box: Appending):
    os.utime(box.path, ns=((NOW - 120_000) * 1_000_000,) * 2)
    box.append_entry(label_entry(A, "x"))
    assert [text for text in box.warnings if "changed 2 minutes ago" in text]
    box.warnings.clear()
    os.utime(box.path, ns=((NOW - 700_000) * 1_000_000,) * 2)
    box.append_entry(label_entry(A, "y"))
    assert not box.warnings


def test_line_of_another_process_is_followed(box: Appending):
    view = box.view()
    session = open_to_append(view, World.real())
    box.append(message_line("99999999", D))
    writer = Writer(NOW, "test", box.warnings.append, World.real())
    append_entries(view, session, [label_entry(A, "x")], writer)
    assert parent_of_leaf(box) == "99999999"
