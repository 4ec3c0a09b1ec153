from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders import build_session, header_line
from tests.cli.conftest import Program
from tests.gitbridge.real_git import Project, find_git, new_project

pytestmark = pytest.mark.interop


@pytest.fixture
def project(tmp_path: Path) -> Project:
    find_git()
    return new_project(tmp_path / "project", {"a": "1\n", "sub/b": "2\n"})


@pytest.fixture
def session(project: Project, tmp_path: Path) -> Path:
    file = tmp_path / "s.jsonl"
    header = header_line(cwd=str(project.root))
    file.write_bytes(build_session("a-b", header=header, texts={"a": "Do it.", "b": "Done."}))
    return file


def test_taking_listing_deleting_and_undoing(pivcs: Program, session: Path, project: Project) -> None:
    taken = pivcs("snapshot", session, "-m", "before \x1b[31m", "--utc")
    assert taken.code == 0
    assert taken.lines[0].startswith("snapshot 1  bbbbbbbb  20")
    assert "\x1b" not in taken.text
    assert "2 files  before" in taken.lines[0]
    assert taken.lines[1] == f"of {project.root}"
    assert pivcs("snapshot", session).lines[0].endswith("  2 files  Done.")
    assert [line.split()[0] for line in pivcs("snapshot", "--list", session).lines] == ["1", "2"]
    assert pivcs("snapshot", session, "-d", "1").lines == ["snapshot 1  deleted"]
    assert [line.split()[0] for line in pivcs("snapshot", "--list", session).lines] == ["2"]
    assert "    snapshot 1  taken" in pivcs("undo").lines
    assert "    snapshot 2  deleted" in pivcs("undo").lines
    listed = pivcs("snapshot", "--list", "--json", session).json
    assert [(each["number"], each["message"], each["entry"]) for each in listed["snapshots"]] == [
        (1, "before \x1b[31m", "bbbbbbbb")
    ]
    log = pivcs("op", "log").text
    assert "snapshot 2  taken" in log
    assert "snapshot 1  deleted" in log


def test_what_is_left_out_is_said(pivcs: Program, session: Path, project: Project) -> None:
    for number in range(7):
        new_project(project.root / f"nested{number}")
    taken = pivcs("snapshot", session, "--json")
    assert len(taken.json["left_out"]) == 7
    assert "warning: 7 paths left out: 'nested0' (another repository)" in taken.complaint
    assert "and 2 others" in taken.complaint


def test_project_is_that_of_the_session(
    pivcs: Program, session: Path, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_project(tmp_path / "other", {"x": "x"})
    monkeypatch.chdir(other.root)
    assert pivcs("snapshot", session).lines[1] == f"of {project.root}"
    shutil.rmtree(project.root)
    gone = pivcs("snapshot", session)
    assert gone.code == 20
    assert "is no directory any more" in gone.complaint


def test_without_git_it_is_refused_with_a_hint(
    pivcs: Program, session: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = pivcs("snapshot", session)
    assert refused.code == 20
    assert "there is no 'git' program" in refused.complaint
    assert "hint: install git" in refused.complaint
    assert pivcs("snapshot", "--list", session).code == 0


def test_options_that_exclude_each_other(pivcs: Program, session: Path) -> None:
    for options in (["-l", "-d", "1"], ["-l", "-m", "x"], ["-d", "1", "-m", "x"]):
        assert pivcs("snapshot", session, *options).code == 2
    unknown = pivcs("snapshot", session, "-d", "3")
    assert unknown.code == 10
    assert "the session has no snapshot 3" in unknown.complaint


def test_snapshot_runs_in_a_hook_of_another_repository(
    pivcs: Program, session: Path, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoy = new_project(tmp_path / "decoy", {"x": "x"})
    monkeypatch.setenv("GIT_DIR", str(decoy.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(decoy.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(decoy.root / ".git" / "index"))
    assert pivcs("snapshot", session, "--json").json["snapshots"][0]["files"] == 2


def test_message_in_any_bytes_is_kept(pivcs: Program, session: Path) -> None:
    pivcs("snapshot", session, "-m", "caf\udce9")
    assert pivcs("snapshot", "--list", "--json", session).json["snapshots"][0]["message"] == "caf\\udce9"
