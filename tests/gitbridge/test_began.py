from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pivcs.gitbridge.began import Began, checked_out_at, head_log
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import find_repository
from tests.gitbridge.real_git import EPOCH, Project, new_project

pytestmark = pytest.mark.interop


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def began(project: Project, second: float, inside: str = "") -> Began:
    return checked_out_at(str(project.root / inside), round((EPOCH + second) * 1000))


def test_commit_is_the_one_that_was_checked_out_then(project: Project) -> None:
    first = project.commit({"a": "1"}, at=EPOCH)
    second = project.commit({"a": "2"}, at=EPOCH + 100)
    project.git("checkout", "-q", first, at=EPOCH + 200)
    early, late = ((0, first), (50, first), (99.999, first)), ((200, first), (9999, first))
    for at, commit in (*early, (100, second), (150.5, second), *late):
        assert began(project, at).commit == commit
        said = project.git("rev-parse", f"HEAD@{{{EPOCH + int(at)} +0000}}")
        assert said == commit
    assert began(project, 50).reason == "checked out when the session began, by the log of HEAD"


def test_amended_and_reset_commits_count_as_they_were(project: Project) -> None:
    project.commit({"a": "1"}, at=EPOCH)
    before = project.commit({"a": "2"}, at=EPOCH + 100)
    project.git("commit", "-q", "--amend", "-m", "other", at=EPOCH + 200)
    assert began(project, 150).commit == before
    assert began(project, 250).commit == project.git("rev-parse", "HEAD") != before


def test_nothing_is_said_of_the_time_before_the_first_commit(project: Project) -> None:
    project.commit({"a": "1"}, at=EPOCH)
    found = began(project, -1)
    assert (found.commit, found.reason) == (None, "nothing was checked out yet when the session began")


def test_expired_log_tells_the_commit_that_it_began_with(project: Project) -> None:
    first = project.commit({"a": "1"}, at=EPOCH)
    project.commit({"a": "2"}, at=EPOCH + 100)
    log = project.root / ".git" / "logs" / "HEAD"
    log.write_bytes(log.read_bytes().partition(b"\n")[2])
    found = began(project, 50)
    assert found.commit == first
    assert "began before it" in found.reason
    too_old = began(project, -50)  # not even that commit was there
    assert too_old.commit is None
    assert "does not go back" in too_old.reason


def test_commit_that_was_collected_is_told(project: Project) -> None:
    gone = project.commit({"a": "1"}, at=EPOCH)
    project.git("commit", "-q", "--amend", "-m", "other", at=EPOCH + 100)
    (project.root / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    found = began(project, 50)
    assert found.commit is None
    assert found.reason == f"commit {gone[:8]} of that time is not in the repository any more"


def test_worktrees_have_logs_of_their_own(project: Project, tmp_path: Path) -> None:
    first = project.commit({"a": "1"}, at=EPOCH)
    project.git("worktree", "add", "-q", "-b", "other", tmp_path / "tree", at=EPOCH + 10)
    tree = Project(tmp_path / "tree")
    second = tree.commit({"a": "2"}, at=EPOCH + 100)
    assert (began(tree, 50).commit, began(tree, 100).commit) == (first, second)
    assert began(project, 100).commit == first
    assert began(tree, 5).commit is None


def test_directory_below_the_root_and_deleted_ones(project: Project) -> None:
    commit = project.commit({"sub/a": "1"}, at=EPOCH)
    found = began(project, 1, "sub")
    assert found.repository is not None
    assert (found.commit, found.repository.prefix) == (commit, "sub")
    shutil.rmtree(project.root / "sub")
    assert began(project, 1, "sub") == found


def test_reasons_for_there_being_none(project: Project, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "is in no git repository" in checked_out_at(str(tmp_path / "plain"), 0).reason
    assert checked_out_at(None, 0).reason == "the session's header has no working directory"
    assert checked_out_at(str(project.root), None).reason == "the session's header does not say when it began"
    assert began(project, 0).reason == "the repository has no log of HEAD"
    project.git("config", "extensions.refStorage", "reftable")
    assert "reftable" in began(project, 0).reason
    other = Project(tmp_path / "sha256")
    other.root.mkdir()
    other.git("init", "-q", "--object-format=sha256")
    other.commit({"a": "1"})
    assert "does not use SHA-1" in began(other, 0).reason


def test_odd_lines_of_a_log_are_passed_by(project: Project) -> None:
    log = project.root / ".git" / "logs" / "HEAD"
    a, b, zero = "a" * 40, "b" * 40, "0" * 40
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{zero} {a} Na 5 +0000 me <x@y> 10 -0730\tcommit: 7 +0000", "nonsense",
        f"{a} {b} n <e> 20 +0000", "", f"{b} {a}",
        f"{b} {a} caf\udce9 <e> -30 +0000\tx", "",
    ]  # fmt: skip
    log.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    assert [(move.old[0], move.new[0], move.time) for move in head_log(find_repository(str(project.root)))] == [
        ("0", "a", 10), ("a", "b", 20), ("b", "a", -30),
    ]  # fmt: skip
