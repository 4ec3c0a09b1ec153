"""`link`, `log --commits` and `show COMMIT`, as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Program
from tests.gitbridge.real_git import Project, find_git, new_project
from tests.talks import Talk

pytestmark = pytest.mark.interop

TEXT = "def login(name):\n    return find_in_directory(name)\n"


class Place:
    """A project that is the current directory, with a session that wrote a file of its last commit."""

    def __init__(self, root: Path, sessions: Path) -> None:
        self.project: Project = new_project(root, {"README": "hello\n"})
        self.talk = Talk(cwd=str(root))
        self.prompt = self.talk.prompt("Write the \x1b[31mlogin.")
        self.wrote = self.talk.write("one.py", TEXT)
        self.talk.say("Done.")
        self.session = sessions / "one.jsonl"
        self.session.write_bytes(self.talk.data)
        self.commit = self.project.commit({"one.py": TEXT, "README": "hello\nby \x1b[31mhand\n"})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    find_git()
    (tmp_path / "sessions").mkdir()
    made = Place(tmp_path / "project", tmp_path / "sessions")
    monkeypatch.chdir(made.project.root)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "sessions"))
    return made


def test_commits_with_the_entries_that_made_them(place: Place, pivcs: Program):
    result = pivcs("link")
    assert result.code == 0
    assert result.lines == [
        f"commit {place.commit[:12]} (main) 2026-01-01 00:00 m",
        "  2 of 3 added lines by 1 entry (66 %), 1 by hand or unknown",
        f"    {place.wrote}  2 lines  Write the ^[[31mlogin.",
        "",
        "no entry has a part in 1 other commit",
    ]
    assert pivcs("link", "HEAD~1..HEAD").lines == result.lines[:3]


def test_commits_that_are_named_are_shown_and_nothing_is_the_answer_no(place: Place, pivcs: Program):
    result = pivcs("link", "HEAD~1")
    assert result.code == 1
    assert result.lines[1] == "  1 line added, none by an entry"
    place.project.git("checkout", "-q", "--orphan", "empty")
    assert pivcs("link").code == 1
    assert pivcs("link").lines == ["there is no commit to look at"]
    assert pivcs("link", "--all").code == 0
    assert pivcs("link", "nothing").code == 10
    assert pivcs("link", "--all", "main").code == 2


def test_links_as_a_document(place: Place, pivcs: Program):
    document = pivcs("link", "HEAD", "--json").json
    assert document["schema"] == "pivcs.link/1"
    assert document["notes"] is None
    assert [session["decided"] for session in document["sessions"]] == ["repository"]
    (commit,) = document["commits"]
    assert (commit["commit"], commit["refs"]) == (place.commit, ["main"])
    assert (commit["added"], commit["by_hand"], commit["percent"]) == (3, 1, 66)
    (entry,) = commit["entries"]
    assert (entry["entry"], entry["prompt_entry"], entry["lines"]) == (place.wrote, place.prompt, 2)
    assert {file["path"]: file["how"] for file in commit["files"]} == {"README": "none", "one.py": "exact"}


def test_notes_are_written_on_request(place: Place, pivcs: Program):
    pivcs("link")
    assert place.project.git("for-each-ref", "refs/notes") == ""
    assert pivcs("link", "--notes").lines[-1] == (
        "1 note written to refs/notes/pivcs; `git log --notes=pivcs` shows them"
    )
    first = place.project.git("rev-parse", "refs/notes/pivcs")
    assert pivcs("link", "--notes").lines[-1] == "the notes in refs/notes/pivcs are as they were"
    assert pivcs("link", "--notes", "--json").json["notes"] == {
        "ref": "refs/notes/pivcs", "written": 0, "removed": 0, "commit": first,
    }  # fmt: skip
    assert place.wrote in place.project.git("notes", "--ref=pivcs", "show", "HEAD")


def test_without_sessions_it_says_what_to_fetch(place: Place, pivcs: Program, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    """case 86"""
    assert pivcs("link", "--notes").code == 0
    place.project.git("clone", "-q", str(place.project.root), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    result = pivcs("link")
    assert result.code == 10
    assert "pivcs fetch" in result.complaint
    assert "git fetch REMOTE refs/notes/pivcs:refs/notes/pivcs" in result.complaint
    Project(tmp_path / "clone").git("fetch", "-q", "origin", "refs/notes/pivcs:refs/notes/pivcs")
    assert "git log --notes=pivcs" in pivcs("link").complaint
    monkeypatch.chdir(tmp_path)
    assert pivcs("link").code == 20


def test_partial_clone_says_what_is_missing(place: Place, pivcs: Program, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    place.project.git("config", "uploadpack.allowFilter", "true")
    place.project.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{place.project.root}",
                      str(tmp_path / "clone"))  # fmt: skip
    monkeypatch.chdir(tmp_path / "clone")
    for words in (("link",), ("show", "commit/HEAD")):
        result = pivcs(*words, "-s", place.session)
        assert (result.code, result.out) == (20, b"")
        assert "this clone is partial" in result.complaint


def test_worktrees_submodules_and_bare_repositories(place: Place, pivcs: Program, tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    place.project.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    place.project.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    outer = new_project(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(place.project.root), "inner")
    for directory in (tmp_path / "tree", tmp_path / "bare.git", tmp_path / "outer" / "inner"):
        monkeypatch.chdir(directory)
        result = pivcs("link", "HEAD", "--notes", "-s", place.session)
        assert result.code == 0
        assert "  2 of 3 added lines by 1 entry (66 %), 1 by hand or unknown" in result.lines
        assert place.wrote in Project(directory).git("notes", "--ref=pivcs", "show", "HEAD")
    assert outer.git("for-each-ref", "refs/notes") == ""


def test_session_of_another_clone_says_how_it_was_placed(place: Place, pivcs: Program, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    place.project.git("clone", "-q", str(place.project.root), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    result = pivcs("link", "-s", place.session)
    assert result.lines[0] == f"session {place.session}: its files are in '.', by what its files held"
    assert result.lines[2] == "  2 of 3 added lines by 1 entry (66 %), 1 by hand or unknown"


def test_archived_session_is_found_in_a_clone_at_another_place(place: Place, pivcs: Program, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    assert pivcs("archive").code == 0
    place.project.git("clone", "-q", str(place.project.root), str(tmp_path / "clone"))
    Project(tmp_path / "clone").git("fetch", "-q", "origin", "refs/pivcs/*:refs/pivcs/*")
    monkeypatch.chdir(tmp_path / "clone")
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "another-store"))
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "none"))
    assert pivcs("import", ".").code == 0
    result = pivcs("link", "HEAD")
    assert result.code == 0
    assert any(f"{place.wrote}  2 lines" in line for line in result.lines)


def test_commit_is_shown_with_what_was_changed_by_hand(place: Place, pivcs: Program):
    result = pivcs("show", "commit/HEAD")
    assert result.code == 0
    assert result.lines == [
        f"commit {place.commit[:12]} (main) 2026-01-01 00:00 m",
        "  2 of 3 added lines by 1 entry (66 %), 1 by hand or unknown",
        "",
        f"  prompt {place.prompt}",
        "  > Write the ^[[31mlogin.",
        f"    {place.wrote}  2 lines  write one.py: Successfully wrote to one.py",
        "",
        "  M README  1 line by hand or unknown",
        "  A one.py  as an entry left it, all of it",
        "",
        "changed by hand, or unknown:",
        "README",
        "  line 2",
        "  +by ^[[31mhand",
    ]
    assert pivcs("show", place.commit).lines == result.lines
    assert pivcs("show", place.commit[:9]).lines == result.lines
    document = pivcs("show", f"commit/{place.commit}", "--json").json
    assert document["schema"] == "pivcs.showcommit/1"
    assert document["commit"]["prompts"] == [
        {"session": 0, "entry": place.prompt, "text": "Write the \x1b[31mlogin."}
    ]  # fmt: skip
    readme = document["commit"]["files"][0]
    assert readme["hunks"] == [{"removed": [], "added": [{"line": 2, "text": "by \x1b[31mhand"}]}]


def test_commits_of_an_export_are_passed_by_and_told_when_named(place: Place, pivcs: Program):
    assert pivcs("export", ".", "--base", "main~1").code == 0
    branch = next(name for name in place.project.git("branch", "--format=%(refname:short)").split() if "/" in name)
    count = int(place.project.git("rev-list", "--count", "--all", "^main"))
    result = pivcs("link", "--all")
    assert result.lines[-2:] == ["no entry has a part in 1 other commit",
                                 f"{count} commits written by an export passed by"]  # fmt: skip
    assert len([line for line in result.lines if line.startswith("commit ")]) == 1
    assert [each["commit"] for each in pivcs("link", "--all", "--json").json["commits"]] == [
        place.commit, place.project.git("rev-parse", "main~1")
    ]  # fmt: skip
    assert pivcs("link", "--all", "--notes").code == 0
    assert place.project.git("notes", "--ref=pivcs", "list").split()[1:] == [place.commit]
    node = place.project.git("log", "-1", "--format=%(trailers:key=Pivcs-Node,valueonly)", branch)
    entry = place.project.git("log", "-1", "--format=%(trailers:key=Pivcs-Entry,valueonly)", branch)
    shown = pivcs("show", branch)
    assert shown.lines[1:] == [
        f"  written by an export: entry {entry}, node {node[:12]}",
        f"  in session {place.session}:",
        f"    {entry}  Done.",
    ]
    document = pivcs("show", branch, "--json").json["commit"]
    assert document["exported"] == {"kind": "entry", "node": node, "entry": entry}
    assert pivcs("show", "commit/sessions").lines[1:] == ["  written by an export: the start page"]
    named = pivcs("link", f"{branch}~1..{branch}")
    assert (named.code, named.lines) == (1, shown.lines[:2])


def test_review_commit_that_somebody_picked_is_the_projects(place: Place, pivcs: Program):
    assert pivcs("export", ".").code == 0
    branch = next(name for name in place.project.git("branch", "--format=%(refname:short)").split() if "/" in name)
    wrote = place.project.git("log", "-1", "--format=%H", f"--grep=^Pivcs-Entry: {place.wrote}", branch)
    place.project.git("checkout", "-q", "-b", "picked", "main~1")
    place.project.git("cherry-pick", "--strategy-option=theirs", wrote, ok=(0, 1))  # pages are not there to change
    place.project.git("add", "-A")
    place.project.git("-c", "core.editor=true", "cherry-pick", "--continue", ok=(0, 128))
    assert ".pivcs/" in place.project.git("show", "--name-only", "--format=", "HEAD")
    assert pivcs("link", "HEAD").lines[1:] == [
        "  2 of 2 added lines by 1 entry (100 %)", f"    {place.wrote}  2 lines  Write the ^[[31mlogin.",
    ]  # fmt: skip


def test_what_the_session_has_goes_before_a_commit(place: Place, pivcs: Program):
    assert pivcs("show", "HEAD~1").lines[0].startswith(f"entry {place.wrote}")
    assert pivcs("show", "main").lines[0].startswith("entry ")
    place.project.git("branch", "topic")
    assert pivcs("show", "topic").lines[0].startswith(f"commit {place.commit[:12]}")
    assert pivcs("tag", "topic", "HEAD").code == 0
    assert pivcs("show", "topic").lines[0].startswith("entry ")
    assert pivcs("show", "commit/topic").lines[0].startswith(f"commit {place.commit[:12]}")


def test_head_is_always_that_of_the_session(place: Place, pivcs: Program):
    place.session.write_bytes(place.talk.lines[0])
    for words in ((), ("HEAD",), ("@",), ("HEAD~1",), ("HEAD^",), ("@~1",)):
        assert pivcs("show", *words).code == 10, words
    assert pivcs("show", "commit/HEAD").code == 0
    assert pivcs("show", "main").lines[0].startswith(f"commit {place.commit[:12]}")


def test_what_is_neither_an_entry_nor_a_commit_is_unknown(place: Place, pivcs: Program):
    for text in ("nothing", ":/hello", "^main", "nothing here"):
        assert pivcs("show", text).code == 10
    assert "no branch, tag, label" in pivcs("show", "nothing").complaint
    assert pivcs("show", "commit/nothing").code == 10
    assert "names no commit" in pivcs("show", "commit/nothing").complaint
    assert pivcs("show", "commit/HEAD", "HEAD").code == 2
    assert pivcs("show", "commit/HEAD", "--raw").code == 2
    assert pivcs("show", place.commit, "HEAD").code == 10


def test_log_shows_the_commits_of_entries(place: Place, pivcs: Program):
    mark = f"commit {place.commit[:12]} main"
    lines = pivcs("log", "--commits", "--oneline").lines
    assert [mark in line for line in lines] == [False, True, False, False]
    assert lines[1].startswith(f"{place.wrote} ({mark}) tool write")
    assert mark in pivcs("log", "--commits").text
    assert mark in pivcs("log", "--commits", "--graph").text
    assert f", {mark})" in pivcs("log", "--commits", "--turns").lines[0]
    assert "commit" not in pivcs("log").text
    entries = pivcs("log", "--commits", "--json").json["entries"]
    made = [{"commit": place.commit, "refs": ["main"], "lines": 2}]
    assert [entry["commits"] for entry in entries] == [[], made, [], []]
    (turn,) = pivcs("log", "--commits", "--turns", "--json").json["turns"]
    assert turn["commits"] == made


def test_empty_base_and_a_base_that_is_named(place: Place, pivcs: Program):
    place.talk.prompt("Change the readme.")
    edited = place.talk.edit("README", "hello", "hello everybody")
    place.session.write_bytes(place.talk.data)
    place.project.commit({"README": "hello everybody\nby \x1b[31mhand\n"})
    with_base = pivcs("link", "HEAD", "--base", "HEAD~1", "--json").json["commits"][0]
    without = pivcs("link", "HEAD", "--json").json["commits"][0]
    assert with_base["entries"] == without["entries"]
    assert with_base["entries"][0]["entry"] == edited
    assert [commit["files"][0]["how"] for commit in (with_base, without)] == ["exact", "lines"]
