"""C git, dulwich and libgit2 read the same in what is exported and archived, whether one pack or many joined ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from tests.builders import build_session
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.gitbridge.readers import all_agree, find_libgit2
from tests.golden.sessions import SESSIONS
from tests.ops.views import view_of

pytestmark = [needs_git, pytest.mark.interop]


def test_all_readers_agree_on_an_export(tmp_path: Path) -> None:
    pygit2 = find_libgit2()
    export([view_of(data) for data in SESSIONS.values()], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    assert all_agree(tmp_path / "review", pygit2) > 100


def test_all_readers_agree_on_what_was_exported_in_steps(tmp_path: Path) -> None:
    pygit2 = find_libgit2()
    lines = build_session("-".join(f"{number:08x}" for number in range(1, 40))).splitlines(keepends=True)
    for count in range(2, len(lines) + 1):
        export([view_of(b"".join(lines[:count]))], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    assert all_agree(tmp_path / "review", pygit2) > 100


def test_all_readers_agree_on_an_archive(tmp_path: Path) -> None:
    pygit2 = find_libgit2()
    place = new_repository(tmp_path / "place", "--bare")
    with Machine(tmp_path / "sessions") as here:
        for name, data in SESSIONS.items():
            here.save(name.replace("/", "-"), data)
        here.archive(place)
    check(place)
    assert all_agree(place, pygit2) > len(git(place, "for-each-ref").splitlines())
