from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.demo import write_demo
from tests.builders import build_session, header_line
from tests.cli.conftest import Program
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git

pytestmark = needs_git


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "demo.jsonl"
    write_demo(tmp_path).rename(path)
    return path


def test_a_session_is_exported_with_its_names(demo: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("branch", "--name-all", demo).code == 0
    assert pivcs("tag", "good", "HEAD", "-s", demo).code == 0
    result = pivcs("export", "review", demo)
    assert result.code == 0
    assert result.lines[0] == "2026-01-01-d8fddc36  25 commits, 25 new"
    assert any("2026-01-01-d8fddc36/try-whole-cents-instead" in line for line in result.lines)
    judge.check(tmp_path / "review")
    refs = judge.git(tmp_path / "review", "for-each-ref", "--format=%(refname)").decode().splitlines()
    assert "refs/tags/2026-01-01-d8fddc36/good" in refs
    assert pivcs("export", "review", demo).lines == [
        "2026-01-01-d8fddc36  25 commits  nothing new",
        "0 objects written to review",
    ]


def test_the_sessions_of_the_project_are_exported_by_default(
    tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
):
    project, sessions = tmp_path / "project", tmp_path / "sessions"
    project.mkdir()
    sessions.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    assert pivcs("export", tmp_path / "review").code == 10
    for name in ("one", "two"):
        data = build_session("a-b", header=header_line(name, cwd=str(project)))
        (sessions / f"{name}.jsonl").write_bytes(data)
    result = pivcs("export", tmp_path / "review", "--json")
    assert len(result.json["sessions"]) == 2


def test_a_ref_that_somebody_moved_is_told_by_the_exit_code(demo: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("export", "review", demo).code == 0
    judge.git(tmp_path / "review", "update-ref", "refs/heads/2026-01-01-d8fddc36/main", "sessions")
    result = pivcs("export", "review", demo)
    assert result.code == 1
    assert "somebody else has moved it; --force sets it" in result.text
    assert pivcs("export", "--force", "review", demo).code == 0


def test_the_page_of_a_repository_that_others_exported_to_keeps_their_sessions(
    demo: Path, tmp_path: Path, pivcs: Program
):
    other = tmp_path / "other.jsonl"
    other.write_bytes(build_session("a-b", header=header_line("other"), texts={"a": "Another <b>question</b>."}))
    assert pivcs("export", "review", other).code == 0
    assert pivcs("export", "--store", tmp_path / "elsewhere", "review", demo).code == 0
    page = judge.git(tmp_path / "review", "show", "sessions:README.md").decode()
    assert "### cent rounding" in page
    assert "Another &lt;b\\>question&lt;/b\\>." in page


def test_a_file_in_the_way_is_named(demo: Path, tmp_path: Path, pivcs: Program):
    (tmp_path / "file").write_text("x")
    result = pivcs("export", "file", demo)
    assert result.code == 20
    assert "'file'" in result.complaint
