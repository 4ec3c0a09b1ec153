"""Repositories that are named by an address: what sessions need of them is fetched, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.gitbridge.elsewhere import NoSuchRepository, repository_at
from pivcs.gitbridge.process import GitRemoteFailed
from pivcs.gitbridge.refs_update import read_refs
from tests.builders import build_session
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import git, needs_git, new_repository
from tests.gitbridge.peers import git_daemon
from tests.gitbridge.real_git import Project, state_of

pytestmark = needs_git


@pytest.fixture
def archived(tmp_path: Path) -> Path:
    """A bare repository with a session, and a branch that has nothing to do with it."""
    place = new_repository(tmp_path / "served" / "place.git", "--bare")
    with Machine(tmp_path / "a") as here:
        here.save("s", build_session("a-b"))
        here.archive(place)
    empty = git(place, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    git(place, "update-ref", "refs/heads/main", git(place, "commit-tree", empty, "-m", "x").decode().strip())
    return place


@pytest.fixture
def address(archived: Path) -> Iterator[str]:
    """What `git daemon` serves it as, to this machine only."""
    with git_daemon(archived.parent) as root:
        yield f"{root}/place.git"


def test_sessions_are_fetched_from_another_machine_and_nothing_else(
    archived: Path, address: str, tmp_path: Path, decoy: Project
) -> None:
    before = state_of(decoy.root)
    with repository_at(address, os.environ) as found, Machine(tmp_path / "b", 2) as there:
        place = found.common_dir
        assert len(read_refs(found, "refs/")) == 1
        there.take(place)
        assert there.kept() == {build_session("a-b")}
    assert not place.exists()
    assert state_of(decoy.root) == before


def test_what_the_other_side_does_not_have_is_its_failure(address: str) -> None:
    wrong = address.replace("place", "nowhere")
    with pytest.raises(GitRemoteFailed), repository_at(wrong, os.environ):
        pass


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}"])
def test_directories_are_read_in_place(form: str, archived: Path) -> None:
    with repository_at(form.format(archived), {}) as found:
        assert found.common_dir == archived


@pytest.mark.parametrize("place", ["", "nowhere", "--upload-pack=touch x", "-c", "./no"])
def test_what_is_no_place_is_refused(place: str) -> None:
    with pytest.raises(NoSuchRepository), repository_at(place, os.environ):
        pass


def test_programs_in_addresses_are_not_run(tmp_path: Path) -> None:
    with pytest.raises(GitRemoteFailed), repository_at(f"ext::touch {tmp_path}/made", os.environ):
        pass
    assert not (tmp_path / "made").exists()
