from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.errors import PivcsError
from pivcs.gitbridge.base import MissingObject
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.snapshots import NoSuchSnapshot, delete_snapshots, snapshot_base
from pivcs.gitbridge.work_tree import NESTED, REFUSED, SPECIAL, UNREADABLE, NoWorkTree
from pivcs.ops.operations import redo, undo
from pivcs.store.snapshots import snapshots_of
from pivcs.store.store import Store
from pivcs.workspace.base import BaseFile
from tests.builders import CLOCK
from tests.gitbridge.real_git import Project, State, new_project, state_of
from tests.gitbridge.taking import Taker, session_of

pytestmark = pytest.mark.interop


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"a": "1\n", "sub/b": "2\n"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "data").mkdir()
    with Store.open(tmp_path / "data" / "store.db", create=True) as store:
        yield store


@pytest.fixture
def taker(project: Project, store: Store, tmp_path: Path) -> Iterator[Taker]:
    with session_of(project.root, store, tmp_path / "s.jsonl") as view:
        yield Taker(view, project.root, tmp_path / "home")


def test_files_are_taken_as_they_are_on_disk(taker: Taker, project: Project) -> None:
    project.write({"a": "changed\r\n", "new/c": b"\0\xff", "empty": ""})
    (project.root / "sub" / "b").unlink()
    (project.root / "run").write_text("x")
    (project.root / "run").chmod(0o755)
    (project.root / "link").symlink_to("sub/b")
    (project.root / "to-directory").symlink_to("new")
    taken = taker.take("first")
    assert taken.left_out == ()
    assert taker.files(taken.record) == {
        "a": BaseFile(b"changed\r\n"),
        "empty": BaseFile(b""),
        "link": BaseFile(b"sub/b", symlink=True),
        "new/c": BaseFile(b"\0\xff"),
        "run": BaseFile(b"x", executable=True),
        "to-directory": BaseFile(b"new", symlink=True),
    }
    record = taken.record
    head = taker.view.head
    assert head is not None
    assert (record.id, record.message, record.time, record.files) == (1, "first", CLOCK, 6)
    assert record.oid == taker.view.table.digest(head)
    assert (record.root, record.prefix) == (os.fsencode(project.root), b"")
    assert snapshots_of(taker.store, record.session) == [record]


def test_git_sees_no_difference_between_snapshot_and_work_tree(taker: Taker, project: Project) -> None:
    project.write({"a": "changed\n", "untracked": "x\n"})
    project.git("add", "--intent-to-add", "untracked")
    tree = taker.take().record.tree.hex()
    objects = str(taker.repository / "objects")
    assert project.git("diff", tree, GIT_ALTERNATE_OBJECT_DIRECTORIES=objects) == ""
    project.write({"a": "again\n"})
    assert "+again" in project.git("diff", tree, GIT_ALTERNATE_OBJECT_DIRECTORIES=objects)


def test_nothing_in_the_project_changes(taker: Taker, project: Project) -> None:
    for name, value in (("core.splitIndex", "true"), ("core.untrackedCache", "true"), ("index.version", "4")):
        project.git("config", name, value)
    project.write({"a": "changed\n", "untracked": "x\n", "staged": "y\n"})
    project.git("add", "staged")
    before = state_of(project.root)
    taker.take()
    taker.take()
    # git itself refreshes the time of a shared index that it reads, so that it does not expire.
    assert without_times(state_of(project.root), "sharedindex") == without_times(before, "sharedindex")


def without_times(state: dict[str, State], word: str) -> dict[str, State]:
    """Return a state without the times of files whose names have a word in them."""
    return {name: (mode, 0 if word in name else time, data) for name, (mode, time, data) in state.items()}


def test_variables_of_git_have_no_say(taker: Taker, project: Project, decoy: Project) -> None:
    before, there = state_of(decoy.root), state_of(project.root)
    taken = taker.take()
    assert sorted(taker.files(taken.record)) == ["a", "sub/b"]
    assert state_of(decoy.root) == before
    assert state_of(project.root) == there


def test_what_git_ignores_is_not_taken(taker: Taker, project: Project, tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path / 'excludes'}\n")
    (tmp_path / "excludes").write_text("*.user\n")
    project.write({
        ".gitignore": "*.log\n!keep.log\n", "sub/.gitignore": "only-here\n", ".git/info/exclude": "*.private\n",
        "x.log": "", "keep.log": "", "sub/only-here": "", "only-here": "", "y.private": "", "z.user": "",
    })  # fmt: skip
    assert sorted(taker.files(taker.take().record)) == [
        ".gitignore", "a", "keep.log", "only-here", "sub/.gitignore", "sub/b",
    ]  # fmt: skip


def test_tracked_files_are_taken_though_they_are_ignored(taker: Taker, project: Project) -> None:
    project.write({".gitignore": "*.log\n", "tracked.log": "1"})
    project.git("add", "--force", "tracked.log")
    assert "tracked.log" in taker.files(taker.take().record)


def test_file_that_is_ignored_since_the_last_snapshot_is_not_in_the_next(taker: Taker, project: Project) -> None:
    project.write({"build/x": "1", "d": "file"})
    first = taker.take()
    assert "build/x" in taker.files(first.record)
    project.write({".gitignore": "build/\n"})
    (project.root / "d").unlink()
    project.write({"d/in": "directory"})  # where a file was
    second = taker.take()
    assert sorted(taker.files(second.record)) == [".gitignore", "a", "d/in", "sub/b"]
    shutil.rmtree(project.root / "d")
    project.write({"d": "file again"})
    assert sorted(taker.files(taker.take().record)) == [".gitignore", "a", "d", "sub/b"]
    assert taker.files(first.record)["build/x"] == BaseFile(b"1")


def test_no_filter_or_conversion_changes_the_bytes(taker: Taker, project: Project) -> None:
    home = Path(os.environ["HOME"])
    (home / ".gitconfig").write_text("[core]\n\tautocrlf = true\n\tsafecrlf = true\n[filter \"f\"]\n\tclean = exit 1\n")
    project.git("config", "core.autocrlf", "input")
    project.git("config", "filter.f.clean", "echo never")
    project.git("config", "filter.f.required", "true")
    wide = "é\n".encode("utf-16")
    files = {"crlf": b"a\r\nb\r\n", "mixed": b"a\r\nb\n", "id": b"$Id: x $\n", "big": b"data", "wide": wide}
    attributes = "* text=auto\nid ident\nbig filter=f\nwide working-tree-encoding=UTF-16\nmixed eol=crlf\n"
    project.write({**files, ".gitattributes": attributes})
    found = taker.files(taker.take().record)
    assert {name: found[name].content for name in files} == files


def test_unchanged_file_is_not_read_again(taker: Taker, project: Project) -> None:
    project.write({"kept": "kept\n"})
    os.utime(project.root / "kept", (1_700_000_000, 1_700_000_000))  # older than the index, or git has to look
    first = taker.take().record
    ident = project.git("hash-object", "kept")
    blob = taker.repository / "objects" / ident[:2] / ident[2:]
    blob.unlink()
    assert taker.take().record.tree == first.tree
    assert not blob.exists()  # reading the file would have written it
    project.write({"other": "x"})
    found = taker.files(taker.take().record)  # now git looks for the objects of the new tree
    assert found["kept"] == BaseFile(b"kept\n")


def test_change_of_the_same_size_and_time_is_seen(taker: Taker, project: Project) -> None:
    first = taker.take()
    status = (project.root / "a").stat()
    project.write({"a": "9\n"})
    os.utime(project.root / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert taker.take().record.tree != first.record.tree


def test_submodule_and_nested_repository_are_left_out_and_named(taker: Taker, project: Project, tmp_path: Path) -> None:
    inner = new_project(tmp_path / "inner", {"x": "x"})
    project.git("submodule", "--quiet", "add", inner.root, "module")
    new_project(project.root / "nested", {"y": "y"})
    new_project(project.root / "unborn")
    taken = taker.take()
    assert taken.left_out == (("module", NESTED), ("nested", NESTED), ("unborn", NESTED))
    assert sorted(taker.files(taken.record)) == [".gitmodules", "a", "sub/b"]
    inside = taker.take(directory=project.root / "module")
    assert taker.files(inside.record) == {"x": BaseFile(b"x")}
    assert inside.record.root == os.fsencode(project.root / "module")


def test_linked_worktree_is_taken_by_itself(taker: Taker, project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "other", tmp_path / "tree")
    (tmp_path / "tree" / "sub" / "b").write_text("other")
    before = state_of(project.root)
    taken = taker.take(directory=tmp_path / "tree" / "sub")
    assert taken.record.prefix == b"sub"
    assert taker.files(taken.record) == {"b": BaseFile(b"other")}
    assert state_of(project.root) == before


def test_repository_with_lost_alternates_is_taken(taker: Taker, project: Project, tmp_path: Path) -> None:
    project.git("clone", "-q", "--shared", project.root, tmp_path / "borrower")
    shutil.rmtree(project.root)  # what it borrowed is gone: its files are still there
    assert sorted(taker.files(taker.take(directory=tmp_path / "borrower").record)) == ["a", "sub/b"]


def test_repository_without_a_work_tree_is_refused(taker: Taker, project: Project, tmp_path: Path) -> None:
    project.git("clone", "-q", "--bare", project.root, tmp_path / "bare")
    for place in (tmp_path / "bare", project.root / ".git"):
        with pytest.raises(NoWorkTree, match="without a work tree"):
            taker.take(directory=place)
    with pytest.raises(NoWorkTree, match="is no directory any more"):
        taker.take(directory=tmp_path / "gone")
    assert snapshots_of(taker.store, taker.view.stream.session or b"") == []  # type: ignore[union-attr]


def test_directory_outside_of_a_repository_is_taken_itself(taker: Taker, tmp_path: Path) -> None:
    plain = Project(tmp_path / "plain")
    plain.write({"x": "1", "deep/y": "2", ".gitignore": "*.log\n", "z.log": "3"})
    taken = taker.take(directory=plain.root)
    assert sorted(taker.files(taken.record)) == [".gitignore", "deep/y", "x"]
    inner = taker.take(directory=plain.root / "deep")
    assert sorted(taker.files(inner.record)) == ["y"]
    assert not (plain.root / ".git").exists()


def test_home_is_not_taken_whole(taker: Taker, tmp_path: Path) -> None:
    taker.home.mkdir()
    (taker.home / "work").mkdir()
    for place in (taker.home, taker.home.parent):
        with pytest.raises(NoWorkTree, match="too much to be taken whole"):
            taker.take(directory=place)
    assert taker.files(taker.take(directory=taker.home / "work").record) == {}


def test_store_inside_of_the_work_tree_is_not_taken(project: Project, tmp_path: Path) -> None:
    (project.root / "own").mkdir()
    with (
        Store.open(project.root / "own" / "store.db", create=True) as store,
        session_of(project.root, store, project.root / "own" / "s.jsonl") as view,
    ):
        taker = Taker(view, project.root, tmp_path)
        for _ in range(2):
            assert sorted(taker.files(taker.take().record)) == ["a", "own/s.jsonl", "sub/b"]


def test_what_cannot_be_taken_is_named(taker: Taker, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"secret": "x", ".GIT/config": "x", "git~1": "x"})
    access = os.access

    def readable(path: str | bytes, mode: int) -> bool:
        return not os.fsencode(path).endswith(b"secret") and access(path, mode)

    monkeypatch.setattr(os, "access", readable)
    monkeypatch.chdir(project.root)
    os.mkfifo("pipe")
    project.write({"was-file": "x"})
    project.git("add", "was-file")
    (project.root / "was-file").unlink()
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("was-file")
    taken = taker.take()
    assert sorted(taker.files(taken.record)) == ["a", "sub/b"]
    assert taken.record.files == 2
    assert dict(taken.left_out) == {
        "secret": UNREADABLE, ".GIT/config": REFUSED, "git~1": REFUSED, "was-file": SPECIAL,
    }  # fmt: skip


def test_tracked_files_behind_a_symbolic_link_are_not_followed(taker: Taker, project: Project, tmp_path: Path) -> None:
    shutil.rmtree(project.root / "sub")
    Project(tmp_path / "outside").write({"b": "outside"})
    (project.root / "sub").symlink_to(tmp_path / "outside")
    found = taker.files(taker.take().record)
    assert found == {"a": BaseFile(b"1\n"), "sub": BaseFile(os.fsencode(tmp_path / "outside"), symlink=True)}


def test_odd_names_are_taken(taker: Taker, project: Project) -> None:
    names = [" lead", "a\nb", "-x", "*.glob", ":(exclude)a", "caf\udce9", "\x1b[31m", "x" * 200, "é", '"quoted"']
    project.write(dict.fromkeys(names, "1"))
    assert sorted(taker.files(taker.take().record)) == sorted([*names, "a", "sub/b"])


def test_unmerged_and_sparse_work_trees_are_taken_as_they_are(taker: Taker, project: Project) -> None:
    project.git("checkout", "-q", "-b", "other")
    project.commit({"a": "other\n"})
    project.git("checkout", "-q", "main")
    project.commit({"a": "main\n"})
    project.git("merge", "-q", "other", ok=(1,))
    assert b"<<<<<<<" in taker.files(taker.take().record)["a"].content
    project.git("merge", "--abort")
    project.git("sparse-checkout", "set", "nothing")
    assert sorted(taker.files(taker.take().record)) == ["a"]


def test_stale_lock_and_broken_index_do_not_matter(taker: Taker) -> None:
    first = taker.take()
    (index,) = (taker.repository / "indexes").iterdir()
    index.with_name(index.name + ".lock").write_bytes(b"")
    assert taker.take().record.tree == first.record.tree
    index.write_bytes(b"broken")
    assert taker.take().record.tree == first.record.tree
    shutil.rmtree(taker.repository / "objects")  # the index knows objects that are not there
    again = taker.take()
    assert again.record.tree == first.record.tree
    assert sorted(taker.files(again.record)) == ["a", "sub/b"]


def test_failure_leaves_no_record(taker: Taker, project: Project, tmp_path: Path) -> None:
    (project.root / ".git" / "index").write_bytes(b"broken")
    operations = taker.store.refs.operations()
    with pytest.raises(PivcsError, match="git ls-files failed"):
        taker.take()
    assert snapshots_of(taker.store, taker.view.stream.session or b"") == []  # type: ignore[union-attr]
    assert taker.store.refs.operations() == operations


def test_snapshot_outlives_garbage_collection(taker: Taker, project: Project) -> None:
    first = taker.take()
    project.write({"a": "changed"})
    taker.take()
    Project(taker.repository).git("gc", "-q", "--prune=now", "--aggressive")
    assert taker.files(first.record)["a"] == BaseFile(b"1\n")
    assert Project(taker.repository).git("for-each-ref", "--format=%(refname)").split() == [
        "refs/snapshots/1", "refs/snapshots/2",
    ]  # fmt: skip


def test_signing_key_that_is_missing_is_not_needed(taker: Taker, project: Project) -> None:
    for name, value in (("commit.gpgsign", "true"), ("user.signingkey", "missing"), ("gpg.program", "/missing")):
        project.git("config", "--global", name, value)
    assert taker.take().record.files == 2


def test_undo_and_redo_of_a_snapshot(taker: Taker) -> None:
    record = taker.take().record
    undone = undo(taker.store, now=CLOCK)
    assert [(change.ref, change.name, change.new) for change in undone.changes] == [("snapshot", "1", None)]
    assert snapshots_of(taker.store, record.session) == []
    redo(taker.store, now=CLOCK)
    assert snapshots_of(taker.store, record.session) == [record]
    delete_snapshots(taker.view, [1], now=CLOCK, command="pivcs snapshot --delete 1")
    assert snapshots_of(taker.store, record.session) == []
    with pytest.raises(NoSuchSnapshot):
        delete_snapshots(taker.view, [1], now=CLOCK, command="x")
    assert taker.take().record.id == 2  # a number is never given twice
    undo(taker.store, now=CLOCK)
    undo(taker.store, now=CLOCK)
    assert snapshots_of(taker.store, record.session) == [record]
    assert sorted(taker.files(record)) == ["a", "sub/b"]


def test_deleting_is_of_all_or_none(taker: Taker) -> None:
    record = taker.take().record
    with pytest.raises(NoSuchSnapshot, match="no snapshot 9"):
        delete_snapshots(taker.view, [1, 9], now=CLOCK, command="x")
    assert snapshots_of(taker.store, record.session) == [record]


def test_missing_files_of_a_snapshot_are_told(taker: Taker) -> None:
    record = taker.take().record
    shutil.rmtree(taker.repository / "objects")
    with pytest.raises(MissingObject, match=r"snapshot 1 are not there"):
        snapshot_base(taker.store, record)
    (taker.repository / "objects").mkdir()
    with snapshot_base(taker.store, record) as base, pytest.raises(MissingObject, match="snapshot 1: object"):
        base.paths()


def test_repository_is_private(taker: Taker) -> None:
    taker.take()
    assert taker.repository.stat().st_mode & 0o777 == 0o700
