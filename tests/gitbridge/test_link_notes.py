from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.gitbridge.commit_changes import FileChange
from pivcs.gitbridge.commits import CommitInfo, find_commits
from pivcs.gitbridge.link import Linker
from pivcs.gitbridge.link_notes import REF, Noted, NotesMoved, merged, write_notes
from pivcs.gitbridge.link_result import CommitLink, LinkedFile
from pivcs.gitbridge.link_tree import FEW, MOST
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.refs_update import OtherRefs
from pivcs.gitbridge.repository import OtherHash, find_repository
from pivcs.ops.made_match import How, Writer
from pivcs.ops.view import SessionView
from tests.gitbridge import git as judge
from tests.gitbridge.real_git import EPOCH, Content, Project, new_project, state_of
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = pytest.mark.interop

TEXT = "def login(name):\n    return find_in_directory(name)\n"
KEY = b"1" * 64
OTHER = b"2" * 64


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"README": "hello\n"})


@pytest.fixture
def talk(project: Project) -> Talk:
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    talk.write("one.py", TEXT)
    return talk


def noted(project: Project, *talks: Talk, revisions: tuple[str, ...] = ()) -> Noted:
    repository, git = find_repository(str(project.root)), Git.find(os.environ)
    views = [view_of(talk.data) for talk in talks]
    with Linker(repository, git, views, lambda _: None) as linker:
        links = list(linker.links(list(find_commits(repository, git, revisions))))
        return write_notes(repository, links, linker.views)


def note(project: Project, commit: str = "HEAD") -> str:
    return project.git("notes", "--ref=pivcs", "show", commit)


def tree(project: Project) -> str:
    return project.git("ls-tree", "-r", REF)


def made_up(commits: Iterable[str], view: SessionView) -> list[CommitLink]:
    """Links of commits, without anything that a repository would have to know."""
    change = FileChange("A", b"one.py", b"one.py", None, b"\1" * 20, b"000000", b"100644")
    file = LinkedFile(change, How.EXACT, False, Writer(0, 3), 2, 0, 0, ((Writer(0, 3), 2),))
    return [CommitLink(CommitInfo(commit, (), EPOCH, "m"), (file,)) for commit in commits]


def test_note_names_the_session_the_entries_and_the_files(project: Project, talk: Talk) -> None:
    project.commit({"one.py": TEXT, 'odd "name"\n': "by hand\n"})
    assert noted(project, talk).written == 1
    view = view_of(talk.data)
    assert view.key is not None
    assert view.head is not None
    assert note(project).splitlines() == [
        f"Pivcs-Link: {view.key.hex}",
        "Pivcs-Lines: 2 of 3",
        f"Pivcs-Entry: {view.table.object_id(view.head).hex} 2 00000003",
        "Pivcs-File: 2 of 2 whole one.py",
    ]
    assert "Write it." not in note(project)
    assert "Pivcs-Link" in project.git("log", "--notes=pivcs", "-1")
    judge.check(project.root)


def test_written_twice_it_is_the_same_bytes(project: Project, talk: Talk) -> None:
    """case 68"""
    project.commit({"one.py": TEXT})
    first = noted(project, talk)
    before = state_of(project.root)
    assert noted(project, talk) == Noted(0, 0, first.commit)
    assert state_of(project.root) == before
    other = Project(project.root.parent / "clone")
    project.git("clone", "-q", str(project.root), str(other.root))
    assert noted(other, talk) == first


def test_amended_commit_gets_its_own_note_and_the_old_one_stays(project: Project, talk: Talk) -> None:
    """cases 66, 68"""
    old = project.commit({"one.py": TEXT})
    noted(project, talk)
    text = note(project)
    project.git("commit", "-q", "--amend", "-m", "amended")
    assert noted(project, talk).written == 1
    assert note(project) == note(project, old) == text


def test_what_others_wrote_into_notes_stays(project: Project, talk: Talk) -> None:
    commit = project.commit({"one.py": TEXT})
    project.git("notes", "--ref=pivcs", "add", "-m", "reviewed by nobody", "HEAD")
    project.git("notes", "--ref=pivcs", "add", "-m", "about another one", "HEAD~1")
    assert noted(project, talk) == noted(project, talk)._replace(written=1)
    assert note(project).startswith("reviewed by nobody\n\nPivcs-Link: ")
    assert note(project, "HEAD~1") == "about another one"
    project.git("notes", "--ref=pivcs", "append", "-m", "and later", commit)
    assert noted(project, talk).written == 0
    other = Talk(cwd=str(project.root), session_id="other")
    other.prompt("Again.")
    other.write("one.py", TEXT)
    assert noted(project, other).written == 1
    assert note(project).count("Pivcs-Link: ") == 2
    assert note(project).startswith("reviewed by nobody\n\nand later\n\nPivcs-Link: ")


def test_session_in_two_files_has_one_part(project: Project, talk: Talk) -> None:
    again = Talk(cwd=str(project.root))
    again.lines, again.at, again._number, again.clock = [*talk.lines], talk.at, 3, talk.clock
    again.write("two.py", "another_file()\n")
    project.commit({"one.py": TEXT, "two.py": "another_file()\n"})
    noted(project, talk, again)
    assert note(project).count("Pivcs-Link: ") == 1
    assert "Pivcs-Lines: 3 of 3" in note(project)
    first = project.git("rev-parse", REF)
    assert noted(project, again, talk).commit == first


def test_part_of_a_session_goes_when_it_has_none_any_more(project: Project, talk: Talk) -> None:
    commit = project.commit({"one.py": "by_hand_alone()\n"})
    view = view_of(talk.data)
    repository = find_repository(str(project.root))
    assert write_notes(repository, made_up([commit], view), (view,)).written == 1
    assert noted(project, talk)[:2] == (0, 1)
    assert tree(project) == ""


def test_nothing_but_the_ref_and_objects_is_touched(project: Project, talk: Talk, decoy: Project) -> None:
    """cases 70, 71"""
    project.git("config", "commit.gpgsign", "true")
    project.git("config", "user.signingkey", "0000000000000000")
    project.git("-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "x")
    project.write({"one.py": TEXT, "untracked": "x\n"})
    project.git("add", "one.py")
    project.git("-c", "commit.gpgsign=false", "commit", "-q", "-m", "x")
    project.git("stash", "list")
    hook = project.root / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    before, other = state_of(project.root), state_of(decoy.root)
    assert noted(project, talk).written == 1
    after = state_of(project.root)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    allowed = (".git/objects", ".git/refs")
    assert {name for name in changed if not name.startswith(allowed)} <= {".git"}
    assert {name for name in changed if name.startswith(".git/refs/") and (project.root / name).is_file()} == {
        f".git/{REF}"
    }
    assert state_of(decoy.root) == other


def test_note_of_hundreds_of_kilobytes(project: Project) -> None:
    """case 63"""
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    files: dict[str, Content] = {}
    for number in range(1600):
        name, content = f"folder/{'x' * 120}-{number}.py", f"content_of_{number}()\n"
        talk.write(name, content)
        files[name] = content
    project.commit(files)
    assert noted(project, talk, revisions=("HEAD",)).written == 1
    assert len(note(project)) > 300_000
    assert noted(project, talk, revisions=("HEAD",)).written == 0


@pytest.mark.parametrize("count", [3, FEW + 1, 3 * MOST])
def test_git_finds_every_note_however_many_there_are(project: Project, talk: Talk, count: int) -> None:
    view = view_of(talk.data)
    repository = find_repository(str(project.root))
    stream = "".join(
        f"commit refs/heads/many\ncommitter A <a@b> {EPOCH + number} +0000\ndata 1\nx\n" for number in range(count)
    )
    judge.git(project.root, "fast-import", "--quiet", stdin=stream.encode())
    commits = project.git("rev-list", "many").split()
    assert len(commits) == count
    project.git("notes", "--ref=pivcs", "add", "-m", "by somebody", commits[0])
    assert write_notes(repository, made_up(commits[1:], view), (view,)).written == count - 1
    assert write_notes(repository, made_up(commits[:1], view), (view,)).written == 1
    assert note(project, commits[0]).startswith("by somebody\n\nPivcs-Link: ")
    listed = {line.split()[1] for line in project.git("notes", "--ref=pivcs", "list").splitlines()}
    assert listed == set(commits)
    paths = [line.split("\t")[1] for line in tree(project).splitlines()]
    assert {"/" in path for path in paths} == {count > MOST}
    assert write_notes(repository, made_up(commits, view), (view,)).written == 0
    judge.check(project.root)


def test_notes_that_git_has_cut_its_own_way_are_found(project: Project, talk: Talk) -> None:
    commit = project.commit({"one.py": TEXT})
    blob = project.git("hash-object", "-w", "README")
    entry = f"100644 blob {blob}\t{commit[4:]}\n"
    for name in (commit[2:4], commit[:2]):
        inner = judge.git(project.root, "mktree", stdin=entry.encode()).decode().strip()
        entry = f"040000 tree {inner}\t{name}\n"
    root = judge.git(project.root, "mktree", stdin=entry.encode()).decode().strip()
    made = project.git("commit-tree", "-m", "notes", root)
    project.git("update-ref", REF, made)
    assert note(project) == "hello"
    assert noted(project, talk, revisions=("HEAD",)).written == 1
    assert note(project).startswith("hello\n\nPivcs-Link: ")
    assert tree(project).endswith(f"{commit[:2]}/{commit[2:4]}/{commit[4:]}")


def test_ref_that_is_no_notes_is_refused(project: Project, talk: Talk) -> None:
    project.commit({"one.py": TEXT})
    project.git("update-ref", REF, project.git("rev-parse", "HEAD:README"))
    with pytest.raises(NotesMoved):
        noted(project, talk)
    project.git("update-ref", "-d", REF)
    project.git("symbolic-ref", REF, "refs/heads/main")
    head = project.git("rev-parse", "main")
    with pytest.raises(NotesMoved):
        noted(project, talk)
    assert project.git("rev-parse", "main") == head


def test_repositories_that_cannot_be_written_are_refused(git: Git, tmp_path: Path) -> None:
    project = Project(tmp_path / "long")
    project.root.mkdir()
    project.git("init", "-q", "--object-format=sha256")
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    talk.write("one.py", TEXT)
    project.commit({"one.py": TEXT})
    with pytest.raises((OtherHash, OtherRefs)):
        noted(project, talk)


BLOCK = st.builds(
    lambda key, lines: b"Pivcs-Link: " + key + b"\n" + b"".join(b"Pivcs-Entry: " + line + b"\n" for line in lines),
    st.sampled_from([KEY, OTHER]), st.lists(st.sampled_from([b"a", b"b"]), max_size=2),
)  # fmt: skip
SAID = st.sampled_from([b"\n", b"said\n", b"said\nPivcs-Entry: alone\n", b"  said  \n\n\n"])
NOTE = st.lists(st.one_of(BLOCK, SAID), max_size=6)


@given(pieces=NOTE, tail=st.sampled_from([b"", b"said"]), mine=st.one_of(st.just(b""), BLOCK))
def test_merging_twice_is_merging_once_and_keeps_what_others_said(
    pieces: list[bytes], tail: bytes, mine: bytes
) -> None:
    note = b"".join(pieces) + tail
    parts = {mine[12:76]: mine} if mine else {}
    keys = set(parts) or {KEY}
    once = merged(note, parts, keys)
    assert merged(once, parts, keys) == once
    assert once.count(b"said") == note.count(b"said")
    assert once.count(b"Pivcs-Entry: alone") == note.count(b"Pivcs-Entry: alone")
    for key in keys:
        assert once.count(b"Pivcs-Link: " + key) == (key in parts)
