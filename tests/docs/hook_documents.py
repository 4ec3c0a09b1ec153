"""Documents about hooks: with none, with those of others, and shared."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest

from pivcs.cli import run
from tests.gitbridge.real_git import find_git, new_project

Capture = pytest.CaptureFixture[bytes]
Documents = list[dict[str, object]]


def standing(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `hooks status` says without and with a program, other hooks, and a directory that is set."""
    git = find_git().program
    root = files[0].parent / "hooked"
    project = new_project(root)
    programs = root / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which(git) or git)
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-commit").write_text("#!/bin/sh\ngit lfs post-commit\n")
    (hooks / "pre-push").write_bytes(b"\x7fELF\0")
    for name in ("post-commit", "pre-push"):
        (hooks / name).chmod(0o755)
    found = []
    with chdir(root), patch.dict(os.environ, {"PATH": str(programs)}):
        found.append(_status(capfdbinary))
        (programs / "pivcs").write_text("#!/bin/sh\n")
        (programs / "pivcs").chmod(0o755)
        assert run(["hooks", "install"]) == 0
        found.append(_status(capfdbinary))
        project.git("config", "core.hooksPath", "of the project", PATH=os.environ["PATH"])
        found.append(_status(capfdbinary))
    return found


def _status(capfdbinary: Capture) -> dict[str, object]:
    capfdbinary.readouterr()
    assert run(["hooks", "status", "--json"]) == 0
    document: dict[str, object] = json.loads(capfdbinary.readouterr().out)
    return document


HOOK_DOCUMENTS: dict[str, Callable[[list[Path], Capture], Documents]] = {"pivcs.hooks/1": standing}
