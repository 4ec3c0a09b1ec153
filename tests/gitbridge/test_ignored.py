from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pivcs.gitbridge.ignored import ignored_paths
from pivcs.gitbridge.process import Git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n")
    return tmp_path


def ignored(root: Path, *paths: str) -> set[str]:
    return set(ignored_paths(root, paths, Git.find(os.environ)))


def test_ignored_paths_are_told_from_others(root: Path) -> None:
    odd = [":(top)x.log", "-x.log", "a b/*.log", "ünï.log", "\udcff.log", "[x].log"]
    assert ignored(root, "x.log", "sub/y.log", "build/z", "src/a", "builds", *odd) == {
        "x.log", "sub/y.log", "build/z", *odd,
    }  # fmt: skip


def test_tracked_file_is_not_ignored(root: Path) -> None:
    (root / "kept.log").write_text("x")
    subprocess.run(["git", "add", "-f", "kept.log"], cwd=root, check=True)
    assert ignored(root, "kept.log", "x.log") == {"x.log"}


def test_path_of_which_git_cannot_tell_counts_as_ignored(root: Path) -> None:
    (root / "link").symlink_to(root)
    assert ignored(root, "link/a", "b", "c", "d.log") == {"link/a", "d.log"}


def test_below_the_root_and_outside_of_a_repository(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (root / "build").mkdir()
    assert ignored(root / "build", "x") == {"x"}
    assert ignored(tmp_path_factory.mktemp("other"), "x.log") == set()
    assert ignored(root) == set()
