from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.fsck import fsck
from pivcs.ops.gc import collect_garbage
from pivcs.ops.operation_log import list_operations
from pivcs.ops.restore_undo import FilesChanged, write_kept
from pivcs.ops.work_tree import TreeInUse, WorkTree
from pivcs.store.kept import KeptStore
from pivcs.store.store import Store
from pivcs.workspace.base import BaseFile, MappingBase
from tests.ops.restoring import Image, Project, image, knowledge, project, put

BEFORE = {"a": b"new", "b": b"1", "made/deep/x": b"mine", "untracked": b"u", "dir/keep": b"k"}
KNOWN = knowledge(
    {"a": b"old", "b": b"1", "made/deep/x": None, "gone/y": b"back"},
    {"a": b"new", "b": b"1", "made/deep/x": b"mine"},
    created=("made/deep/x",),
    base=MappingBase({"a": b"old", "b": b"1"}),
)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.in_memory() as opened:
        yield opened


@pytest.fixture
def work(tmp_path: Path, store: Store) -> Project:
    return project(tmp_path, BEFORE, store)


def contents(root: Path) -> dict[str, bytes]:
    return {name: data for name, (mode, data) in image(root).items() if stat.S_ISREG(mode)}


def test_restored_files_are_as_they_were_and_undo_brings_all_back(work: Project) -> None:
    before = image(work.root)
    applied = work.restore(KNOWN)
    assert [(each.file.path.text, each.outcome) for each in applied.files] == [
        ("a", "done"), ("gone/y", "done"), ("made/deep/x", "done"),
    ]  # fmt: skip
    after = image(work.root)
    assert contents(work.root) == {"a": b"old", "b": b"1", "gone/y": b"back", "untracked": b"u", "dir/keep": b"k"}
    assert "made" not in after
    assert work.undo().operation.id == applied.operation
    assert image(work.root) == before
    work.redo()
    assert image(work.root) == after
    work.undo()
    assert image(work.root) == before


def test_log_of_operations_says_how_many_files(work: Project, store: Store) -> None:
    work.restore(KNOWN)
    (logged,) = list_operations(store, kinds=["user"])
    (change,) = logged.changes
    assert (change.ref, change.name) == ("files", str(work.root))
    assert change.new == b"1 created, 1 changed, 1 deleted"


def test_second_restore_has_nothing_to_do(work: Project, store: Store) -> None:
    work.restore(KNOWN)
    assert work.restore(KNOWN).operation is None
    assert len(list(list_operations(store, kinds=["user"]))) == 1


def test_mode_stays_that_of_the_file(work: Project) -> None:
    (work.root / "a").chmod(0o751)
    work.restore(KNOWN)
    assert stat.S_IMODE((work.root / "a").stat().st_mode) == 0o751
    (work.root / "a").chmod(0o600)
    work.undo()
    assert stat.S_IMODE((work.root / "a").stat().st_mode) == 0o751


def test_removed_directory_comes_back_with_its_mode_whatever_the_umask(work: Project) -> None:
    (work.root / "made").chmod(0o775)
    (work.root / "made/deep").chmod(0o3771)
    before = image(work.root)
    work.restore(KNOWN)
    assert not (work.root / "made").exists()
    mask = os.umask(0o077)
    try:
        work.undo()
    finally:
        os.umask(mask)
    assert image(work.root) == before


def test_mode_of_a_snapshot_comes_back_and_undo_takes_it_away(work: Project) -> None:
    snapshot = MappingBase({"b": BaseFile(b"1", executable=True), "l": BaseFile(b"b", symlink=True)}, "snapshot 1")
    before = image(work.root)
    work.restore(knowledge({}, {}, snapshot=snapshot))
    assert stat.S_IMODE((work.root / "b").stat().st_mode) == 0o755
    assert os.readlink(work.root / "l") == "b"
    work.undo()
    assert image(work.root) == before


def test_read_only_file_is_restored_and_stays_read_only(work: Project) -> None:
    (work.root / "a").chmod(0o444)
    before = image(work.root)
    work.restore(KNOWN)
    assert (work.root / "a").read_bytes() == b"old"
    assert stat.S_IMODE((work.root / "a").stat().st_mode) == 0o444
    work.undo()
    assert image(work.root) == before


def test_forced_link_is_replaced_and_what_it_leads_to_stays(work: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    (work.root / "a").unlink()
    (work.root / "a").symlink_to(outside)
    before = image(work.root)
    assert [each.file.path.text for each in work.restore(KNOWN).files] == ["gone/y", "made/deep/x"]
    work.undo()
    work.restore(KNOWN, force=True)
    assert (work.root / "a").read_bytes() == b"old"
    assert not (work.root / "a").is_symlink()
    assert outside.read_bytes() == b"precious"
    work.undo()
    assert image(work.root) == before


def test_forced_conflict_can_be_brought_back(work: Project) -> None:
    put(work.root, {"a": b"my own work"})
    before = image(work.root)
    assert "a" not in [each.file.path.text for each in work.restore(KNOWN).files]
    work.undo()
    work.restore(KNOWN, force=True)
    assert (work.root / "a").read_bytes() == b"old"
    work.undo()
    assert image(work.root) == before


def test_file_that_changes_after_the_plan_is_left_and_the_rest_goes_on(work: Project) -> None:
    plan = work.plan(KNOWN)
    put(work.root, {"a": b"somebody was faster", "gone/y": b"and here"})
    applied = work.apply(plan)
    assert {each.file.path.text: each.outcome for each in applied.files} == {
        "a": "changed", "gone/y": "changed", "made/deep/x": "done",
    }  # fmt: skip
    assert contents(work.root)["a"] == b"somebody was faster"
    assert contents(work.root)["gone/y"] == b"and here"
    assert applied.undone == 2
    work.undo()
    assert contents(work.root) == BEFORE | {"a": b"somebody was faster", "gone/y": b"and here"}


def test_directory_that_becomes_a_link_in_between_is_not_followed(work: Project, tmp_path: Path) -> None:
    plan = work.plan(knowledge({"dir/keep": b"evil", "dir/new": b"evil"}, {"dir/keep": b"k"}))
    (work.root / "dir").rename(tmp_path / "moved")
    (work.root / "dir").symlink_to(tmp_path / "moved")
    applied = work.apply(plan)
    assert {each.outcome for each in applied.files} <= {"changed", "failed"}
    assert contents(tmp_path / "moved") == {"keep": b"k"}


def test_undo_does_nothing_when_one_file_was_changed_since(work: Project, tmp_path: Path) -> None:
    applied = work.restore(KNOWN)
    put(work.root, {"a": b"went on"})
    after = image(work.root)
    with pytest.raises(FilesChanged, match="'a' has changed since, so nothing was done") as caught:
        work.undo()
    assert caught.value.paths == ["a"]
    assert f"`pivcs undo {applied.operation} --dest DIR`" in str(caught.value.hint)
    assert image(work.root) == after
    (work.root / "a").rename(tmp_path / "aside")
    with pytest.raises(FilesChanged):
        work.undo()
    put(work.root, {"a": b"old"})
    work.undo()
    assert contents(work.root) == BEFORE


def test_old_files_can_be_written_elsewhere(work: Project, store: Store, tmp_path: Path) -> None:
    applied = work.restore(KNOWN)
    put(work.root, {"a": b"went on"})
    assert applied.operation is not None
    assert write_kept(store, applied.operation, tmp_path / "old") == ["a", "made/deep/x"]
    assert contents(tmp_path / "old") == {"a": b"new", "made/deep/x": b"mine"}


def test_directory_that_got_a_file_is_not_removed_by_undo(work: Project) -> None:
    work.restore(KNOWN)
    put(work.root, {"gone/other": b"z"})
    work.undo()
    assert contents(work.root) == BEFORE | {"gone/other": b"z"}


def test_directory_with_a_file_of_others_is_not_removed(work: Project) -> None:
    put(work.root, {"made/deep/untracked": b"z"})
    work.restore(KNOWN)
    assert contents(work.root)["made/deep/untracked"] == b"z"


def test_two_restores_in_one_directory_wait_for_each_other(work: Project) -> None:
    with WorkTree(str(work.root)) as tree, tree.alone(), pytest.raises(TreeInUse, match="right now"):
        work.restore(KNOWN)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_directory_that_cannot_be_written_fails_and_the_rest_goes_on(work: Project) -> None:
    (work.root / "made" / "deep").chmod(0o555)
    try:
        applied = work.restore(KNOWN)
    finally:
        (work.root / "made" / "deep").chmod(0o755)
    assert {each.file.path.text: each.outcome for each in applied.files}["made/deep/x"] == "failed"
    assert (work.root / "a").read_bytes() == b"old"


def test_gc_keeps_what_an_undo_needs_and_fsck_checks_it(work: Project, store: Store) -> None:
    large = os.urandom(3 << 20)
    put(work.root, {"a": large})
    before = image(work.root)
    work.restore(knowledge({"a": b"old" * 5000}, {"a": large}))
    collect_garbage(store)
    assert [each.id for each in fsck(store, sources=False)] == []
    work.undo()
    assert image(work.root) == before
    work.redo()
    store.database.connection.execute("UPDATE chunk SET data = zeroblob(length(data)) WHERE size = 1048576")
    assert {each.id for each in fsck(store, sources=False)} == {"kept-damaged"}
    with pytest.raises(FilesChanged, match=r"store.*damaged"):
        work.undo()
    assert contents(work.root)["a"] == b"old" * 5000


def test_equal_contents_are_kept_once(work: Project, store: Store) -> None:
    for _ in range(3):
        work.restore(KNOWN)
        work.undo()
    assert len(KeptStore(store.database).contents()) == 4


NAMES = ["a", "b", "d/x", "d/y", "d/e/z", "q"]
CONTENT = st.sampled_from([b"", b"1", b"2", b"3", b"x" * 5000])
MAYBE = st.one_of(st.none(), CONTENT)
DISK = st.dictionaries(st.sampled_from(NAMES), st.tuples(CONTENT, st.sampled_from([0o644, 0o755, 0o444])))


@given(
    DISK, st.dictionaries(st.sampled_from([*NAMES, "d"]), MAYBE), st.dictionaries(st.sampled_from(NAMES), MAYBE),
    st.sets(st.sampled_from(NAMES)), st.dictionaries(st.sampled_from(NAMES), CONTENT), st.booleans(),
    st.sets(st.sampled_from(NAMES)),
)  # fmt: skip
def test_apply_and_undo_is_nothing_and_no_unknown_byte_goes(
    tmp_path_factory: pytest.TempPathFactory,
    disk: dict[str, tuple[bytes, int]],
    target: dict[str, bytes | None],
    current: dict[str, bytes | None],
    created: set[str],
    base: dict[str, bytes],
    force: bool,
    links: set[str],
) -> None:
    with Store.in_memory() as store:
        work = project(tmp_path_factory.mktemp("law"), {name: data for name, (data, _) in disk.items()}, store)
        for name, (_, mode) in disk.items():
            (work.root / name).chmod(mode)
        for name in links - set(disk):
            (work.root / name).parent.mkdir(parents=True, exist_ok=True)
            (work.root / name).symlink_to("nowhere")
        known = knowledge(target, current, created=tuple(created), base=MappingBase(base))
        before = image(work.root)
        plan = work.plan(known, force=force)
        applied = work.apply(plan)
        assert applied.undone == 0
        after = image(work.root)
        check_accounts(plan.counts()["conflict"], before, after, target, current, created, force)
        for file in plan.files:
            if file.action in ("create", "change", "unchanged"):
                wanted = file.wanted.content if file.wanted is not None else None
                there = after.get(file.path.text)
                assert (None if there is None or stat.S_ISDIR(there[0]) else there[1]) == wanted
        if applied.operation is not None:
            work.undo()
            assert image(work.root) == before
            work.redo()
            assert image(work.root) == after
            work.undo()
        assert image(work.root) == before
        assert not [name for name in image(work.root) if ".pivcs" in name]


def check_accounts(
    conflicts: int,
    before: Image,
    after: Image,
    target: dict[str, bytes | None],
    current: dict[str, bytes | None],
    created: set[str],
    force: bool,
) -> None:
    """What has gone from the disk is what the session knows, and what was deleted it has made."""
    assert not (force and conflicts)
    for name, (mode, data) in before.items():
        if stat.S_ISDIR(mode) or after.get(name) == (mode, data):
            continue
        if name not in after:
            assert name in created
        if not force:
            assert data in (target.get(name), current.get(name))
            assert stat.S_ISREG(mode)
