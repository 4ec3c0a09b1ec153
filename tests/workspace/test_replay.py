"""Replaying what a model of the client did: the files are those of its disk, or replay says that it does not know."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pivcs.objects.table import Table
from pivcs.ops.replaying import iter_changes, replay_path
from pivcs.ops.view import SessionView, open_file
from pivcs.session.entries import Entry
from pivcs.workspace.base import MappingBase
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change, FilePath, FileState, Provenance
from tests.builders import CWD, message_line
from tests.ops.views import view_of
from tests.talks import Talk
from tests.workspace.model import Project

PATHS = st.sampled_from(["a", "b", "dir/a", f"{CWD}/b", "@dir/a"])
WORDS = st.sampled_from(["x", "y", "z", "xx", "line", "\u00e9", "\U0001f600"])
TEXTS = st.lists(WORDS, max_size=6).map(lambda words: "".join(word + "\n" for word in words))


@st.composite
def projects(draw: st.DrawFn, *, unseen: bool = False) -> Project:
    """Draw a project that was worked on; with `unseen`, also by somebody who leaves no trace."""
    project = Project({name: draw(TEXTS).encode() for name in draw(st.lists(st.sampled_from(["a", "b", "dir/a"])))})
    project.say()
    kinds = ["read", "write", "edit", "edit", "edit", "back", "pair", "lost", "failed"]
    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from([*kinds, "unseen", "shell"] if unseen else kinds))
        path = draw(PATHS)
        if kind == "back":
            project.go_back(draw(st.sampled_from(sorted(project.disks))))
        elif kind == "unseen":
            project.unseen({draw(st.sampled_from(["a", "b", "dir/a"])): draw(st.none() | TEXTS.map(str.encode))})
        elif kind == "shell":
            project.shell("echo x >> dir/a", {"dir/a": project.disk.get("dir/a", b"") + b"x\n"})
        elif kind == "pair":
            project.calls(call(draw, "write", path), call(draw, "edit", path))
        elif kind == "lost":
            project.calls(call(draw, "write", path), answered=False)
        elif kind == "failed":
            project.calls(("edit", {"path": path, "oldText": "nowhere", "newText": ""}))
        else:
            project.calls(call(draw, kind, path))
    return project


def call(draw: st.DrawFn, kind: str, path: str) -> tuple[str, dict[str, object]]:
    if kind == "read":
        return "read", {"path": path}
    if kind == "write":
        return "write", {"path": path, "content": draw(TEXTS)}
    return "edit", {"path": path, "oldText": draw(WORDS) + "\n", "newText": draw(TEXTS)}


def opened(project: Project, folder: str) -> SessionView:
    file = Path(folder) / "session.jsonl"
    file.write_bytes(project.data)
    return open_file(file)


def row_of(table: Table, ident: str) -> int:
    row = table.row_named(ident)
    assert row is not None
    return row


@settings(max_examples=150)
@given(projects())
def test_replay_gives_the_bytes_of_the_disk_on_every_branch(project: Project) -> None:
    first = MappingBase(project.disks["00000001"])
    with TemporaryDirectory() as folder, opened(project, folder) as view:
        for ident, disk in project.disks.items():
            for path, state in replay_path(view, row_of(view.table, ident), first).items():
                if state.is_exact:
                    assert state.content == disk.get(path.text), (ident, state)
                else:
                    # Only a file that no base knows and no result told can be edited from nothing.
                    assert state.provenance is Provenance.PATCH
                    assert path.text not in first.paths()


@settings(max_examples=200)
@given(projects(unseen=True), st.booleans())
def test_nothing_is_claimed_that_a_later_read_disproves(project: Project, with_base: bool) -> None:
    for name in ("a", "b", "dir/a"):
        project.calls(("read", {"path": name}))
    base = MappingBase(project.disks["00000001"]) if with_base else None
    with TemporaryDirectory() as folder, opened(project, folder) as view:
        names = [view.table.name(row) for row in view.table.path(row_of(view.table, str(project.parent)))]
        for place, ident in enumerate(names):
            for path, state in replay_path(view, row_of(view.table, ident), base).items():
                if state.is_exact and is_judged(project, names, place, path.text):
                    assert state.content == project.disks[ident].get(path.text), (ident, state)


def is_judged(project: Project, names: list[str], place: int, file: str) -> bool:
    """Whether a read shows what became of a file after an entry: before it is written anew or named by a command.

    When it was changed unseen twice around the entry, it may be as it was before.
    """
    unseen = 0
    for ident in reversed(names[: place + 1]):
        for kind, path in reversed(project.events[ident]):
            if path == file and kind in ("read", "write"):
                break
            unseen += path == file and kind == "unseen"
        else:
            continue
        break
    for ident in names[place + 1 :]:
        for kind, path in project.events[ident]:
            if path == file:
                unseen += kind == "unseen"
                if kind != "unseen":
                    return kind == "read" and unseen < 2
    return False


def changes_of(project: Project, base: MappingBase | None = None) -> list[Change]:
    with TemporaryDirectory() as folder, opened(project, folder) as view:
        assert view.head is not None
        return list(iter_changes(view, view.head, base))


def state_of(project: Project, name: str, at: str | None = None, base: MappingBase | None = None) -> FileState:
    with TemporaryDirectory() as folder, opened(project, folder) as view:
        row = row_of(view.table, at or str(project.parent))
        return replay_path(view, row, base)[FilePath(name, True)]


def test_edit_of_an_unknown_file_leaves_its_patch() -> None:
    project = Project({"a": b"x\ny\n"})
    project.calls(("edit", {"path": "a", "oldText": "x", "newText": "z"}))
    project.calls(("edit", {"path": "a", "oldText": "y", "newText": "w"}))
    state = state_of(project, "a")
    assert (state.provenance, state.content, state.is_exact) == (Provenance.PATCH, None, False)
    assert [text.count("\n+") for text in state.patches] == [2, 2]
    assert "+z" in state.patches[0]


def test_edit_whose_text_is_not_in_the_known_file_shows_an_unseen_change() -> None:
    project = Project({"a": b"x\n"})
    project.calls(("read", {"path": "a"}))
    project.unseen({"a": b"y\nline\n"})
    project.calls(("edit", {"path": "a", "oldText": "y", "newText": "z"}))
    last = changes_of(project)[-1]
    assert (last.kind, last.after.provenance) == ("unseen", Provenance.PATCH)
    assert last.before is not None
    assert last.before.content == b"x\n"


def test_edit_at_another_place_shows_an_unseen_change() -> None:
    project = Project({"a": b"x\n"})
    project.calls(("read", {"path": "a"}))
    project.unseen({"a": b"line\nx\n"})
    project.calls(("edit", {"path": "a", "oldText": "x", "newText": "z"}))
    assert changes_of(project)[-1].kind == "unseen"


def test_failed_edit_of_a_text_that_should_be_there_shows_an_unseen_change() -> None:
    project = Project({"a": b"x\n"})
    project.calls(("read", {"path": "a"}))
    project.unseen({"a": b"y\n"})
    project.calls(("edit", {"path": "a", "oldText": "x", "newText": "z"}))
    last = changes_of(project)[-1]
    assert (last.kind, last.after.provenance, last.after.content) == ("unseen", Provenance.UNKNOWN, b"x\n")


def test_whole_read_shows_and_ends_an_unseen_change() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}))
    written = project.parent
    between = project.say()
    project.unseen({"a": b"y\n"})
    project.calls(("read", {"path": "a"}))
    assert state_of(project, "a", written).content == b"x\n"
    assert state_of(project, "a", written).is_exact
    doubtful = state_of(project, "a", between)
    assert (doubtful.provenance, doubtful.content) == (Provenance.UNKNOWN, b"x\n")
    assert doubtful.unknown_since == state_of(project, "a", written).known_at
    assert (state_of(project, "a").provenance, state_of(project, "a").content) == (Provenance.WHOLE, b"y\n")
    assert [change.kind for change in changes_of(project)] == ["write", "unseen"]


def test_looking_ahead_follows_the_branch_that_is_asked_for() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}))
    fork = project.say()
    project.unseen({"a": b"y\n"})
    project.calls(("read", {"path": "a"}))
    changed = str(project.parent)
    project.go_back(fork)
    project.calls(("read", {"path": "a"}))
    with TemporaryDirectory() as folder, opened(project, folder) as view:
        row = row_of(view.table, fork)
        file = FilePath("a", True)
        assert replay_path(view, row)[file].is_exact
        assert not replay_path(view, row, ahead=row_of(view.table, changed))[file].is_exact
        assert replay_path(view, row, ahead=row)[file].is_exact


def test_command_makes_unknown_what_it_names_until_it_is_read() -> None:
    project = Project()
    project.calls(("write", {"path": "dir/a", "content": "x\n"}), ("write", {"path": "b", "content": "x\n"}))
    project.shell("sed -i s/x/y/ dir/a", {"dir/a": b"y\n"})
    state = state_of(project, "dir/a")
    assert (state.provenance, state.content, state.unknown_since) == (Provenance.UNKNOWN, b"x\n", state.known_at + 2)
    assert state_of(project, "b").is_exact
    project.calls(("read", {"path": "dir/a"}))
    assert state_of(project, "dir/a").content == b"y\n"
    assert changes_of(project)[-1].kind == "read"


def test_edit_of_an_unknown_file_does_not_make_it_known() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\ny\n"}))
    project.shell("sed -i s/x/z/ a", {})
    project.calls(("edit", {"path": "a", "oldText": "y", "newText": "w"}))
    state = state_of(project, "a")
    assert (state.provenance, state.content) == (Provenance.UNKNOWN, b"x\nw\n")
    assert state.changed_at is not None


def test_command_beside_a_write_leaves_the_file_unknown_in_either_order() -> None:
    for order in (1, -1):
        project = Project()
        calls = [("write", {"path": "a", "content": "x\n"}), ("bash", {"command": "echo y > a"})][::order]
        blocks = [{"type": "toolCall", "id": name, "name": name, "arguments": given} for name, given in calls]
        project._add(lambda ident, parent, blocks=blocks: message_line(ident, parent, "assistant", blocks))
        for name, _ in calls:
            project.result(name, name, "")
        assert state_of(project, "a").provenance is Provenance.UNKNOWN


def test_read_beside_an_edit_tells_nothing() -> None:
    project = Project({"a": b"x\n"})
    project.calls(("read", {"path": "a"}))
    blocks = [
        {"type": "toolCall", "id": "1", "name": "edit", "arguments": {"path": "a", "oldText": "x", "newText": "y"}},
        {"type": "toolCall", "id": "2", "name": "read", "arguments": {"path": "a"}},
    ]
    project._add(lambda ident, parent: message_line(ident, parent, "assistant", blocks))
    project.result("1", "edit", *project.run("edit", {"path": "a", "oldText": "x", "newText": "y"}))
    project.result("2", "read", "x\n")
    assert [change.kind for change in changes_of(project)] == ["read", "edit"]
    assert state_of(project, "a").content == b"y\n"


@pytest.mark.parametrize(
    ("arguments", "text", "details"),
    [
        ({"limit": 1}, "x\n\n[2 more lines in file. Use offset=2 to continue.]", None),
        ({"offset": 2}, "y\nz\n", None),
        ({}, "x\ny\n\n[Showing lines 1-2 of 4. Use offset=3 to continue.]", {"truncation": {"truncated": True}}),
    ],
)
def test_read_of_a_part_does_not_tell_the_file_but_may_contradict_it(
    arguments: dict[str, object], text: str, details: dict[str, object] | None
) -> None:
    for known, kinds in (("x\ny\nz\n", ["write"]), ("q\nq\nz\n", ["write", "unseen"]), (None, [])):
        project = Project()
        if known is not None:
            project.calls(("write", {"path": "a", "content": known}))
        project.calls(("read", {"path": "a", **arguments}), answered=False)
        project.result(f"call_{len(project.lines) - 1}_0", "read", text, details=details)
        assert [change.kind for change in changes_of(project)] == kinds


def test_file_that_is_not_there_is_known_to_be_absent() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}))
    project.unseen({"a": None})
    project.calls(("read", {"path": "a"}))
    assert changes_of(project)[-1].kind == "unseen"
    state = state_of(project, "a")
    assert (state.is_exact, state.content) == (True, None)


def test_calls_without_a_result_did_not_happen() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}), answered=False)
    assert changes_of(project) == []


def test_result_before_its_call_is_passed_over() -> None:
    project = Project()
    project.result("call_2_0", "write", "Successfully wrote to a")
    project.calls(("write", {"path": "a", "content": "x\n"}), answered=False)
    assert changes_of(project) == []


def test_aborted_write_may_have_happened() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}))
    project.calls(("write", {"path": "a", "content": "y\n"}), answered=False)
    project.result("call_3_0", "write", "Operation aborted", failed=True)
    assert state_of(project, "a").provenance is Provenance.UNKNOWN


def test_aborted_call_tells_nothing_of_what_was_before() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}))
    between = project.say()
    project.calls(("edit", {"path": "a", "oldText": "x", "newText": "y"}), answered=False)
    project.result("call_4_0", "edit", "Operation aborted", failed=True)
    assert changes_of(project)[-1].kind == "edit"
    project.unseen({"a": b"y\n"})
    project.calls(("read", {"path": "a"}))
    assert state_of(project, "a", between).is_exact


def test_snapshot_further_on_shows_an_unseen_change() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\n"}))
    between, taken = project.say(), project.say()
    file = FilePath("a", True)
    with TemporaryDirectory() as folder, opened(project, folder) as view:
        row, later = row_of(view.table, between), row_of(view.table, taken)
        for content, exact in ((b"x\n", True), (b"y\n", False)):
            snapshots = {later: MappingBase({"a": content}, "snapshot 1")}
            assert replay_path(view, row, snapshots=snapshots)[file].is_exact is exact
            state = replay_path(view, later, snapshots=snapshots)[file]
            assert (state.provenance, state.content) == (Provenance.SNAPSHOT, content)
            assert [change.kind for change in iter_changes(view, later, snapshots=snapshots)] == ["write", "snapshot"]


def test_calls_of_a_script_count_when_they_went_well() -> None:
    project = Project()
    project.calls(("write", {"path": "a", "content": "x\ny\n"}))
    project.calls(("codemode", {"code": "edit b"}), answered=False)
    edit = {"path": "a", "edits": {"oldText": "x", "newText": "z"}}
    calls = [
        {"id": "1", "name": "edit", "arguments": edit, "status": "ok"},
        {"id": "2", "name": "write", "arguments": {"path": "b", "content": "b\n"}, "status": "ok"},
        {"id": "3", "name": "write", "arguments": {"path": "c", "content": "c\n"}, "status": "error"},
        {"id": "4", "name": "write", "arguments": {"path": "d", "content": "d\n"}, "status": "unfinished"},
        {"id": "5", "name": "write", "argumentsBytes": 100_000, "status": "ok"},
    ]
    nested = {"calls": calls, "complete": True}
    project.result("call_3_0", "codemode", "failed later", failed=True, nestedCalls=nested)
    states = [change.after for change in changes_of(project)[1:]]
    assert [(state.path.text, state.provenance, state.content) for state in states] == [
        ("a", Provenance.DERIVED, b"z\ny\n"),
        ("b", Provenance.WHOLE, b"b\n"),
        ("d", Provenance.UNKNOWN, None),
    ]


def test_content_of_a_base_is_named() -> None:
    project = Project({"a": b"x\n"})
    project.calls(("edit", {"path": "a", "oldText": "x", "newText": "y"}))
    state = state_of(project, "a", base=MappingBase({"a": b"x\n"}, "commit 1a2b3c4d"))
    assert (state.provenance, state.content, state.base) == (Provenance.DERIVED, b"y\n", "commit 1a2b3c4d")


def test_command_makes_files_of_the_base_unknown_before_they_are_met() -> None:
    base = MappingBase({"a": b"x\n", "b": b"x\n"})
    project = Project({"a": b"x\n", "b": b"x\n"})
    project.shell("sed -i s/q/r/ a", {})
    project.calls(("edit", {"path": "a", "oldText": "x", "newText": "y"}))
    assert state_of(project, "a", base=base).provenance is Provenance.UNKNOWN
    project.shell("git stash", {})
    project.calls(("edit", {"path": "b", "oldText": "x", "newText": "y"}))
    assert state_of(project, "b", base=base).provenance is Provenance.UNKNOWN


def test_snapshot_takes_the_place_of_what_was_known() -> None:
    replay = Replay(CWD)
    replay.apply(1, Entry({"type": "message", "message": {"role": "assistant", "content": [
        {"type": "toolCall", "id": name, "name": "write", "arguments": {"path": name, "content": "old"}}
        for name in "ab"
    ]}}))  # fmt: skip
    for row, name in enumerate("ab", 2):
        replay.apply(row, Entry({"type": "message", "message": {"role": "toolResult", "toolCallId": name}}))
    branch = replay.fork()
    changes = replay.reset(9, MappingBase({"a": b"new", "c": b"c"}, "snapshot 1"))
    assert [(change.kind, change.path.text, change.after.content) for change in changes] == [
        ("snapshot", "a", b"new"), ("snapshot", "b", b"old"),
    ]  # fmt: skip
    first, second = replay.states()
    assert (first.provenance, first.known_at, first.base) == (Provenance.SNAPSHOT, 9, "snapshot 1")
    assert (second.provenance, second.unknown_since) == (Provenance.UNKNOWN, 9)
    assert [state.content for state in branch.states()] == [b"old", b"old"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(("status", "patch", "diff", "truncation", "edits", "exitCode")), JSON))
def test_details_may_say_anything(details: dict[str, object]):
    talk = Talk()
    for tool, arguments in (
        ("write", {"path": "a", "content": "b\n"}), ("edit", {"path": "a", "oldText": "b", "newText": "c"}),
        ("read", {"path": "a"}), ("bash", {"command": "ls"}),
    ):  # fmt: skip
        talk.call(tool, arguments, output="ok", details=details)
    replay = Replay(None)
    view = view_of(talk.data)
    for row in view.table.nodes():
        replay.apply(row, view.entry(row))
