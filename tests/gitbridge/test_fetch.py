"""What a fetch brings, what it leaves alone, and what it remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.gitbridge.fetch import fetch
from pivcs.gitbridge.importing import Imported, ImportedNames
from pivcs.gitbridge.transport import TransportFailed
from pivcs.ops.access import view_of
from pivcs.ops.remote_names import names_of_others
from tests.builders import build_session, header_line, message_line
from tests.gitbridge.clones import Clone, shared, words
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.gitbridge.real_git import state_of
from tests.gitbridge.test_push import LONG, OTHER, SHORT, CountingGit, tag

pytestmark = [needs_git, pytest.mark.interop]


def outcomes(came: list[Imported | ImportedNames]) -> list[str]:
    return sorted(each.outcome for each in came)


def test_sessions_come_with_all_bytes_and_names(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.save("torn", build_session("a", header=header_line("torn")) + b'{"type":"mess')
    tag(a, "good")
    a.push()
    done, came = b.fetch()
    assert words(done) == ["new"] * 3
    assert outcomes(came) == ["new"] * 3
    assert b.kept() == a.kept()
    view = view_of(b.store, b.store.streams()[0])
    names = [name for stream in b.store.streams() for name, *_ in names_of_others(view_of(b.store, stream), set())]
    assert names == ["good"]
    assert view.where.startswith("git:")
    check(b.place)


def test_nothing_else_of_the_repository_changes(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    empty = git(hub, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    commit = git(hub, "commit-tree", empty, "-m", "x").decode().strip()
    for ref in ("refs/heads/main", "refs/tags/v1", "refs/notes/commits", "refs/pivcs/other"):
        git(hub, "update-ref", ref, commit)
    git(b.place, "remote", "add", "--mirror=fetch", "origin", str(hub))
    git(b.place, "config", "fetch.prune", "true")
    git(b.place, "config", "fetch.pruneTags", "true")
    git(b.place, "config", "core.logAllRefUpdates", "always")
    (b.place / "file").write_text("mine")
    git(b.place, "add", "file")
    git(b.place, "commit", "-q", "-m", "mine")
    git(b.place, "tag", "mine")
    before = _outside_of_sessions(b.place)
    b.fetch()
    assert _outside_of_sessions(b.place) == before
    assert [ref.split("/")[1] for ref in b.refs("refs/")] == ["heads", "pivcs-remotes", "tags"]


def _outside_of_sessions(place: Path) -> dict[str, object]:
    """Return what must not change: all but objects, the refs of sessions, and the directories that these are in."""
    mine = (".git/objects", ".git/refs/pivcs-remotes")
    return {name: state for name, state in state_of(place).items()
            if not name.startswith(mine) and name not in (".git/refs", ".git")}  # fmt: skip


def test_refs_that_are_gone_there_go_here(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    b.fetch()
    a.save("one", LONG)
    a.push()
    done, came = b.fetch()
    assert words(done) == ["new", "removed"]
    assert outcomes(came) == ["grown"]
    assert len(b.refs("refs/pivcs-remotes/")) == 1
    assert b.kept() == {LONG}


def test_only_what_is_new_is_read(tmp_path: Path, hub: Path) -> None:
    with Clone(tmp_path / "a", hub, 1) as a, Clone(tmp_path / "b", hub, 2) as b:
        for number in range(3):
            a.save(f"s{number}", build_session("a", header=header_line(f"s{number}")))
        a.push()
        b.git = counting = CountingGit()
        b.fetch()
        assert counting.asked == ["ls-remote", "fetch"]
        a.save("more", SHORT)
        a.push()
        _, came = b.fetch()
        assert [each.size for each in came if isinstance(each, Imported)] == [len(SHORT)]


def test_what_was_fetched_but_not_taken_is_taken_later(pair: tuple[Clone, Clone]) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    fetch(b.repository, b.remote, b.way)
    assert b.kept() == set()
    done, came = b.fetch()
    assert done.refs == ()
    assert outcomes(came) == ["new"]
    assert b.kept() == {SHORT}


def test_a_remote_of_its_own_has_its_own_place(pair: tuple[Clone, Clone], tmp_path: Path) -> None:
    a, b = pair
    a.save("one", LONG)
    a.push()
    b.fetch()
    second = new_repository(tmp_path / "second.git", "--bare")
    a.save("two", build_session("a", header=header_line("second")))
    a.hub, first = second, a.hub
    a.remote = a.remote._replace(name="backup", address=str(second), shown="backup")
    a.push()
    assert len(shared(second)) == 2
    assert len(shared(first)) == 1
    assert {name.split("/")[2] for name in a.refs("refs/pivcs-remotes/")} == {"origin", "backup"}


def test_the_same_session_continued_on_two_machines_has_both_ends(pair: tuple[Clone, Clone]) -> None:
    a, b = pair
    a.save("one", LONG)
    a.push()
    b.save("one", OTHER)
    b.fetch()
    b.push()
    a.fetch()
    for clone in (a, b):
        key = clone.store.session_keys()[0]
        views = [view_of(clone.store, stream) for stream in clone.store.streams_of_session(key)]
        assert len({view.key for view in views}) == 1
        assert clone.kept() == {LONG, OTHER}


def test_what_is_damaged_is_told_each_time_and_the_rest_taken(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.save("two", build_session("a", header=header_line("second")))
    a.push()
    first, second = sorted(shared(hub))
    git(hub, "update-ref", first, git(hub, "rev-parse", second).decode().strip())
    for expected in (["damaged", "new"], ["damaged"]):
        _, came = b.fetch()
        assert outcomes(came) == expected
    assert len(b.kept()) == 1


def test_a_remote_that_cannot_be_reached_changes_nothing(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    b.fetch()
    before = b.refs("refs/")
    hub.rename(hub.with_name("away"))
    with pytest.raises(TransportFailed):
        b.fetch()
    assert b.refs("refs/") == before


@pytest.mark.parametrize("options", [["--depth=1"], ["--filter=blob:none"], ["--depth=1", "--filter=tree:0"]])
def test_shallow_and_partial_clones_have_all_of_the_sessions(
    options: list[str], tmp_path: Path, hub: Path
) -> None:
    git(hub, "config", "uploadpack.allowFilter", "true")
    with Clone(tmp_path / "a", hub, 1) as a:
        (a.place / "f").write_text("1")
        for text in "ab":
            (a.place / "f").write_text(text)
            git(a.place, "add", "f")
            git(a.place, "commit", "-q", "-m", text)
        git(a.place, "push", "-q", str(hub), "HEAD:refs/heads/main")
        a.save("one", LONG)
        a.push()
        (tmp_path / "b").mkdir()
        git(tmp_path, "clone", "-q", *options, f"file://{hub}", "b/project")
        with Clone(tmp_path / "b", hub, 2) as b:
            b.remote = b.remote._replace(address=f"file://{hub}")
            b.fetch()
            assert b.kept() == {LONG}
            b.save("one", OTHER)
            b.save("own", build_session("a", header=header_line("own")))
            assert "new" in words(b.push())
            a.fetch()
            assert a.kept() == b.kept()
            b.save("one", OTHER + message_line("eeeeeeee", "dddddddd"))
            assert words(b.push()) == ["new", "removed"]
        check(hub)
