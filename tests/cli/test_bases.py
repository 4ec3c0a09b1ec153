"""What `--base` means, asked of the helper that all commands share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from pivcs.cli.bases import base_for
from pivcs.errors import PivcsError
from pivcs.gitbridge.base import GitBase
from pivcs.gitbridge.repository import NoRepository, UnknownCommit
from pivcs.workspace.base import BaseFile
from tests.builders import CLOCK, build_session, header_line
from tests.gitbridge.real_git import EPOCH, Project, find_git, new_project
from tests.ops.views import view_of

pytestmark = pytest.mark.interop


@pytest.fixture
def project(tmp_path: Path) -> Project:
    find_git()
    assert EPOCH * 1000 == CLOCK
    project = new_project(tmp_path / "project")
    project.commit({"sub/a": "early"}, at=EPOCH - 10)
    project.git("tag", "early")
    project.commit({"sub/a": "late"}, at=EPOCH + 10)
    return project


def asked(cwd: Path | None, option: str | None) -> tuple[BaseFile | None, str]:
    """Return the file `a` of the base, and the note; the base is closed after the command."""
    data = header_line(cwd=str(cwd)) if cwd is not None else b'{"type":"session","version":3,"id":"x"}\n'
    with view_of(build_session("a", header=data)) as view, click.Context(click.Command("x")):
        base, note = base_for(view, option)
        assert base is None or isinstance(base, GitBase)
        return (base.read("a") if base is not None else None), note


def test_default_is_what_was_checked_out_when_the_session_began(project: Project) -> None:
    commit = project.git("rev-parse", "early")
    expected = f"base: commit {commit[:8]}, checked out when the session began, by the log of HEAD"
    assert asked(project.root / "sub", None) == (BaseFile(b"early"), expected)


def test_reason_for_having_none_is_said(project: Project, tmp_path: Path) -> None:
    file, note = asked(tmp_path / "elsewhere", None)
    assert file is None
    assert note.startswith("no base: ")
    assert "is in no git repository" in note
    assert asked(None, None) == (None, "no base: the session's header has no working directory")
    assert asked(project.root, "none") == (None, "no base, as asked")
    tree = project.git("rev-parse", "early^{tree}")
    (project.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(PivcsError, match="missing or damaged"):
        asked(project.root / "sub", "early")


def test_named_commit_is_of_the_repository_of_the_session(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/decoy")
    for option, content in (("HEAD", b"late"), ("HEAD~1", b"early"), ("early", b"early"), ("refs/heads/main", b"late")):
        file, note = asked(project.root / "sub", option)
        assert file == BaseFile(content)
        assert note.endswith(", as named")
    with pytest.raises(UnknownCommit, match="'nothing' names no commit"):
        asked(project.root, "nothing")


def test_current_directory_stands_for_one_that_is_in_no_repository(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root / "sub")
    for cwd in (tmp_path / "other-machine", None):
        file, note = asked(cwd, "HEAD")
        assert file == BaseFile(b"late")
        assert "of the current directory: " in note
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoRepository, match="other-machine"):
        asked(tmp_path / "other-machine", "HEAD")


def test_without_the_program_names_of_refs_are_understood(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert asked(project.root / "sub", "early")[0] == BaseFile(b"early")
