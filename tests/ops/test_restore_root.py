from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pivcs.ops.restore_root import AnotherProject, restore_root


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "sub/deep").mkdir(parents=True)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y"]
    for command in ("init -q", "commit -q --allow-empty -m x", "worktree add -q ../second"):
        subprocess.run([*git, *command.split()], cwd=root, check=True, capture_output=True)
    (tmp_path / "second/sub").mkdir()
    return root


def test_sessions_own_directory_from_anywhere_in_its_repository(repository: Path) -> None:
    sub, deep = repository / "sub", repository / "sub/deep"
    assert restore_root(str(sub), str(sub)) == sub
    assert restore_root(str(deep), str(repository)) == repository
    assert restore_root(str(repository), str(deep)) == deep


def test_same_place_in_the_worktree_that_one_is_in(repository: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    assert restore_root(str(second), str(repository / "sub/deep")) == second / "sub/deep"
    assert restore_root(str(second / "sub"), str(repository)) == second
    assert restore_root(str(repository / "sub"), str(second / "sub")) == repository / "sub"


def test_outside_of_a_repository_only_the_directory_itself(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    assert restore_root(str(tmp_path / "a"), str(tmp_path / "a")) == tmp_path / "a"
    for here, there in (("a", "a/b"), ("a/b", "a"), ("a", "c")):
        with pytest.raises(AnotherProject, match="not this project"):
            restore_root(str(tmp_path / here), str(tmp_path / there))


def test_sessions_of_other_repositories_are_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(AnotherProject):
        restore_root(str(repository), str(tmp_path / "other"))
    with pytest.raises(AnotherProject, match="does not say"):
        restore_root(str(repository), None)
    with pytest.raises(AnotherProject):
        restore_root(str(repository), str(tmp_path / "repository-2"))


def test_directory_that_is_named_through_a_link_is_the_same(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert restore_root(str(tmp_path / "link"), str(repository)) == repository
    assert restore_root(str(repository), str(tmp_path / "link/sub")) == repository / "sub"
