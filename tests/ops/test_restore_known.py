from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.hashing import whole_hash
from pivcs.ops.restore_known import Snapshot, restore_knowledge
from pivcs.ops.restore_plan import Knowledge
from pivcs.ops.view import SessionView, open_file
from pivcs.store.store import Store
from pivcs.workspace.base import Base, MappingBase
from pivcs.workspace.state import FileState, Provenance
from tests.ops.restoring import Story, image, path_of, project, put


def view_of(story: Story, directory: Path) -> SessionView:
    return open_file(story.save(directory / "story.jsonl"))


def known_at(story: Story, directory: Path, entry: str, base: Base | None = None) -> Knowledge:
    with view_of(story, directory) as view:
        row = view.table.row_named(entry)
        assert row is not None
        return restore_knowledge(view, row, base)


def state(known: Knowledge, path: str) -> tuple[Provenance, bytes | None] | None:
    found: FileState | None = known.target.get(path_of(path))
    return None if found is None else (found.provenance, found.content)


def test_file_met_later_is_as_it_was_read(tmp_path: Path) -> None:
    story = Story(tmp_path)
    start = story.prompt("x")
    story.read("a", b"1\n")
    story.write("a", b"2\n")
    known = known_at(story, tmp_path, start)
    assert state(known, "a") == (Provenance.WHOLE, b"1\n")
    assert known.read_later == {path_of("a")}
    assert known.seen == {path_of("a"): {whole_hash([b"1\n"]), whole_hash([b"2\n"])}}
    assert known.created == set()


def test_commit_gives_way_to_the_first_read(tmp_path: Path) -> None:
    story = Story(tmp_path)
    start = story.prompt("x")
    story.read("a", b"dirty\n")
    story.write("a", b"2\n")
    story.write("b", b"2\n")
    known = known_at(story, tmp_path, start, MappingBase({"a": b"committed\n", "b": b"1\n"}))
    assert state(known, "a") == (Provenance.WHOLE, b"dirty\n")
    assert state(known, "b") == (Provenance.DERIVED, b"1\n")


@pytest.mark.parametrize("tool", ["bash", "powershell", "exec", "some_tool"])
def test_read_behind_what_leaves_no_trace_is_only_the_last_known(tmp_path: Path, tool: str) -> None:
    story = Story(tmp_path)
    start = story.prompt("x")
    story.call(tool, {"command": "make"})
    story.read("a", b"1\n")
    known = known_at(story, tmp_path, start)
    assert state(known, "a") == (Provenance.UNKNOWN, b"1\n")
    assert known.read_later == set()


def test_edit_without_a_base_says_nothing_of_before(tmp_path: Path) -> None:
    story = Story(tmp_path)
    start = story.prompt("x")
    story.edit("a", "old", "new")
    known = known_at(story, tmp_path, start)
    assert state(known, "a") is None
    assert path_of("a") in known.current


def test_files_of_all_branches_are_the_sessions_own(tmp_path: Path) -> None:
    story = Story(tmp_path)
    fork = story.prompt("x")
    story.write("made", b"1\n")
    story.last = fork
    story.write("other", b"2\n")
    known = known_at(story, tmp_path, fork, MappingBase({}))
    assert known.created == {path_of("made"), path_of("other")}
    assert set(known.current) == {path_of("other")}


def test_file_that_was_read_before_it_was_written_was_not_made(tmp_path: Path) -> None:
    story = Story(tmp_path)
    start = story.prompt("x")
    story.call("read", {"path": "a", "offset": 1, "limit": 1}, "first line\n\n[9 more lines in file]")
    story.write("a", b"2\n")
    story.write("b", b"1\n")
    assert path_of("b") in known_at(story, tmp_path, start).created


def test_snapshot_tells_all_and_what_was_done_since_goes_on_top(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.write("a", b"1\n")
    taken = story.prompt("x")
    later = story.edit("a", "by hand", "by the agent")
    story.write("c", b"3\n")
    with view_of(story, tmp_path) as view:
        rows = [view.table.row_named(name) for name in (taken, later)]
        assert rows[0] is not None
        assert rows[1] is not None
        snapshot = Snapshot(rows[0], MappingBase({"a": b"by hand\n", "b": b"2\n"}, "snapshot 1"))
        known = restore_knowledge(view, rows[1], MappingBase({"a": b"0\n"}), snapshot)
    assert state(known, "a") == (Provenance.DERIVED, b"by the agent\n")
    assert state(known, "c") is None
    assert known.base is None
    assert known.snapshot is snapshot.base


NAMES = st.sampled_from(["a", "b", "d/x"])
TEXTS = st.sampled_from([b"1\n", b"2\n", b"3\n", b"long\n" * 99])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["write", "read", "edit"]), NAMES, TEXTS),
        st.tuples(st.just("go"), st.integers(0, 20), st.none()), st.tuples(st.just("prompt"), st.none(), st.none()),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@given(STEPS, st.dictionaries(NAMES, TEXTS), st.integers(0, 100), st.booleans())
def test_files_of_any_entry_come_back_from_any_other(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, object, bytes | None]],
    base: Mapping[str, bytes],
    choice: int,
    with_base: bool,
) -> None:
    """A model of the tools writes the disk, also after going to another place of the conversation, which does not touch
    files. Restored files are as the disk was at the entry, when it was reached for the last time."""
    directory = tmp_path_factory.mktemp("law")
    with Store.in_memory() as store:
        work = project(directory, base, store)
        story = Story(work.root)
        disk = dict(base)
        moments = {story.prompt("start"): dict(disk)}
        went = False
        for kind, name, text in steps:
            if kind == "go":
                assert isinstance(name, int)
                story.last = list(moments)[name % len(moments)]
                # As if the files had been restored there, too: the conversation and the disk agree.
                disk = dict(moments[story.last])
                went = True
                continue
            if kind == "prompt":
                moments[story.prompt("go on")] = dict(disk)
                continue
            assert isinstance(name, str)
            assert text is not None
            if kind == "write":
                disk[name] = text
                moments[story.write(name, text)] = dict(disk)
            elif kind == "edit":
                if name in disk and disk[name] != text:
                    old = disk[name].decode()
                    disk[name] = text
                    moments[story.edit(name, old, text.decode())] = dict(disk)
            elif name in disk:
                moments[story.read(name, disk[name])] = dict(disk)
        for name in set(base) - set(disk):
            (work.root / name).unlink()
        put(work.root, disk)
        before = image(work.root)
        entry = list(moments)[choice % len(moments)]
        known = known_at(story, directory, entry, MappingBase(base) if with_base else None)
        plan = work.plan(known)
        applied = work.apply(plan)
        assert applied.undone == 0
        wanted = moments[entry]
        after = {name: data for name, (mode, data) in image(work.root).items() if mode & 0o100000 == 0o100000}
        if with_base:
            assert after == wanted, went
        else:  # what is not known of a file, or of the bytes on the disk, is left as it is
            left = {file.path.text for file in plan.files if file.action in ("unknown", "conflict")}
            done = {file.path.text for file in plan.files} - left
            assert {name: after.get(name) for name in done} == {name: wanted.get(name) for name in done}
            rest = (set(after) | set(disk)) - done
            assert {name: after.get(name) for name in rest} == {name: disk.get(name) for name in rest}
        if applied.operation is not None:
            work.undo()
        assert image(work.root) == before
