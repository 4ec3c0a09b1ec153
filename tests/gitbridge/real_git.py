"""The real git: as a judge, and to make repositories of all kinds. It sees nothing of whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from pivcs.gitbridge.process import Git

Content = str | bytes
State = tuple[int, int, bytes]
EPOCH = 1_767_225_600
"""2026-01-01 in seconds since 1970."""


def find_git() -> Git:
    """Return the git that PATH names; without one the test is skipped, or fails with PIVCS_REQUIRE_INTEROP=1."""
    if shutil.which("git") is not None:
        return Git.find(os.environ)
    if os.environ.get("PIVCS_REQUIRE_INTEROP") == "1":
        pytest.fail("the git program is not installed")
    pytest.skip("the git program is not installed")


@dataclass(frozen=True)
class Project:
    """A directory with git in it, which is told what to do at a given time."""

    root: Path

    def git(self, *arguments: str | Path, at: int = EPOCH, ok: tuple[int, ...] = (0,), **more: str) -> str:
        """Run git there and return what it says."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "A"), ("EMAIL", "a@example.com"), ("DATE", f"{at} +0500"))}  # fmt: skip
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments],
            cwd=self.root, env=kept | who | more, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode in ok, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, files: dict[str, Content]) -> None:
        """Write files below the root."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: dict[str, Content], *, at: int = EPOCH) -> str:
        """Write files, commit everything at a time, and return the commit's id."""
        self.write(files)
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "--allow-empty", "-m", "m", at=at)
        return self.git("rev-parse", "HEAD")


def new_project(root: Path, files: dict[str, Content] | None = None) -> Project:
    """Make a repository; with files also its first commit."""
    root.mkdir(parents=True, exist_ok=True)
    project = Project(root)
    project.git("init", "-q")
    if files is not None:
        project.commit(files)
    return project


def state_of(root: Path) -> dict[str, State]:
    """Return mode, time of change and content of every file below a directory: what must not change."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, content)
    return found
