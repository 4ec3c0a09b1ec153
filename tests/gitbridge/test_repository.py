from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pivcs.gitbridge.base import GitBase
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import (
    NoRepository,
    OtherHash,
    UnknownCommit,
    find_repository,
    resolve_commit,
    uses_reftable,
)
from tests.gitbridge.real_git import Project, new_project

pytestmark = pytest.mark.interop


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"a": "1\n", "sub/deep/b": "2\n"})


def test_subdirectory_has_its_place_below_the_root(project: Project) -> None:
    for directory, prefix in ((project.root, ""), (project.root / "sub" / "deep", "sub/deep")):
        found = find_repository(str(directory))
        assert (found.root, found.git_dir, found.prefix) == (project.root, project.root / ".git", prefix)
        assert found.common_dir == found.git_dir


def test_symbolic_link_into_a_repository_leads_there(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root / "sub")
    found = find_repository(str(tmp_path / "link" / "deep"))
    assert (found.root, found.prefix) == (project.root, "sub/deep")


def test_variables_of_git_have_no_say(project: Project, decoy: Project) -> None:
    found = find_repository(str(project.root))
    assert found.root == project.root
    commit = resolve_commit(found, "HEAD", Git.find(os.environ))
    assert commit == project.git("rev-parse", "HEAD")
    with GitBase(found, commit, "") as base:
        assert base.paths() == ["a", "sub/deep/b"]


def test_linked_worktree_has_its_own_head(project: Project, tmp_path: Path, git: Git) -> None:
    project.git("worktree", "add", "-q", "-b", "other", tmp_path / "tree")
    tree = Project(tmp_path / "tree")
    commit = tree.commit({"a": "3\n"})
    found = find_repository(str(tree.root / "sub"))
    assert (found.root, found.prefix) == (tree.root, "sub")
    assert found.common_dir == project.root / ".git"
    assert found.git_dir == found.common_dir / "worktrees" / "tree"
    assert resolve_commit(found, "HEAD", git) == commit
    assert resolve_commit(find_repository(str(project.root)), "HEAD", git) != commit
    with GitBase(found, commit, "") as base:
        file = base.read("a")
        assert file is not None
        assert file.content == b"3\n"


def test_submodule_is_a_repository_of_its_own(project: Project, tmp_path: Path) -> None:
    outer = new_project(tmp_path / "outer", {"x": "x\n"})
    outer.git("submodule", "--quiet", "add", project.root, "libs/inner")
    found = find_repository(str(outer.root / "libs" / "inner" / "sub"))
    assert (found.root, found.prefix) == (outer.root / "libs" / "inner", "sub")
    assert found.git_dir == outer.root / ".git" / "modules" / "libs" / "inner"
    shutil.rmtree(outer.root / "libs" / "inner")
    assert find_repository(str(outer.root / "libs" / "inner" / "sub")) == found


def test_file_that_points_nowhere_is_told_and_not_passed_by(project: Project, tmp_path: Path) -> None:
    outer = new_project(tmp_path / "outer", {"x": "x\n"})
    outer.git("submodule", "--quiet", "add", project.root, "inner")
    shutil.rmtree(outer.root / ".git" / "modules")
    with pytest.raises(NoRepository, match="where no repository is"):
        find_repository(str(outer.root / "inner"))
    (outer.root / "inner" / ".git").write_text("nonsense")
    with pytest.raises(NoRepository, match="says nothing"):
        find_repository(str(outer.root / "inner"))


def test_bare_repository_has_no_work_tree(project: Project, tmp_path: Path, git: Git) -> None:
    project.git("clone", "-q", "--bare", project.root, tmp_path / "bare")
    found = find_repository(str(tmp_path / "bare"))
    assert (found.root, found.git_dir) == (None, tmp_path / "bare")
    assert resolve_commit(found, "main", git) == project.git("rev-parse", "HEAD")
    inside = find_repository(str(project.root / ".git" / "refs"))
    assert (inside.root, inside.git_dir) == (None, project.root / ".git")


def test_objects_of_alternates_are_read(project: Project, tmp_path: Path, git: Git) -> None:
    project.git("gc", "-q")
    project.git("clone", "-q", "--shared", project.root, tmp_path / "borrower")
    assert (tmp_path / "borrower" / ".git" / "objects" / "info" / "alternates").exists()
    found = find_repository(str(tmp_path / "borrower"))
    with GitBase(found, resolve_commit(found, "HEAD", git), "sub") as base:
        assert base.paths() == ["deep/b"]


def test_deleted_directory_is_where_it_was(project: Project) -> None:
    shutil.rmtree(project.root / "sub")
    assert find_repository(str(project.root / "sub" / "deep")).prefix == "sub/deep"


def test_deleted_worktree_inside_of_another_one_is_not_taken_for_it(project: Project) -> None:
    project.git("worktree", "add", "-q", "-b", "other", project.root / "trees" / "one")
    tree = project.root / "trees" / "one"
    shutil.rmtree(project.root / "trees")
    found = find_repository(str(tree / "sub"))
    assert (found.root, found.prefix) == (tree, "sub")
    assert found.git_dir == project.root / ".git" / "worktrees" / "one"


def test_directory_outside_of_any_repository(tmp_path: Path) -> None:
    (tmp_path / "plain" / ".git").mkdir(parents=True)  # git passes by an empty one, too
    with pytest.raises(NoRepository, match=r"plain' is in no git repository"):
        find_repository(str(tmp_path / "plain"))
    with pytest.raises(NoRepository, match="is not there any more, and is in no git repository"):
        find_repository(str(tmp_path / "gone"))
    with pytest.raises(NoRepository):
        find_repository("/dev/null/x")


@pytest.mark.parametrize("text", ["HEAD", "main", "v1", "refs/heads/main", "HEAD~0", "v1^{commit}", "@"])
def test_names_of_commits_are_those_of_git(project: Project, git: Git, text: str) -> None:
    project.git("tag", "-a", "-m", "tag", "v1")
    found = find_repository(str(project.root))
    assert resolve_commit(found, text, git) == project.git("rev-parse", f"{text}^{{commit}}")


def test_without_git_ids_and_names_of_refs_are_understood(project: Project) -> None:
    project.git("tag", "-a", "-m", "tag", "v1")
    commit = project.git("rev-parse", "HEAD")
    found = find_repository(str(project.root))
    for text in ("HEAD", "main", "v1", commit, commit[:10]):
        assert resolve_commit(found, text, None) == commit
    with pytest.raises(UnknownCommit):
        resolve_commit(found, "nothing", None)


@pytest.mark.parametrize("text", ["nothing", "", "--all", "-n", "HEAD:a", "a\nb", "a\0b", "HEAD^{tree}", "é"])
def test_what_names_no_commit_is_told(project: Project, git: Git, text: str) -> None:
    with pytest.raises(UnknownCommit, match="names no commit in"):
        resolve_commit(find_repository(str(project.root)), text, git)


def test_repository_with_another_hash_is_refused(tmp_path: Path, git: Git) -> None:
    project = Project(tmp_path)
    project.git("init", "-q", "--object-format=sha256")
    commit = project.commit({"a": "1\n"})
    found = find_repository(str(tmp_path))
    with pytest.raises(OtherHash):
        GitBase(found, commit, "")
    assert not uses_reftable(found)
    (tmp_path / ".git" / "config").write_text('[core] bare = false\n[extensions] refStorage = "reftable"\n')
    assert uses_reftable(found)


def test_finding_a_repository_does_not_import_dulwich(project: Project) -> None:
    code = (
        "import sys; from pivcs.gitbridge.began import checked_out_at, head_log, find_repository;"
        "print(len(head_log(find_repository(sys.argv[1]))), 'dulwich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, project.root], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["1", "False"]
