from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import build_session, header_line
from tests.cli.conftest import Program
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git

pytestmark = needs_git

REFS = "refs/pivcs/*:refs/pivcs/*"


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the sessions of a project, which is the current directory."""
    project, sessions = judge.new_repository(tmp_path / "project"), tmp_path / "sessions"
    sessions.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    for name in ("first", "second"):
        (sessions / f"{name}.jsonl").write_bytes(build_session("a-b", header=header_line(name, cwd=str(project))))
    return sessions


def test_sessions_of_the_project_are_archived_and_come_back(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("tag", "good", "HEAD", "-s", sessions / "first.jsonl").code == 0
    first = pivcs("archive")
    assert first.code == 0
    assert first.lines[-1].startswith("2 sessions of ")
    assert any("1 stream" in line and "1 name" in line for line in first.lines)
    assert all("nothing new" in line for line in pivcs("archive").lines[:-1])
    judge.check(tmp_path / "project")
    judge.git(tmp_path, "init", "-q", "--bare", "far.git")
    judge.git(tmp_path / "project", "push", "-q", str(tmp_path / "far.git"), REFS)
    other = ("--store", str(tmp_path / "other"))
    for place in (tmp_path / "far.git", f"file://{tmp_path}/far.git"):
        assert pivcs("import", *other, place).code == 0
    head = pivcs("rev-parse", sessions / "first.jsonl", "HEAD").lines
    for name in ("first", "second"):
        saved = (sessions / f"{name}.jsonl").read_bytes()
        (sessions / f"{name}.jsonl").unlink()
        assert pivcs("cat", *other, name).out == saved
    assert pivcs("rev-parse", *other, "-s", "first", "good").lines == head


def test_import_writes_session_files(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("archive").code == 0
    result = pivcs("import", ".", "second", "--write", tmp_path / "out")
    assert result.code == 0
    (path,) = (tmp_path / "out").iterdir()
    assert path.read_bytes() == (sessions / "second.jsonl").read_bytes()
    assert path.name == "2026-01-01T00-00-00-000Z_second.jsonl"


def test_imported_sessions_are_archived_again(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("archive").code == 0
    other = ("--store", str(tmp_path / "other"))
    assert pivcs("import", *other, ".").code == 0
    for path in sessions.iterdir():
        path.unlink()
    judge.git(tmp_path / "project", "pack-refs", "--all")
    result = pivcs("archive", *other)
    assert result.code == 0
    assert result.lines[-1].startswith("2 sessions of ")
    assert "0 objects written" in result.lines[-1]


def test_imported_session_has_no_file_that_could_be_changed(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("archive").code == 0
    other = ("--store", str(tmp_path / "other"))
    assert pivcs("import", *other, ".").code == 0
    saved = (sessions / "first.jsonl").read_bytes()
    for path in sessions.iterdir():
        path.unlink()
    where = pivcs("status", *other, "first", "--json").json["session"]["path"]
    decoy = tmp_path / "project" / where
    decoy.parent.mkdir()
    decoy.write_bytes(saved)
    for command in ("rename -s first x", "label -s first x HEAD", "delete first --yes"):
        result = pivcs(*command.split(), *other)
        assert result.code == 20
        assert b"came from a repository" in result.err
    assert decoy.read_bytes() == saved


def test_ref_that_somebody_moved_is_told_by_the_exit_code(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("archive", sessions / "first.jsonl").code == 0
    place = tmp_path / "project"
    name = judge.git(place, "for-each-ref", "--format=%(refname)").decode().strip()
    empty = judge.git(place, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    commit = judge.git(place, "commit-tree", empty, "-m", "x").decode().strip()
    judge.git(place, "update-ref", name, commit)
    assert pivcs("archive", "first").code == 1
    result = pivcs("import", ".", "--store", tmp_path / "other")
    assert result.code == 30
    assert b"stream.json" in result.err
    assert pivcs("archive", "--force", "first").code == 1  # told once more, and put right
    assert pivcs("archive", "first").code == 0


@pytest.mark.parametrize("place", ["nowhere", "-x", "no where/at all"])
def test_repository_that_is_none_is_named(place: str, sessions: Path, pivcs: Program):
    result = pivcs("import", "--", place)
    assert result.code == 10
    assert place.encode() in result.err


def test_address_that_cannot_be_reached_is_a_failure_of_the_other_side(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("import", f"file://{tmp_path}/nowhere.git").code == 100


def test_review_commits_stand_beside_the_streams(sessions: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("tag", "good", "HEAD", "-s", sessions / "first.jsonl").code == 0
    project = tmp_path / "project"
    result = pivcs("archive", "--review", "--json")
    assert result.code == 0
    assert [(each["commits"], each["new"]) for each in result.json["review"]] == [(2, 2), (2, 0)]  # they share them
    key = next(each["key"] for each in result.json["sessions"] if each["path"].endswith("first.jsonl"))
    subjects = judge.git(project, "log", "--format=%s", f"refs/pivcs/{key}/review/main").decode().splitlines()
    assert len(subjects) == 2
    assert judge.git(project, "rev-parse", f"refs/pivcs/{key}/review/tag/good") == judge.git(
        project, "rev-parse", f"refs/pivcs/{key}/review/main"
    )
    assert judge.git(project, "for-each-ref", "refs/heads", "refs/tags") == b""
    judge.check(project)
    assert all("new" not in line or "nothing new" in line for line in pivcs("archive", "--review").lines[:-1])
    judge.git(project, "update-ref", f"refs/pivcs/{key}/review/main", f"refs/pivcs/{key}/review/main~1")
    again = pivcs("archive", "--review")
    assert again.code == 0
    judge.git(project, "update-ref", f"refs/pivcs/{key}/review/main",
              judge.git(project, "rev-parse", f"refs/pivcs/{key}/review/main^{{tree}}").decode().strip())  # fmt: skip
    again = pivcs("archive", "--review")
    assert again.code == 1
    assert any("somebody else has moved it" in line for line in again.lines)
