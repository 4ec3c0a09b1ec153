"""`pivcs push` and `pivcs fetch`, and the start on a new machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program
from tests.cli.test_complete import completed
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.gitbridge.test_fetch_parts import damage

SECRET = "the key is " + "AKIA" + "Q3ZTRN5LW7WH5KJ2"
pytestmark = [needs_git, pytest.mark.interop]


class Desk:
    """A machine: a home directory with pi's and pivcs's files, and a clone of the project."""

    def __init__(self, root: Path, hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.project = root / "project"
        self._monkeypatch = monkeypatch
        root.mkdir()
        judge.git(root, "clone", "-q", str(hub), "project")

    @contextmanager
    def used(self) -> Iterator[None]:
        """Be at this machine."""
        with self._monkeypatch.context() as patch:
            patch.setenv("HOME", str(self.root))
            patch.setenv("PIVCS_DIR", str(self.root / "store"))
            patch.setenv("PI_CODING_AGENT_DIR", str(self.root / "agent"))
            patch.chdir(self.project)
            yield

    @property
    def files(self) -> list[Path]:
        """The session files where pi looks for those of the project."""
        return sorted((self.root / "agent" / "sessions").glob("*/*.jsonl"))

    def talk(self, name: str, data: bytes) -> Path:
        """Let pi have had a session in the project."""
        folder = "--" + str(self.project).strip("/").replace("/", "-") + "--"
        path = self.root / "agent" / "sessions" / folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


@pytest.fixture
def desks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, Desk]:
    """Two machines; on the first pi has had a session that is called `first`."""
    hub = judge.new_repository(tmp_path / "hub.git", "--bare")
    empty = judge.git(hub, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    judge.git(hub, "update-ref", "refs/heads/main", judge.git(hub, "commit-tree", empty, "-m", "x").decode().strip())
    one, two = (Desk(tmp_path / name, hub, monkeypatch) for name in ("one", "two"))
    one.talk("s", build_session("a-b", header=header_line("first", cwd=str(one.project))))
    return one, two


def test_a_new_machine_has_the_sessions_after_one_command(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        data = one.files[0].read_bytes()
        assert pivcs("tag", "good", "HEAD~1").code == 0
        result = pivcs("push")
        assert result.code == 0
        assert result.lines[-1] == f"1 session, {len(data)} B sent to origin"
        assert pivcs("push").lines == ["nothing new for origin"]
    with two.used():
        assert pivcs("log").code == 10
        assert pivcs("fetch").lines[-1] == "1 session from origin: 1 new"
        assert pivcs("fetch").lines == ["nothing new from origin"]
        listed = pivcs("ls")
        assert "[imported from origin]" in listed.text
        assert "gone" not in listed.text
        assert listed.complaint == ""
        assert [session["origin"] for session in pivcs("ls", "--json").json["sessions"]] == ["origin"]
        assert len(pivcs("log", "--oneline").lines) == 2
        assert pivcs("show", "good").lines[0] == "entry aaaaaaaa"
        assert pivcs("cat", "first").out == data
        assert pivcs("grep", "a").code == 0


def test_a_session_goes_on_on_the_new_machine_and_comes_back(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        assert pivcs("push").code == 0
    with two.used():
        written = pivcs("fetch", "--write").lines
        (file,) = two.files
        assert f"written   {file}" in written
        assert file.read_bytes() == one.files[0].read_bytes()
        assert len(pivcs("ls").lines) == 1
        assert pivcs("fetch", "--write").lines == ["nothing new from origin"]
        with file.open("ab") as out:
            out.write(message_line("cccccccc", "bbbbbbbb"))
        assert pivcs("log", "--oneline", "-n", "1").text.startswith("cccccccc")
        assert pivcs("push").lines[-1].startswith("1 session, ")
    with one.used():
        assert pivcs("push").code == 0
        assert pivcs("fetch").code == 0
        assert pivcs("cat", "first").out == file.read_bytes()
        assert pivcs("log", "-s", "first", "--oneline", "-n", "1").text.startswith("cccccccc")
        assert pivcs("push").lines == ["nothing new for origin"]


def test_two_continuations_have_named_heads_on_both_machines(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        pivcs("push")
    with two.used():
        pivcs("fetch", "--write")
        with two.files[0].open("ab") as out:
            out.write(message_line("dddddddd", "bbbbbbbb"))
        assert pivcs("push").code == 0
    with one.used():
        with one.files[0].open("ab") as out:
            out.write(message_line("cccccccc", "bbbbbbbb"))
        assert pivcs("push").code == 0
        assert pivcs("fetch").code == 0
    with two.used():
        fetched = pivcs("fetch")
        assert fetched.code == 0
        assert fetched.lines[0].startswith("stream    ")
        assert fetched.lines[-1] == "1 session from origin: 1 with a new stream"
    heads = []
    for desk in (one, two):
        with desk.used():
            (line,) = pivcs("ls").lines
            assert " [+1 imported from origin] " in line
            assert len(pivcs("ls", "--json").json["sessions"]) == 2
            known = pivcs("branch", "--all", "--json", "-s", "first").json
            ends = {each["name"]: each["oid"] for each in (*known["branches"], *known["elsewhere"])}
            for name, oid in ends.items():
                assert pivcs("rev-parse", "-s", "first", name).lines == [oid]
            heads.append(set(ends.values()))
            assert len(ends) == 2
            assert pivcs("fsck").code == 0
    assert heads[0] == heads[1]


def test_what_went_on_elsewhere_is_found_by_the_id_that_a_colleague_quotes(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        pivcs("push")
    with two.used():
        pivcs("fetch", "--write")
        with two.files[0].open("ab") as out:
            out.write(message_line("dddddddd", "bbbbbbbb"))
        assert pivcs("push").code == 0
    with one.used():
        with one.files[0].open("ab") as out:
            out.write(message_line("cccccccc", "bbbbbbbb", timestamp="2027-01-01T00:00:00.000Z"))
        assert pivcs("push").code == 0
        assert pivcs("fetch").code == 0
        for text in ("dddddddd", "dddd"):
            result = pivcs("log", text)
            assert result.code == 10
            assert "`pivcs log 2/main` shows it" in result.complaint
        assert pivcs("log", "--oneline", "2/main").text.startswith("dddddddd")
        assert "2/main" not in pivcs("log", "eeeeeeee").complaint
        for options in (["--all"], ["--graph"]):
            assert "1 more branch of the session is in another source" in pivcs("log", *options).complaint
        assert pivcs("log").complaint == ""
        (row,) = [line for line in pivcs("branch", "--all").lines if "2/main" in line]
        assert "(in git:" in row
        assert "generation" not in row


def test_names_of_others_are_told_as_theirs_and_tags_as_tags(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        assert pivcs("tag", "good", "HEAD~1").code == 0
        assert pivcs("branch", "try", "HEAD~1").code == 0
        assert pivcs("push").code == 0
    with two.used():
        assert pivcs("fetch", "--write").code == 0
        (tag,) = pivcs("tag").lines
        assert tag.split()[:2] == ["good", "aaaaaaaa"]
        assert "(named by the store " in tag
        listed = pivcs("branch", "--all").lines
        assert [line.replace("*", " ").split()[0] for line in listed] == ["main", "try"]
        assert "(named by the store " in listed[1]
        assert pivcs("tag", "good", "HEAD").code == 0
        assert [line.split()[1] for line in pivcs("tag").lines] == ["bbbbbbbb", "aaaaaaaa"]
        assert pivcs("log", "--all").complaint == ""


def test_secrets_are_not_sent_unless_told_to(desks: tuple[Desk, Desk], pivcs: Program):
    one, _ = desks
    with one.used():
        with one.files[0].open("ab") as out:
            out.write(message_line("cccccccc", "bbbbbbbb", content=SECRET))
        refused = pivcs("push")
        assert refused.code == 20
        assert "secret" in refused.complaint
        assert judge.git(one.project, "ls-remote", "origin", "refs/pivcs/*") == b""
        assert pivcs("push", "--yes").code == 0
        assert judge.git(one.project, "ls-remote", "origin", "refs/pivcs/*") != b""


def test_what_others_sent_with_secrets_in_it_keeps_nobody_from_sending(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        with one.files[0].open("ab") as out:
            out.write(message_line("cccccccc", "bbbbbbbb", content=SECRET))
        assert pivcs("push", "--yes").code == 0
        assert pivcs("push").code == 0
    with two.used():
        assert pivcs("fetch", "--write").code == 0
        two.talk("own", build_session("a", header=header_line("own", cwd=str(two.project))))
        assert pivcs("push").code == 0
        with two.files[0].open("ab") as out:
            out.write(message_line("dddddddd", "cccccccc"))
        assert pivcs("push").code == 20


def test_what_was_fetched_by_git_is_imported_into_the_project(desks: tuple[Desk, Desk], pivcs: Program):
    one, two = desks
    with one.used():
        pivcs("push")
    with two.used():
        judge.git(two.project, "fetch", "-q", "origin", "refs/pivcs/*:refs/pivcs/*")
        assert pivcs("import", ".").code == 0
        assert "imported from ." in pivcs("ls").text
        assert len(pivcs("log", "--oneline").lines) == 2


def test_status_starts_no_git_and_downloads_nothing(desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    one, two = desks
    with one.used():
        pivcs("push")
    (line,) = judge.git(tmp_path / "hub.git", "for-each-ref", "refs/pivcs").decode().splitlines()
    refs = "".join(f"create refs/pivcs/{number:064x}/s/{number:016x} {line.split()[0]}\n" for number in range(300))
    judge.git(tmp_path / "hub.git", "update-ref", "--stdin", stdin=refs.encode())
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n")
    program.chmod(0o755)
    with two.used():
        two.talk("own", build_session("a", header=header_line("own", cwd=str(two.project))))
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        assert pivcs("status").code == 0
        assert pivcs("ls").code == 0
    assert not (tmp_path / "asked").exists()


def test_a_separate_remote_for_sessions_is_a_setting(desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path):
    one, _ = desks
    sessions = judge.new_repository(tmp_path / "sessions.git", "--bare")
    with one.used():
        judge.git(one.project, "config", "pivcs.remote", str(sessions))
        assert pivcs("push", "--json").json["remote"] == str(sessions)
        assert judge.git(one.project, "ls-remote", "origin", "refs/pivcs/*") == b""
        assert judge.git(sessions, "for-each-ref") != b""


def test_a_ref_that_was_moved_there_is_left_with_code_1(desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path):
    one, _ = desks
    hub = tmp_path / "hub.git"
    with one.used():
        assert pivcs("push").code == 0
        (line,) = judge.git(hub, "for-each-ref", "--format=%(refname)", "refs/pivcs").decode().splitlines()
        judge.git(hub, "update-ref", line, "refs/heads/main")
        result = pivcs("push")
        assert result.code == 1
        assert "left at" in result.text
        assert result.lines[-1] == "nothing sent to origin; 1 ref left as it is"
        one.talk("more", build_session("a", header=header_line("more", cwd=str(one.project))))
        result = pivcs("push")
        assert result.code == 1
        assert result.lines[-1].startswith("1 session, ")
        assert result.lines[-1].endswith(" B sent to origin; 1 ref left as it is")
        document = pivcs("push", "--json")
        assert document.code == 1
        assert [ref["outcome"] for ref in document.json["refs"]] == ["refused"]


def test_a_ref_that_the_other_side_does_not_take_is_told_so(
    desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path
):
    one, _ = desks
    hook = tmp_path / "hub.git" / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with one.used():
        result = pivcs("push")
        assert result.code == 1
        assert "not taken: the other side does not allow it" in result.text
        assert result.lines[-1] == "nothing sent to origin; 1 ref left as it is"
        hook.unlink()
        assert pivcs("push").code == 0


def test_what_is_damaged_there_is_named_with_code_30_and_the_rest_comes(
    desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path
):
    one, two = desks
    hub = tmp_path / "hub.git"
    with one.used():
        one.talk("more", build_session("a", header=header_line("more", cwd=str(one.project))))
        assert pivcs("push").code == 0
    bad, _ = judge.git(hub, "for-each-ref", "--format=%(refname)", "refs/pivcs").decode().splitlines()
    damage(hub, bad, "8")
    with two.used():
        result = pivcs("fetch")
        assert result.code == 30
        assert result.lines[-1] == "2 sessions from origin: 1 damaged, 1 new"
        assert bad.rpartition("/")[2] in result.complaint
        document = pivcs("fetch", "--json")
        assert document.code == 30
        assert [(each["outcome"], each["key"]) for each in document.json["streams"]] == [("damaged", bad[11:75])]
        assert len(pivcs("ls", "--json").json["sessions"]) == 1


def test_without_a_remote_it_says_what_to_do(pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(judge.new_repository(tmp_path / "lonely"))
    for command in ("push", "fetch"):
        result = pivcs(command)
        assert result.code == 20
        assert "pivcs.remote" in result.complaint
    monkeypatch.chdir(tmp_path)
    assert pivcs("fetch").code == 20


def test_a_ref_that_was_left_here_is_not_nothing_new(desks: tuple[Desk, Desk], pivcs: Program):
    one, _ = desks
    with one.used():
        assert pivcs("push").code == 0
        (name,) = judge.git(one.project, "for-each-ref", "--format=%(refname)", "refs/pivcs").decode().splitlines()
        judge.git(one.project, "update-ref", name, "HEAD")
        result = pivcs("push")
        assert result.code == 1
        assert result.lines[-1] == "nothing sent to origin; 2 refs left as they are"


def test_push_without_sessions_sends_what_the_repository_has(desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path):
    one, two = desks
    with one.used():
        assert pivcs("push").code == 0
    with two.used():
        result = pivcs("push")
        assert result.code == 10
        assert "no session belongs to the current project" in result.complaint
        judge.git(two.project, "fetch", "-q", "origin", "refs/pivcs/*:refs/pivcs/*")
        assert pivcs("push").lines == ["nothing new for origin"]
        other = judge.new_repository(tmp_path / "other.git", "--bare")
        assert pivcs("push", str(other)).lines[-1].startswith("1 session, ")
        assert judge.git(other, "for-each-ref", "refs/pivcs") != b""


def test_a_remote_that_is_not_there_is_told_with_its_path(desks: tuple[Desk, Desk], pivcs: Program, tmp_path: Path):
    one, _ = desks
    judge.git(one.project, "remote", "add", "b", str(tmp_path / "gone.git"))
    with one.used():
        result = pivcs("fetch", "b")
        assert result.code == 100
        assert f"'{tmp_path}/gone.git' does not appear to be a git repository" in result.complaint


def test_remotes_are_completed(desks: tuple[Desk, Desk], tmp_path: Path):
    one, _ = desks
    judge.git(one.project, "remote", "add", "sessions", str(tmp_path / "hub.git"))
    for command in ("push", "fetch"):
        assert completed(one.project, f"pivcs {command} se") == (["sessions"], b"")
        assert completed(one.project, f"pivcs {command} ")[0] == ["origin", "sessions"]
    assert completed(tmp_path, "pivcs push x") == ([], b"")
