from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.demo import demo_session
from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program
from tests.gitbridge.git import git, needs_git, new_repository

pytestmark = needs_git

OTHER = build_session("a-b", header=header_line("other"))
MAIN = "refs/heads/2026-01-01-d8fddc36/main"


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path / "demo.jsonl", tmp_path / "other.jsonl"]
    for path, data in zip(paths, (demo_session(), OTHER), strict=True):
        path.write_bytes(data)
    return paths


def test_an_export_comes_back_from_a_clone_with_its_names(sessions: list[Path], tmp_path: Path, pivcs: Program):
    assert pivcs("tag", "good", "HEAD", "-s", sessions[0]).code == 0
    assert pivcs("export", "review", *sessions).code == 0
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", "review", "clone")
    result = pivcs("import", "clone", "--store", "elsewhere", "--json")
    assert result.code == 0
    assert [each["outcome"] for each in result.json["streams"]] == ["new", "new"]
    assert [each["names"] for each in result.json["names"]] == [1]
    for path in sessions:
        path.rename(path.with_suffix(".kept"))
    for session, data in (("d8fddc36", demo_session()), ("other", OTHER)):
        assert pivcs("cat", session, "--store", "elsewhere").out == data
    named = [pivcs("rev-parse", name, "-s", "d8fddc36", "--store", "elsewhere") for name in ("good", "HEAD")]
    assert named[0].code == 0
    assert named[0].text == named[1].text


def test_a_changed_review_commit_is_named_and_nothing_of_the_session_is_kept(
    sessions: list[Path], tmp_path: Path, pivcs: Program
):
    assert pivcs("export", "review", *sessions).code == 0
    message = git(tmp_path / "review", "log", "-1", "--format=%B", MAIN).replace(b"Decimal", b"Float")
    tree = git(tmp_path / "review", "rev-parse", f"{MAIN}^{{tree}}", f"{MAIN}~1").decode().split()
    changed = git(tmp_path / "review", "commit-tree", tree[0], "-p", tree[1], stdin=message).decode().strip()
    git(tmp_path / "review", "update-ref", MAIN, changed)
    result = pivcs("import", "review", "--store", "elsewhere")
    assert result.code == 30
    assert result.complaint.count(changed) == 1
    assert changed not in result.text
    assert "session d8fddc36" in result.complaint
    assert "(cent rounding)" in result.complaint
    assert result.lines[-1] == "2 sessions: 1 damaged, 1 new"
    assert len(pivcs("ls", "--all", "--store", "elsewhere", "--json").json["sessions"]) == 1
    assert pivcs("import", "review", "--write", "files").code == 30
    assert [each.read_bytes() for each in (tmp_path / "files").iterdir()] == [OTHER]
    git(tmp_path / "review", "update-ref", "-d", MAIN)
    assert pivcs("import", "review", "--store", "elsewhere").code == 0


def test_sessions_and_streams_are_counted_apart(tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(new_repository(tmp_path / "project"))
    first = build_session("a-b", header=header_line("one", cwd=str(tmp_path / "project")))
    ways = [first + message_line(ident, "bbbbbbbb") for ident in ("cccccccc", "dddddddd")]
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path, data in zip(paths, ways, strict=True):
        path.write_bytes(data)
    assert pivcs("archive", *paths).code == 0
    result = pivcs("import", ".", "--store", "elsewhere")
    assert [line.split()[0] for line in result.lines] == ["new", "stream", "1"]
    assert result.lines[-1] == "1 session in 2 streams: 1 new"
    assert pivcs("import", ".", "--store", "elsewhere").lines == ["1 session in 2 streams: 1 known"]
    paths[0].rename(tmp_path / "kept")
    paths[0].write_bytes(first + message_line("eeeeeeee", "bbbbbbbb"))
    assert pivcs("archive", paths[0]).code == 0
    assert pivcs("import", ".", "--store", "elsewhere").lines[-1] == "1 session in 3 streams: 1 with a new stream"


def test_damage_is_told_once_with_the_session(tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    project = new_repository(tmp_path / "project")
    monkeypatch.chdir(project)
    for name in "abcd":
        (tmp_path / f"{name}.jsonl").write_bytes(build_session("a-b", header=header_line(name)))
    assert pivcs("archive", *(tmp_path / f"{name}.jsonl" for name in "abcd")).code == 0
    names = git(project, "for-each-ref", "--format=%(refname)", "refs/pivcs").decode().split()
    bad = next(name for name in names if "/s/" in name)
    tree = git(project, "mktree").decode().strip()
    commit = git(project, "-c", "user.name=x", "-c", "user.email=x", "commit-tree", tree, "-m", "x").decode().strip()
    git(project, "update-ref", bad, commit)
    result = pivcs("import", ".", "--store", "elsewhere")
    key = bad.split("/")[2]
    assert result.code == 30
    assert result.lines[-1] == "4 sessions: 1 damaged, 3 new"
    assert "damaged   " not in result.text
    assert result.complaint.count("damaged") == 1
    assert f"session {key[:16]}: a stream is damaged: 'refs/pivcs/{key[:16]}…/s/" in result.complaint
    assert key not in result.complaint
