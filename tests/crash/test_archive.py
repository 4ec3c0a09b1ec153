"""An archive is killed before each of its calls of the system: what was there before stays, and git finds it clean."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.builders import build_session
from tests.crash.writing import dies_before, start
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, needs_git, new_repository

MOST = 120
"""Calls that no archive of a small session comes near to."""
BEFORE, AFTER = build_session("a-b"), build_session("a-b-c, b-d")


@needs_git
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no child can be made to be killed")
def test_killed_archive_keeps_what_was_there(tmp_path: Path) -> None:
    killed = 0
    for number in range(1, MOST):
        place = new_repository(tmp_path / str(number))
        with Machine(tmp_path / "a") as here:
            here.save("s", BEFORE)
            here.archive(place)
            here.save("s", AFTER)

            def archive(here: Machine = here, number: int = number, place: Path = place) -> None:
                dies_before(number)
                here.archive(place)

            _, status = os.waitpid(start(archive), 0)
            for lock in (place / ".git").rglob("*.lock"):
                lock.unlink()  # as git says when it meets one
            check(place)
            with Machine(tmp_path / "b", 2) as there:
                there.take(place)
                assert there.kept() in ({BEFORE}, {AFTER})
            if not os.WIFSIGNALED(status):
                assert os.waitstatus_to_exitcode(status) == 0
                break
            killed += 1
            here.archive(place)
            with Machine(tmp_path / "b", 2) as there:
                there.take(place)
                assert there.kept() == {AFTER}
    assert 10 < killed < MOST - 1
