"""Laws of names: when a session was synced does not matter, and whatever a user does to names can be undone."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pivcs.ops import operations
from pivcs.ops.access import view_of
from pivcs.ops.branch_sync import follow_new
from pivcs.ops.branching import MAIN
from pivcs.ops.operations import NoSuchRef, NothingToUndo, RefExists, RefMoved
from pivcs.ops.view import SessionView
from pivcs.session.codes import is_conversation
from pivcs.store.records import Stream
from pivcs.store.store import Store
from tests.builders import build_session, header_line, label_line, line, message_line
from tests.ops.syncing import NOW, Box, cuts_of, share
from tests.ops.trees import naive_path, trees, views

PLACES = st.lists(st.floats(0, 1), max_size=4)
FEW = share(0.4)


def names_of(view: SessionView) -> dict[str, Any]:
    """Return everything that is named in a session."""
    refs = view.refs
    return {
        "branches": {branch.name: (branch.row, branch.automatic) for branch in refs.branches},
        "tags": dict(refs.tags),
        "labels": dict(view.labels.items()),
        "head": (refs.head, refs.head_branch),
    }


def box_view(box: Box) -> SessionView:
    """Return the view of the box's file as it was synced last."""
    stream = box.sync().stream
    assert stream is not None
    return view_of(box.store, stream)


def new_box() -> Box:
    return Box(Path(tempfile.mkdtemp()))


# What the lines alone decide


@FEW
@given(trees(), PLACES)
def test_names_do_not_depend_on_when_a_session_was_synced(data: bytes, places: list[float]) -> None:
    once, often = new_box(), new_box()
    once.put(data)
    at = 0
    for cut in cuts_of(data, places):
        often.append(data[at:cut])
        often.sync()
        at = cut
    assert names_of(box_view(often)) == names_of(box_view(once))
    for box in (once, often):
        shutil.rmtree(box.directory)


@FEW
@given(trees(), PLACES)
def test_branches_only_fast_forward(data: bytes, places: list[float]) -> None:
    box = new_box()
    before: dict[str, int] = {}
    for at, cut in pairwise([0, *cuts_of(data, places)]):
        box.append(data[at:cut])
        view = box_view(box)
        now = {branch.name: branch.row for branch in view.refs.branches}
        assert all(row in naive_path(view, now[name]) for name, row in before.items())
        before = now
    shutil.rmtree(box.directory)


@given(views())
def test_every_node_is_on_a_branch_or_on_a_tail_of_book_keeping(view: SessionView) -> None:
    moves, _ = follow_new(view.table)
    on_branches = {row for branch in moves.tips.values() for row in naive_path(view, branch.row)}
    for row in view.table.nodes():
        if row not in on_branches:
            assert not is_conversation(view.table.code[row])
    assert all(is_conversation(view.table.code[branch.row]) for branch in moves.tips.values())


@given(views())
def test_branches_have_different_tips_and_names(view: SessionView) -> None:
    branches = view.refs.branches
    assert len({branch.name for branch in branches}) == len({branch.row for branch in branches}) == len(branches)
    assert not branches or MAIN in {branch.name for branch in branches}


@FEW
@given(st.integers(2, 12), st.data())
def test_a_label_anywhere_leaves_the_talk_on_main(count: int, data: st.DataObject) -> None:
    ids = [f"{number:08x}" for number in range(count)]
    lines = [header_line()]
    above: str | None = None
    for number, ident in enumerate(ids):
        lines.append(message_line(ident, above, "assistant" if number % 2 else "user"))
        above = ident
        if data.draw(st.booleans()):  # pi goes on below the label that it has written
            above = f"1abe{number:04x}"
            lines.append(label_line(above, ident, data.draw(st.sampled_from(ids)), "mark"))
    box = new_box()
    view = view_of(box.store, box.put(b"".join(lines)))
    assert [branch.name for branch in view.refs.branches] == [MAIN]
    assert view.refs.head_branch == MAIN
    assert view.table.name(view.refs.branches[0].row) == ids[-1]
    shutil.rmtree(box.directory)


# What users do


NAMES = st.sampled_from(["main", "x", "feature/y", "b-2", "Foo", "foo", "é", "b-cccccccc"])


class NamesOfASession(RuleBasedStateMachine):
    """A session that grows, and a user who names things in it, undoes and redoes."""

    def __init__(self) -> None:
        super().__init__()
        self.box = new_box()
        self.count = 0
        self.ids: list[str] = []
        self.undoable: list[dict[str, Any]] = []
        self.redoable: list[dict[str, Any]] = []
        self.grown = False

    @initialize()
    def begin(self) -> None:
        self.box.write(header_line())
        self._append(None)

    def teardown(self) -> None:
        self.box.store.close()
        shutil.rmtree(self.box.directory)

    @property
    def view(self) -> SessionView:
        return box_view(self.box)

    def named(self) -> dict[str, Any]:
        """Return what a user can change, by the node that it names."""
        view = self.view
        live = {branch.name: view.table.digest(branch.row) for branch in view.refs.branches}
        return {"branches": live, "tags": dict(view.refs.tags)}

    def _append(self, parent: str | None) -> None:
        ident = f"{self.count * 0x1000193 & 0xFFFFFFFF:08x}"
        self.box.append(message_line(ident, parent, ms=NOW + self.count))
        self.ids.append(ident)
        self.count += 1
        self.box.sync()

    @rule(data=st.data())
    def grow(self, data: st.DataObject) -> None:
        """A session that grows moves branches, which is never undone: what was done before stays done."""
        self._append(data.draw(st.sampled_from(self.ids[-3:])))
        self.undoable.clear()
        self.redoable.clear()
        self.grown = True

    def _do(self, act: Any) -> None:
        before = self.named()
        try:
            act(self.view)
        except (RefExists, NoSuchRef):
            assert self.named() == before
            return
        self.undoable.append(before)
        self.redoable.clear()
        self.grown = False

    @rule(name=NAMES, force=st.booleans(), data=st.data())
    def create(self, name: str, force: bool, data: st.DataObject) -> None:
        ident = data.draw(st.sampled_from(self.ids))

        def act(view: SessionView) -> None:
            row = view.table.row_named(ident)
            assert row is not None
            operations.create_branch(view, name, row, force=force, now=NOW, command="create")
            after = self.view.refs.branch(name)
            assert after is not None
            assert after.row == row

        self._do(act)

    @rule(new=NAMES, data=st.data())
    def rename(self, new: str, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(sorted(self.named()["branches"]) or ["main"]))

        def act(view: SessionView) -> None:
            operations.rename_branches(view, [(old, new)], now=NOW, command="rename")
            assert self.view.refs.branch(old) is None

        self._do(act)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.named()["branches"]) or ["main"]))

        def act(view: SessionView) -> None:
            operations.delete_branches(view, [name], now=NOW, command="delete")
            self.box.sync(full=True)
            assert self.view.refs.branch(name) is None  # and a sync does not bring it back

        self._do(act)

    @rule(name=NAMES, force=st.booleans(), data=st.data())
    def tag(self, name: str, force: bool, data: st.DataObject) -> None:
        ident = data.draw(st.sampled_from(self.ids))

        def act(view: SessionView) -> None:
            row = view.table.row_named(ident)
            assert row is not None
            oid = view.table.object_id(row)
            operations.set_tag(view, name, oid, force=force, now=NOW, command="tag")
            assert self.view.refs.tags[name] == oid

        self._do(act)

    @precondition(lambda self: self.undoable)
    @rule()
    def undo(self) -> None:
        now = self.named()
        operations.undo(self.box.store, now=NOW)
        assert self.named() == self.undoable.pop()
        self.redoable.append(now)

    @precondition(lambda self: self.redoable)
    @rule()
    def redo(self) -> None:
        now = self.named()
        operations.redo(self.box.store, now=NOW)
        assert self.named() == self.redoable.pop()
        self.undoable.append(now)

    @precondition(lambda self: not self.undoable and self.count == 1)
    @rule()
    def undo_nothing(self) -> None:
        with pytest.raises(NothingToUndo):
            operations.undo(self.box.store, now=NOW)

    @precondition(lambda self: not self.redoable and not self.grown)
    @rule()
    def redo_nothing(self) -> None:
        before = self.named()
        with pytest.raises(NothingToUndo):
            operations.redo(self.box.store, now=NOW)
        assert self.named() == before

    @invariant()
    def every_branch_is_at_a_conversation_entry(self) -> None:
        if self.ids:
            view = self.view
            assert all(is_conversation(view.table.code[branch.row]) for branch in view.refs.branches)


NamesOfASession.TestCase.settings = settings(
    max_examples=15, stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow], deadline=None
)
TestNamesOfASession = NamesOfASession.TestCase


# Races


def test_branch_that_the_session_moved_since_is_not_undone_over(tmp_path: Path) -> None:
    box = Box(tmp_path)
    view = view_of(box.store, box.put(build_session("a-b")))
    operations.create_branch(view, "x", 2, force=False, now=NOW, command="pivcs branch x")
    operations.delete_branches(view, [MAIN], now=NOW, command="pivcs branch -d main")
    box.append(message_line("cccccccc", "bbbbbbbb"))
    assert named_rows(box_view(box)) == {"x": 3}
    operations.undo(box.store, now=NOW)
    assert named_rows(box_view(box)) == {"main": 2, "x": 3}
    with pytest.raises(RefMoved, match="branch 'x' has moved since"):
        operations.undo(box.store, now=NOW)
    assert named_rows(box_view(box)) == {"main": 2, "x": 3}


def named_rows(view: SessionView) -> dict[str, int]:
    return {branch.name: branch.row for branch in view.refs.branches}


MINE: dict[str, Callable[[SessionView], object]] = {
    "create": lambda view: operations.create_branch(view, "x", 2, force=False, now=NOW, command="mine"),
    "rename": lambda view: operations.rename_branches(view, [(MAIN, "y")], now=NOW, command="mine"),
    "delete": lambda view: operations.delete_branches(view, [MAIN], now=NOW, command="mine"),
    "tag": lambda view: operations.set_tag(view, "t", view.table.object_id(2), force=False, now=NOW, command="mine"),
}


@pytest.mark.parametrize("second", MINE)
def test_who_comes_second_is_told(tmp_path: Path, second: str) -> None:
    path = tmp_path / "store.db"
    mine, theirs = Store.open(path, create=True), Store.open(path, create=True)
    box = Box(tmp_path, mine)
    stream = box.put(build_session("a-b-c"))
    seen, other = view_of(mine, stream), view_of(theirs, _again(theirs, stream))
    assert names_of(seen) == names_of(other)
    operations.create_branch(other, "x", 1, force=False, now=NOW, command="theirs")
    operations.set_tag(other, "t", seen.table.object_id(1), force=False, now=NOW, command="theirs")
    operations.delete_branches(other, [MAIN], now=NOW, command="theirs")
    after = names_of(view_of(mine, stream))
    with pytest.raises((RefExists, NoSuchRef), match=r"'[xt]' exists|no branch 'main'"):
        MINE[second](seen)
    assert names_of(view_of(mine, stream)) == after
    theirs.close()
    mine.close()


@pytest.mark.parametrize("second", ["move", "rename", "delete", "move tag", "delete tag"])
def test_ref_that_another_process_moved_is_not_overwritten(tmp_path: Path, second: str) -> None:
    box = Box(tmp_path)
    stream = box.put(build_session("a-b-c"))
    first = view_of(box.store, stream)
    for name in ("x", "y"):
        operations.create_branch(first, name, 1, force=False, now=NOW, command="before")
    operations.set_tag(first, "t", first.table.object_id(1), force=False, now=NOW, command="before")
    seen, other = view_of(box.store, stream), view_of(box.store, stream)
    assert set(seen.refs.tags) == {"t"}
    operations.create_branch(other, "x", 2, force=True, now=NOW, command="theirs")
    operations.set_tag(other, "t", other.table.object_id(2), force=True, now=NOW, command="theirs")
    after = names_of(view_of(box.store, stream))
    mine: dict[str, Callable[[], object]] = {
        "move": lambda: operations.create_branch(seen, "x", 3, force=True, now=NOW, command="mine"),
        "rename": lambda: operations.rename_branches(seen, [("y", "z"), ("x", "w")], now=NOW, command="mine"),
        "delete": lambda: operations.delete_branches(seen, ["y", "x"], now=NOW, command="mine"),
        "move tag": lambda: operations.set_tag(seen, "t", seen.table.object_id(3), force=True, now=NOW, command="mine"),
        "delete tag": lambda: operations.delete_tags(seen, ["t"], now=NOW, command="mine"),
    }
    with pytest.raises(RefMoved, match="was changed by another process"):
        mine[second]()
    assert names_of(view_of(box.store, stream)) == after  # not even the part that could be done


def test_one_view_may_change_a_name_again_and_again(tmp_path: Path) -> None:
    box = Box(tmp_path)
    view = view_of(box.store, box.put(build_session("a-b-c")))
    for row in (1, 2, 3):
        operations.create_branch(view, "x", row, force=True, now=NOW, command="move")
        operations.set_tag(view, "t", view.table.object_id(row), force=True, now=NOW, command="move")
        assert (view.refs.branches_at(row)[-1], view.refs.tags_at(row)) == ("x", ["t"])
    operations.rename_branches(view, [("x", "y")], now=NOW, command="rename")
    operations.delete_branches(view, ["y"], now=NOW, command="delete")
    assert named_rows(view) == {MAIN: 3}


def _again(store: Store, stream: Stream) -> Stream:
    found = store.stream(stream.id)
    assert found is not None
    return found


# A file that is written anew


V1 = (
    header_line("old", version=None)
    + line({"type": "message", "timestamp": "2026-01-01T00:00:01.000Z", "message": {"role": "user", "content": "Hi."}})
    + line(
        {
            "type": "message",
            "timestamp": "2026-01-01T00:00:02.000Z",
            "message": {"role": "assistant", "content": "Yes."},
        }
    )
)
V3 = header_line("old") + b"".join(
    line(
        {"type": "message", "id": ident, "parentId": above, "timestamp": f"2026-01-01T00:00:0{n}.000Z"}
        | {"message": {"role": role, "content": text}}
    )
    for n, ident, above, role, text in (
        (1, "11111111", None, "user", "Hi."), (2, "22222222", "11111111", "assistant", "Yes."),
    )
)  # fmt: skip
"""What pi makes of V1."""


def test_names_follow_their_entries_through_a_migration(tmp_path: Path) -> None:
    box = Box(tmp_path)
    view = view_of(box.store, box.put(V1))
    operations.create_branch(view, "early", 1, force=False, now=NOW, command="pivcs branch early")
    operations.rename_branches(view, [(MAIN, "talk")], now=NOW, command="pivcs branch -m main talk")
    view = view_of(box.store, box.put(V3))
    named = {branch.name: view.table.name(branch.row) for branch in view.refs.branches}
    assert named == {"early": "11111111", "talk": "22222222"}
    assert view.refs.head_branch == "talk"


def test_names_follow_their_entries_when_a_line_is_put_in_front(tmp_path: Path) -> None:
    box = Box(tmp_path)
    data = build_session("a-b-c, b-d")
    view = view_of(box.store, box.put(data))
    row = view.table.row_named("bbbbbbbb")
    assert row is not None
    operations.create_branch(view, "fork", row, force=False, now=NOW, command="pivcs branch fork")
    operations.delete_branches(view, ["b-dddddddd"], now=NOW, command="pivcs branch -d b-dddddddd")
    operations.set_tag(view, "fixed", view.table.object_id(row), force=False, now=NOW, command="pivcs tag fixed")
    head, rest = data[: data.index(b"\n") + 1], data[data.index(b"\n") + 1 :]
    view = view_of(box.store, box.put(head + message_line("eeeeeeee") + rest))
    named = {branch.name: view.table.name(branch.row) for branch in view.refs.branches}
    assert named["fork"] == "bbbbbbbb"
    assert "b-dddddddd" not in named  # the user deleted it, and its end is what it was
    assert set(view.refs.tags) == {"fixed"}


def test_every_node_of_an_older_generation_keeps_a_name(tmp_path: Path) -> None:
    box = Box(tmp_path)
    box.put(build_session("a-b-c, b-d"))
    view = view_of(box.store, box.put(build_session("x-y")))
    elsewhere = {name.name: name for name in view.refs.elsewhere}
    assert set(elsewhere) == {"g1/main", "g1/b-dddddddd"}
    old = view_of(box.store, elsewhere["g1/main"].stream)
    on_paths = {row for name in elsewhere.values() for row in naive_path(old, name.row)}
    assert on_paths == set(old.table.nodes())


def test_deleted_automatic_branch_does_not_come_back(tmp_path: Path) -> None:
    box = Box(tmp_path)
    view = view_of(box.store, box.put(build_session("a-b-c, b-d")))
    operations.delete_branches(view, ["b-dddddddd"], now=NOW, command="pivcs branch -d")
    for more in (b"", message_line("eeeeeeee", "cccccccc"), message_line("ffffffff", "dddddddd")):
        box.append(more)
        view = box_view(box)
        assert "b-dddddddd" not in {branch.name for branch in view.refs.branches}
    assert {branch.name for branch in view.refs.branches} == {MAIN, "b-ffffffff"}
