"""The real git as a judge, with nothing of the surroundings in it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(repository: Path | str, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git in a repository and return what it printed; it must succeed and say nothing else."""
    result = subprocess.run(
        ["git", "-C", str(repository), *arguments], input=stdin, capture_output=True, check=False, env=environment()
    )
    assert result.returncode == 0, (arguments, result.stderr)
    return result.stdout


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which git reads no configuration of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
    } | more  # fmt: skip


def new_repository(path: Path, *options: str) -> Path:
    """Make a repository."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", "-b", "main", *options, ".")
    return path


def check(repository: Path | str) -> None:
    """Let git look at every object."""
    result = subprocess.run(
        ["git", "-C", str(repository), "fsck", "--strict", "--full", "--no-dangling"],
        capture_output=True, check=False, env=environment(),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    complaints = [line for line in result.stderr.splitlines() if not line.startswith(b"notice: ")]
    assert not complaints, result.stderr
    assert result.stdout == b"", result.stdout
