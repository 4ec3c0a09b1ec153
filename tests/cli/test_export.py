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
    assert "Another &lt;b>question&lt;/b>." in page


def test_a_file_in_the_way_is_named(demo: Path, tmp_path: Path, pivcs: Program):
    (tmp_path / "file").write_text("x")
    result = pivcs("export", "file", demo)
    assert result.code == 20
    assert "'file'" in result.complaint


def test_turns_and_merges_of_prompts(demo: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("export", "turns", demo, "--turns").code == 0
    main = "2026-01-01-d8fddc36/main"
    assert judge.git(tmp_path / "turns", "rev-list", "--count", main).decode().strip() == "2"
    assert pivcs("export", "merges", demo, "--per-prompt-merge").code == 0
    count = judge.git(tmp_path / "merges", "rev-list", "--count", "--first-parent", "--merges", main)
    assert int(count) >= 1


def test_some_entries_of_a_session_are_exported(demo: Path, tmp_path: Path, pivcs: Program):
    result = pivcs("export", "some", "-s", demo, "main~2", "b-08d12dfd")
    assert result.code == 0
    refs = judge.git(tmp_path / "some", "for-each-ref", "--format=%(refname)").decode().splitlines()
    assert "refs/heads/2026-01-01-d8fddc36/b-08d12dfd" in refs
    assert len([ref for ref in refs if "/entry/" in ref]) == 1
    assert not any(ref.endswith("/main") for ref in refs)
    assert pivcs("export", "more", f"{demo}::main").code == 0
    refs = judge.git(tmp_path / "more", "for-each-ref", "--format=%(refname)").decode().splitlines()
    assert refs == [
        "refs/heads/2026-01-01-d8fddc36/label/decimal%2c%20too%20slow",
        "refs/heads/2026-01-01-d8fddc36/main",
        "refs/heads/sessions",
    ]
    wrong = pivcs("export", "none", "no-such-thing")
    assert wrong.code == 10
    assert b"no-such-thing" in wrong.err
    assert not (tmp_path / "none").exists()


def test_commits_go_on_from_the_project(demo: Path, tmp_path: Path, pivcs: Program):
    project = judge.new_repository(tmp_path / "project")
    (project / "kept.txt").write_text("kept\n")
    judge.git(project, "add", ".")
    judge.git(project, "commit", "-q", "-m", "start")
    result = pivcs("export", "project", demo, "--base", "main")
    assert result.code == 0
    ref = "2026-01-01-d8fddc36/main"
    changed = judge.git(project, "diff", "--name-only", f"main...{ref}", "--", ":!.pivcs").decode().splitlines()
    assert "shop/price.py" in changed
    assert "kept.txt" not in changed
    assert judge.git(project, "show", f"{ref}:kept.txt") == b"kept\n"
    assert judge.git(project, "status", "--porcelain") == b""
    wrong = pivcs("export", "project", demo, "--base", "nothing")
    assert wrong.code == 10
    assert b"names no commit" in wrong.err
    nowhere = pivcs("export", "project/new", demo, "--base", "main")
    assert nowhere.code == 20
    assert b"there is no repository" in nowhere.err
    assert not (project / "new").exists()


def test_an_export_with_other_options_is_told_apart_from_somebody_elses_changes(
    demo: Path, tmp_path: Path, pivcs: Program
):
    assert pivcs("export", "review", demo).code == 0
    other = pivcs("export", "review", demo, "--turns")
    assert other.code == 1
    assert "it is of an export with other options" in other.text
    assert "somebody else" not in other.text
    told = pivcs("export", "review", demo, "--turns", "--json").json["sessions"][0]["refs"]
    assert {ref["reason"] for ref in told if ref["outcome"] == "refused"} == {"other export"}


def test_a_file_without_entries_is_told(tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.jsonl").write_text('{"something": "else"}\n')
    result = pivcs("export", "review", "other.jsonl")
    assert "there is no entry in it" in result.text


def test_whoever_is_named_is_the_author(demo: Path, tmp_path: Path, pivcs: Program):
    assert pivcs("export", "named", demo, "--author", "Ada Lovelace <ada@example.org>").code == 0
    names = judge.git(tmp_path / "named", "log", "--format=%an", "--reverse", "2026-01-01-d8fddc36/main").decode()
    assert "Ada Lovelace" in names.splitlines()
    assert pivcs("export", "wrong", demo, "--author", "Ada").code == 10


def test_snapshots_are_commits_on_top_of_their_entries(tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    project = judge.new_repository(tmp_path / "project")
    monkeypatch.chdir(project)
    (project / "deep").mkdir()
    (project / "deep" / "a.txt").write_text("on the disk\n")
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b", header=header_line("one", cwd=str(project))))
    assert pivcs("snapshot", "-s", path, "-m", "before lunch").code == 0
    assert pivcs("export", "../review", path, "--snapshots").code == 0
    place = tmp_path / "review"
    refs = judge.git(place, "for-each-ref", "--format=%(refname)").decode().splitlines()
    (ref,) = [ref for ref in refs if "/snapshot/" in ref]
    assert judge.git(place, "show", f"{ref}:deep/a.txt") == b"on the disk\n"
    assert judge.git(place, "log", "-1", "--format=%s", ref) == b"snapshot: before lunch\n"
    assert judge.git(place, "rev-parse", f"{ref}~1") == judge.git(
        place, "rev-parse", next(each for each in refs if each.endswith("/main"))
    )
    assert judge.git(place, "show", "--format=", "--name-only", ref) == b"deep/a.txt\n"  # and no page goes
    judge.check(place)
    assert pivcs("export", "../review", path, "--snapshots").lines[-1].startswith("0 objects")
    (project / "deep" / "a.txt").write_text("later\n")
    assert pivcs("snapshot", "-s", path).code == 0
    assert pivcs("export", "../review", path, "--snapshots").code == 0
    refs = judge.git(place, "for-each-ref", "--format=%(refname)").decode().splitlines()
    shown = [judge.git(place, "show", "--format=", "--name-only", ref) for ref in refs if "/snapshot/" in ref]
    assert shown == [b"deep/a.txt\n"] * 2
    judge.check(place)


def test_a_page_and_a_branch_that_cannot_be_set_are_told_by_the_exit_code(
    demo: Path, tmp_path: Path, pivcs: Program
):
    assert pivcs("export", "review", demo).code == 0
    judge.git(tmp_path, "clone", "-q", "review", "work")
    data = build_session("a-b", header=header_line("other", cwd="/x"))
    (tmp_path / "other.jsonl").write_bytes(data)
    page = pivcs("export", "work", "other.jsonl")
    assert page.code == 1
    assert "the branch 'sessions' was left" in page.text
    judge.git(tmp_path / "review", "update-ref", "-d", "refs/heads/2026-01-01-d8fddc36/main")
    judge.git(tmp_path / "review", "update-ref", "refs/heads/2026-01-01-d8fddc36/main/below", "sessions")
    blocked = pivcs("export", "review", demo)
    assert blocked.code == 1
    assert "a directory of refs of that name is in the way" in blocked.text
