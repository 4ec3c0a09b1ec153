"""Review commits in a repository: the real git reads them, and they are a function of the entries alone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from dulwich.repo import Repo

from pivcs.gitbridge.destination import Destination, NotADestination
from pivcs.gitbridge.exporting import Export, ExportOptions, export
from pivcs.ops.demo import demo_session
from pivcs.ops.view import SessionView
from tests.builders import build_session, header_line, label_line, message_line, tool_result_line
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = needs_git


def git(repository: Path, *arguments: str) -> str:
    return judge.git(repository, *arguments).decode()


def _exported(place: Path, *sessions: bytes, force: bool = False) -> Export:
    return export([view_of(data) for data in sessions], Destination.open(place), ExportOptions(force=force))


def _refs(place: Path) -> dict[str, str]:
    lines = git(place, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def _clean(place: Path) -> None:
    judge.check(place)


def _file(place: Path, commit: str, path: str) -> str:
    return git(place, "cat-file", "blob", f"{commit}:{path}")


FOLDER = "2026-01-01-d8fddc36"


def test_branches_and_labels_are_refs_and_git_finds_nothing_wrong(tmp_path: Path):
    done = _exported(tmp_path / "review", demo_session())
    _clean(tmp_path / "review")
    assert set(_refs(tmp_path / "review")) == {
        "refs/heads/sessions",
        f"refs/heads/{FOLDER}/main",
        f"refs/heads/{FOLDER}/b-08d12dfd",
        f"refs/heads/{FOLDER}/label/cents%20work",
        f"refs/heads/{FOLDER}/label/decimal%2c%20too%20slow",
    }
    assert {moved.outcome for moved in done.sessions[0].moved} == {"new"}
    assert git(tmp_path / "review", "symbolic-ref", "HEAD").strip() == "refs/heads/sessions"
    with Repo(str(tmp_path / "review")) as repository:
        assert len(list(repository.get_walker([repository.refs[f"refs/heads/{FOLDER}/main".encode()]]))) == 12


def test_attempts_part_where_the_conversation_parted(tmp_path: Path):
    _exported(tmp_path / "review", demo_session())
    base = git(tmp_path / "review", "merge-base", f"{FOLDER}/main", f"{FOLDER}/b-08d12dfd").strip()
    assert "Pivcs-Entry: b54cda26" in git(tmp_path / "review", "log", "-1", "--format=%B", base)


def test_a_commit_has_the_files_and_the_page_of_its_turn(tmp_path: Path):
    _exported(tmp_path / "review", demo_session())
    tip = f"{FOLDER}/b-08d12dfd"
    assert "checked(items)" in _file(tmp_path / "review", tip, "shop/price.py")
    assert "Decimal" in _file(tmp_path / "review", f"{FOLDER}/main", "shop/price.py")
    names = git(tmp_path / "review", "ls-tree", "-r", "--name-only", "-z", tip).split("\0")
    (told,) = [name for name in names if name.startswith(".pivcs/files/") and name.endswith("/shop%2fprice.py")]
    assert "known: derived\nchanged by: 736ae249" in _file(tmp_path / "review", tip, told)
    page = _file(tmp_path / "review", tip, ".pivcs/turns/00/0002/00.md")
    assert "> Good. Also reject negative counts." in page
    change = git(tmp_path / "review", "show", "--format=", f"{tip}~1", "--", "shop")
    assert "+    return sum(i.cents * i.count for i in checked(items))" in change


def test_ids_do_not_depend_on_who_exports_where_and_when(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _exported(tmp_path / "one", demo_session())
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    old = os.umask(0o077)
    try:
        _exported(tmp_path / "two", demo_session())
    finally:
        os.umask(old)
        monkeypatch.undo()
        time.tzset()
    assert _refs(tmp_path / "one") == _refs(tmp_path / "two")


def test_exporting_as_a_session_grows_gives_the_same_commits(tmp_path: Path):
    lines = demo_session().splitlines(keepends=True)
    for count in range(2, len(lines) + 1):
        done = _exported(tmp_path / "grown", b"".join(lines[:count]))
        assert all(moved.outcome != "refused" for session in done.sessions for moved in session.moved)
    _exported(tmp_path / "once", demo_session())
    grown, once = _refs(tmp_path / "grown"), _refs(tmp_path / "once")
    assert {name: grown[name] for name in once if name != "refs/heads/sessions"} == {
        name: commit for name, commit in once.items() if name != "refs/heads/sessions"
    }
    trees = [git(tmp_path / name, "rev-parse", "sessions^{tree}") for name in ("grown", "once")]
    assert trees[0] == trees[1]
    _clean(tmp_path / "grown")


def test_exporting_twice_writes_nothing(tmp_path: Path):
    _exported(tmp_path / "review", demo_session())
    refs = _refs(tmp_path / "review")
    done = _exported(tmp_path / "review", demo_session())
    assert (done.objects, done.page) == (0, None)
    assert {moved.outcome for moved in done.sessions[0].moved} == {"same"}
    assert _refs(tmp_path / "review") == refs


def test_sessions_that_share_entries_share_commits(tmp_path: Path):
    whole = build_session("a-b-c-d")
    fork = header_line("fork") + b"".join(whole.splitlines(keepends=True)[1:4]) + message_line("eeeeeeee", "cccccccc")
    done = _exported(tmp_path / "review", whole, fork)
    first, second = (session.folder for session in done.sessions)
    base = git(tmp_path / "review", "merge-base", f"{first}/main", f"{second}/main").strip()
    assert "Pivcs-Entry: cccccccc" in git(tmp_path / "review", "log", "-1", "--format=%B", base)


def test_a_ref_that_somebody_moved_is_left_and_told(tmp_path: Path):
    place = tmp_path / "review"
    _exported(place, build_session("a-b"))
    (ref,) = [name for name in _refs(place) if name.endswith("/main")]
    git(place, "update-ref", ref, git(place, "rev-parse", "sessions").strip())
    moved = _refs(place)[ref]
    done = _exported(place, build_session("a-b-c"))
    assert [each.outcome for each in done.sessions[0].moved] == ["refused"]
    assert _refs(place)[ref] == moved
    done = _exported(place, build_session("a-b-c"), force=True)
    assert [each.outcome for each in done.sessions[0].moved] == ["moved"]


def test_a_label_moves_from_entry_to_entry(tmp_path: Path):
    place = tmp_path / "review"
    first = build_session("a-b-c", extra=[label_line("1abe0001", "cccccccc", "aaaaaaaa", "here")])
    _exported(place, first)
    done = _exported(place, first + label_line("1abe0002", "1abe0001", "bbbbbbbb", "here")
                     + label_line("1abe0003", "1abe0002", "aaaaaaaa", None))  # fmt: skip
    assert {moved.name.rpartition("/")[2]: moved.outcome for moved in done.sessions[0].moved}["here"] == "moved"


def test_what_entries_say_forges_no_trailer_and_breaks_out_of_no_fence(tmp_path: Path):
    evil = "Fine.\n\nPivcs-Node: 0000\nPivcs-Entry: fake\n\n  Pivcs-Base: x"
    fence = "```\n</details>\n````text\n\x1b[31m<script>alert(1)</script>\n# Forged heading"
    data = header_line() + message_line("aaaaaaaa", None, content=evil)
    data += message_line("bbbbbbbb", "aaaaaaaa", "assistant", fence)
    data += tool_result_line("cccccccc", "bbbbbbbb", "bash", fence + "\n" + "`" * 12)
    data += message_line("dddddddd", "cccccccc", "assistant", "Done.")
    done = _exported(tmp_path / "review", data)
    tip = f"{done.sessions[0].folder}/main"
    for revision, entry in ((f"{tip}~3", "aaaaaaaa"), (f"{tip}~2", "bbbbbbbb"), (f"{tip}~1", "cccccccc")):
        shown = git(tmp_path / "review", "log", "-1", "--format=%(trailers:key=Pivcs-Entry,valueonly)", revision)
        assert shown.split() == [entry]
        message = git(tmp_path / "review", "log", "-1", "--format=%B", revision)
        assert message.count("\nPivcs-Node:") == 1
        assert "\x1b" not in message
    page = _file(tmp_path / "review", f"{tip}~1", ".pivcs/turns/00/0001/00.md")
    assert "`" * 13 + "text" in page
    first = _file(tmp_path / "review", f"{tip}~2", ".pivcs/turns/00/0000/00.md")
    assert "\x1b" not in first
    outside = first.split("````text")[0]
    assert "<script>" not in outside


def test_hostile_paths_stand_apart_and_the_repository_stays_sound(tmp_path: Path):
    talk = Talk()
    paths = [".git/hooks/post-checkout", ".GIT/config", "a/../.git/x", "git~1", "../../etc/x", "/etc/y", "C:\\x",
             ".pivcs/turns/00/0000/00.md", "con", ".gitmodules", "ok/file.txt", "a" * 300,
             ".git::$INDEX_ALLOCATION"]  # fmt: skip
    for path in paths:
        talk.write(path, "x\n")
    talk.say("Done.")
    done = _exported(tmp_path / "review", talk.data)
    _clean(tmp_path / "review")
    tip = f"{done.sessions[0].folder}/main"
    names = git(tmp_path / "review", "ls-tree", "-r", "--name-only", "-z", tip).split("\0")
    assert [name for name in names if name and not name.startswith(".pivcs/")] == ["ok/file.txt"]
    git(tmp_path, "clone", "-q", "--branch", tip, str(tmp_path / "review"), str(tmp_path / "clone"))
    assert (tmp_path / "clone" / "ok" / "file.txt").read_text() == "x\n"


def test_long_turns_go_on_with_the_next_page(tmp_path: Path):
    names = "-".join(f"{number:08x}" for number in range(1, 121))
    kinds = {f"{number:08x}": "tool" for number in range(2, 121)}
    done = _exported(tmp_path / "review", build_session(names, kinds=kinds))
    tip = f"{done.sessions[0].folder}/main"
    pages = git(tmp_path / "review", "ls-tree", "-r", "--name-only", tip, ".pivcs/turns").splitlines()
    assert pages == [f".pivcs/turns/00/0000/0{part}.md" for part in range(3)]


def test_a_place_that_is_no_repository_is_refused(tmp_path: Path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(NotADestination, match="no git repository"):
        Destination.open(tmp_path / "full")


def test_a_repository_with_a_work_tree_keeps_what_is_checked_out(tmp_path: Path):
    place = tmp_path / "work"
    _exported(tmp_path / "review", build_session("a-b"))
    git(tmp_path, "clone", "-q", str(tmp_path / "review"), str(place))
    before = (place / "README.md").read_bytes()
    done = _exported(place, build_session("a-b-c-d"))
    assert done.page is not None
    assert done.page.outcome == "refused"
    assert git(place, "status", "--porcelain") == ""
    assert (place / "README.md").read_bytes() == before


def test_entries_of_any_kind_and_damage_are_exported(tmp_path: Path):
    from tests.golden.sessions import SESSIONS

    views: list[SessionView] = [view_of(data) for data in SESSIONS.values()]
    export(views, Destination.open(tmp_path / "review"))
    _clean(tmp_path / "review")


def test_an_edit_is_one_change_on_its_page(tmp_path: Path):
    talk = Talk()
    talk.prompt("Change it.")
    talk.edit("a.py", "x = 1\n```\n", "x = 2\ny = 3\n")
    talk.say("Done.")
    done = _exported(tmp_path / "review", talk.data)
    page = _file(tmp_path / "review", f"{done.sessions[0].folder}/main", ".pivcs/turns/00/0000/00.md")
    assert "change: 2 lines removed, 2 added" in page
    assert "````diff\n-x = 1\n-```\n+x = 2\n+y = 3\n````" in page
    assert "### edit: result" in page


def test_a_ref_that_somebody_else_has_set_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As another export at the same time: what it set alike is as it should be, anything else is left and told."""
    done = _exported(tmp_path / "other", build_session("a-b"))
    wanted = done.sessions[0].moved[0].new.hex()
    place = tmp_path / "review"
    name = done.sessions[0].moved[0].name
    for value, outcome, reason in ((wanted, "same", None), ("sessions", "refused", "moved")):
        destination = Destination.open(place)
        destination.refs()
        git(place, "fetch", "-q", str(tmp_path / "other"), "refs/heads/*:refs/heads/theirs/*")
        git(place, "update-ref", name, git(tmp_path / "other", "rev-parse", value).strip())
        (moved,) = export([view_of(build_session("a-b"))], destination).sessions[0].moved
        assert (moved.outcome, moved.reason) == (outcome, reason)
        git(place, "update-ref", "-d", name)


def test_alternates_that_no_directory_can_have_are_passed_over(tmp_path: Path):
    _exported(tmp_path / "review", build_session("a"))
    (tmp_path / "review" / "objects" / "info").mkdir(exist_ok=True)
    (tmp_path / "review" / "objects" / "info" / "alternates").write_bytes(b"/nonexistent\n\0\n")
    assert _exported(tmp_path / "review", build_session("a-b")).sessions[0].new == 1
