"""What a push sends, what it takes away at the other side, and what it leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.ref_names import names_ref, stream_ref
from pivcs.gitbridge.refs_update import RefUpdate, update_refs
from pivcs.gitbridge.repository import find_repository
from pivcs.gitbridge.streams import write_stream
from pivcs.gitbridge.transport import TransportFailed
from pivcs.ops.access import view_of
from pivcs.ops.operations import set_tag
from tests.builders import CLOCK, build_session, header_line, message_line
from tests.gitbridge.clones import Clone, shared, words
from tests.gitbridge.git import check, git, needs_git

pytestmark = [needs_git, pytest.mark.interop]

SHORT = build_session("a-b")
LONG = SHORT + message_line("cccccccc", "bbbbbbbb")
OTHER = SHORT + message_line("dddddddd", "bbbbbbbb")
"""Two continuations of one session."""


class CountingGit(Git):
    """The git program, and what it was asked."""

    def __init__(self) -> None:
        found = Git.find(os.environ)
        super().__init__(found.program, os.environ)
        self.asked: list[str] = []

    def run(self, *arguments: object, **options: object) -> bytes:
        self.asked.append(str(arguments[0]))
        return super().run(*arguments, **options)  # type: ignore[arg-type]


def test_everything_is_sent_once(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, _ = pair
    a.save("one", SHORT)
    a.save("two", build_session("a-b", header=header_line("second")))
    done = a.push()
    assert words(done) == ["new", "new"]
    assert (done.sessions, done.bytes) == (2, sum(map(len, a.kept())))
    assert shared(hub) == a.refs()
    check(hub)
    again = a.push()
    assert (again.refs, again.sessions, again.bytes) == ((), 0, 0)


def test_nothing_new_asks_for_the_refs_and_no_more(tmp_path: Path, hub: Path) -> None:
    with Clone(tmp_path / "a", hub) as a:
        a.save("one", SHORT)
        a.push()
        a.git = counting = CountingGit()
        a.push()
        assert counting.asked == ["ls-remote"]
        a.fetch()
        assert counting.asked == ["ls-remote"] * 2


def test_a_grown_session_takes_the_place_of_what_it_was(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, _ = pair
    a.save("one", SHORT)
    a.push()
    a.save("one", LONG)
    assert words(a.push()) == ["new", "removed"]
    assert shared(hub) == a.refs()
    assert list(a.refs("refs/pivcs-remotes/").values()) == list(a.refs().values())
    check(hub)


def test_a_session_that_was_continued_elsewhere_takes_the_place_of_what_it_was(
    pair: tuple[Clone, Clone], hub: Path
) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    b.fetch()
    b.save("one", LONG)
    assert words(b.push()) == ["new", "removed"]
    assert words(a.push()) == ["beginning"]
    assert shared(hub) == b.refs()
    a.fetch()
    assert a.kept() == b.kept() == {LONG}
    assert a.push().refs == ()
    assert a.refs() == b.refs() == shared(hub)


def test_two_continuations_stay_beside_each_other(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", LONG)
    b.save("one", OTHER)
    assert words(a.push()) == ["new"]
    assert words(b.push()) == ["new"]
    assert len(shared(hub)) == 2
    a.fetch()
    b.fetch()
    assert a.kept() == b.kept() == {LONG, OTHER}
    assert a.push().refs == b.push().refs == ()


def test_streams_of_others_are_never_touched(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.save("two", build_session("a", header=header_line("second")))
    a.push()
    before = shared(hub)
    b.save("three", build_session("a", header=header_line("third")))
    b.push()
    assert before.items() < shared(hub).items()


def test_a_longer_stream_that_is_not_whole_takes_no_place(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", LONG)
    a.push()
    (name,) = shared(hub)
    blob = git(hub, "hash-object", "-w", "--stdin", stdin=LONG[:-2] + b"!\n").decode().strip()
    forged = _with_part(hub, name, blob)
    git(hub, "update-ref", name, forged)
    b.save("one", SHORT)
    assert words(b.push()) == ["new"]
    assert len(shared(hub)) == 2


def _with_part(hub: Path, name: str, blob: str) -> str:
    """Make a commit like the one that a ref names, with other bytes as its first part."""
    part = git(hub, "mktree", stdin=f"100644 blob {blob}\t00.jsonl\n".encode()).decode().strip()
    parts = git(hub, "mktree", stdin=f"040000 tree {part}\t00\n".encode()).decode().strip()
    top = git(hub, "ls-tree", name).decode().splitlines()
    lines = [line if not line.endswith("\t00") else f"040000 tree {parts}\t00" for line in top]
    tree = git(hub, "mktree", stdin="\n".join([*lines, ""]).encode()).decode().strip()
    return git(hub, "commit-tree", tree, "-m", "x").decode().strip()


def test_a_stream_that_somebody_changed_is_left_unless_forced(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, _ = pair
    a.save("one", SHORT)
    a.push()
    (name,) = shared(hub)
    empty = git(hub, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    other = git(hub, "commit-tree", empty, "-m", "x").decode().strip()
    git(hub, "update-ref", name, other)
    done = a.push()
    assert done.refused
    assert [(ref.outcome, ref.old) for ref in done.refs] == [("refused", bytes.fromhex(other))]
    assert shared(hub)[name].hex() == other
    assert words(a.push(force=True)) == ["moved"]
    assert shared(hub) == a.refs()


def test_names_of_ones_own_are_replaced_and_those_of_others_only_added(
    pair: tuple[Clone, Clone], hub: Path
) -> None:
    a, b = pair
    a.save("one", SHORT)
    tag(a, "first")
    assert words(a.push()) == ["new", "new"]
    (key,) = a.store.session_keys()
    own, foreign = names_ref(key, a.id), names_ref(key, b.id)
    before = shared(hub)[own]
    tag(a, "second")
    assert words(a.push()) == ["moved"]
    assert shared(hub)[own] != before
    update_refs(a.repository, [RefUpdate(foreign, None, before)])
    assert words(a.push()) == ["new"]
    update_refs(a.repository, [RefUpdate(foreign, before, shared(hub)[own])])
    assert a.push().refs == ()
    assert shared(hub)[foreign] == before


def tag(clone: Clone, name: str) -> None:
    """Give the first entry of the only session a name."""
    view = view_of(clone.store, clone.store.streams()[0])
    clone.tags += 1
    set_tag(view, name, view.table.object_id(1), force=False, now=CLOCK + clone.tags, command="tag")


def test_a_push_that_is_killed_before_the_refs_is_completed_by_the_next(tmp_path: Path, hub: Path) -> None:
    hook = hub / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nkill -9 $PPID\n")
    hook.chmod(0o755)
    with Clone(tmp_path / "a", hub) as a:
        a.save("one", SHORT)
        with pytest.raises(TransportFailed):
            a.push()
        assert shared(hub) == {}
        check(hub)
        hook.unlink()
        assert words(a.push()) == ["new"]
        assert shared(hub) == a.refs()
        check(hub)


def test_objects_that_came_without_their_refs_do_no_harm(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, _ = pair
    a.save("one", SHORT)
    with PackWriter(find_repository(str(hub)).common_dir / "objects") as writer:
        written = write_stream(view_of(a.store, a.store.streams()[0]), writer)
        writer.finish()
        writer.release()
    assert written is not None
    assert words(a.push()) == ["new"]
    assert shared(hub) == {written.ref: written.commit}
    check(hub)


def test_refs_that_are_no_streams_are_not_sent(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, _ = pair
    a.save("one", SHORT)
    a.push()
    (commit,) = a.refs().values()
    update_refs(a.repository, [RefUpdate("refs/pivcs/note", None, commit), RefUpdate("refs/heads/x", None, commit)])
    assert a.push().refs == ()
    assert len(shared(hub)) == 1
    assert stream_ref(a.store.session_keys()[0], b"\0" * 32) not in shared(hub)
