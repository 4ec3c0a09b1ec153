from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.gitbridge.process import Git
from tests.gitbridge.clones import Clone
from tests.gitbridge.git import new_repository
from tests.gitbridge.real_git import Project, find_git, new_project


@pytest.fixture
def git() -> Git:
    """The real git; see `find_git` for what happens where it is missing."""
    return find_git()


@pytest.fixture
def decoy(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository that every variable of git names, as in a hook of it."""
    other = new_project(tmp_path / "decoy", {"decoy.txt": "decoy\n"})
    names = {"GIT_DIR": "", "GIT_INDEX_FILE": "index", "GIT_OBJECT_DIRECTORY": "objects", "GIT_COMMON_DIR": ""}
    for name, place in names.items():
        monkeypatch.setenv(name, str(other.root / ".git" / place))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_PREFIX", "x/")
    return other


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A bare repository that machines share."""
    return new_repository(tmp_path / "hub.git", "--bare")


@pytest.fixture(params=[True, False], ids=["git", "dulwich"])
def pair(request: pytest.FixtureRequest, tmp_path: Path, hub: Path) -> Iterator[tuple[Clone, Clone]]:
    """Two machines that share it, with the `git` program and without."""
    with (
        Clone(tmp_path / "a", hub, 1, with_git=request.param) as a,
        Clone(tmp_path / "b", hub, 2, with_git=request.param) as b,
    ):
        yield a, b
