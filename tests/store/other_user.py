"""Runs a part of a test where permissions count: root may do everything, so root becomes somebody else for it."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that every user can reach."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    place.chmod(0o755)
    shutil.rmtree(place)


def as_other_user(action: Callable[[], None]) -> None:
    """Run an action in a child process that is not root; fails when it does."""
    child = os.fork()
    if not child:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            action()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, "the child process failed, see its output"


def hand_over(*paths: os.PathLike[str]) -> None:
    """Give files to the user that `as_other_user` becomes."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY)
