"""Pushes and fetches that run at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Timer

import pytest

from pivcs.gitbridge import refs_update, transport_git
from pivcs.gitbridge.archive import archive
from pivcs.gitbridge.fetch import Fetched, fetch
from pivcs.gitbridge.push import Push, push
from pivcs.gitbridge.refs_update import RefOutcome, RefsNotWritten, RefUpdate
from pivcs.gitbridge.transport import Transport
from pivcs.ops.access import view_of
from tests.builders import build_session, header_line
from tests.gitbridge.clones import Clone, shared, words
from tests.gitbridge.git import check, git, needs_git
from tests.gitbridge.test_push import LONG, SHORT

pytestmark = [needs_git, pytest.mark.interop]

COUNT = 12


class Interrupted:
    """A way to another repository on which something happens before refs are sent or fetched, and after refusals."""

    def __init__(
        self, way: Transport, before: Callable[[], object], after: Callable[[], object] = lambda: None
    ) -> None:
        self._way = way
        self._before: Callable[[], object] | None = before
        self._after = after
        self.pushes = 0

    def refs(self) -> dict[str, bytes]:
        return self._way.refs()

    def fetch(self, wanted: Mapping[str, str]) -> None:
        if wanted:
            self._meanwhile()
        self._way.fetch(wanted)

    def push(self, updates: Sequence[RefUpdate]) -> list[RefOutcome]:
        self.pushes += 1
        self._meanwhile()
        done = self._way.push(updates)
        if any(each.outcome == "refused" for each in done):
            self._after()
        return done

    def _meanwhile(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            before()


def save_many(clone: Clone) -> None:
    for number in range(COUNT):
        clone.save(f"s{number}", build_session("a-b", header=header_line(f"s{number}")))


def put_there(clone: Clone) -> None:
    archive([view_of(clone.store, stream) for stream in clone.store.streams()], clone.repository, clone.id)


def push_by(clone: Clone, way: Transport) -> Push:
    return push(clone.repository, clone.remote, way, clone.id)


def at_once(*jobs: Callable[[], object]) -> list[object]:
    """Run functions in threads that all start together; returns what they return."""
    start = Barrier(len(jobs))

    def run(job: Callable[[], object]) -> object:
        start.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [each.result() for each in [pool.submit(run, job) for job in jobs]]


def test_what_another_push_has_sent_meanwhile_is_known(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    save_many(a)
    save_many(b)
    put_there(b)
    done = push_by(b, Interrupted(b.way, a.push))
    assert not done.refused
    assert shared(hub) == a.refs() == b.refs()
    assert len(b.refs("refs/pivcs-remotes/")) == COUNT
    assert push_by(b, b.way).refs == ()


def test_what_another_push_has_removed_meanwhile_is_no_refusal(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    a.save("one", LONG)
    b.save("one", LONG)
    put_there(b)
    done = push_by(b, Interrupted(b.way, a.push))
    assert not done.refused
    assert shared(hub) == b.refs()


def test_what_was_moved_to_something_else_meanwhile_is_told_with_what_it_is(
    pair: tuple[Clone, Clone], hub: Path
) -> None:
    a, _ = pair
    a.save("one", SHORT)
    put_there(a)
    (name,) = a.refs()
    empty = git(hub, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    other = git(hub, "commit-tree", empty, "-m", "x").decode().strip()
    way = Interrupted(a.way, lambda: git(hub, "update-ref", name, other))
    done = push_by(a, way)
    assert [(ref.outcome, ref.old) for ref in done.refs] == [("refused", bytes.fromhex(other))]
    assert done.refused
    assert way.pushes == 1
    assert shared(hub)[name].hex() == other


def test_a_ref_that_another_push_holds_is_sent_again(tmp_path: Path, hub: Path) -> None:
    with Clone(tmp_path / "a", hub) as a:
        save_many(a)
        put_there(a)
        lock = hub / f"{sorted(a.refs())[3]}.lock"
        lock.parent.mkdir(parents=True)
        way = Interrupted(a.way, lock.touch, lambda: lock.unlink(missing_ok=True))
        done = push_by(a, way)
        assert words(done) == ["new"] * COUNT
        assert way.pushes == 2
        assert shared(hub) == a.refs()


def test_pushes_at_once_all_succeed(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    for clone in (a, b):
        save_many(clone)
        put_there(clone)
    done = at_once(*(lambda clone=clone: push_by(clone, clone.way) for clone in (a, b, a, b)))
    assert not any(isinstance(each, Push) and each.refused for each in done)
    assert shared(hub) == a.refs()
    check(hub)


def test_fetches_at_once_all_succeed(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    save_many(a)
    a.push()
    done = at_once(*[lambda: fetch(b.repository, b.remote, b.way)] * 4)
    assert all(isinstance(each, Fetched) and each.damaged == () for each in done)
    assert list(b.refs("refs/pivcs-remotes/").values()) == list(shared(hub).values())
    b.fetch()
    assert b.kept() == a.kept()
    check(b.place)


def test_a_push_and_a_fetch_at_once_both_succeed(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    a.save("one", LONG)
    save_many(a)
    put_there(a)
    sent, come = at_once(lambda: push_by(a, a.way), lambda: fetch(b.repository, b.remote, b.way))
    assert isinstance(sent, Push)
    assert not sent.refused
    assert isinstance(come, Fetched)
    assert come.damaged == ()
    b.fetch()
    assert b.kept() == a.kept()
    check(b.place)


def test_a_stream_that_is_replaced_while_it_is_fetched_comes_as_what_it_has_become(
    pair: tuple[Clone, Clone], hub: Path
) -> None:
    a, b = pair
    a.save("one", SHORT)
    a.push()
    a.save("one", LONG)
    done = fetch(b.repository, b.remote, Interrupted(b.way, a.push))
    assert (words(done), done.damaged) == (["new"], ())
    assert list(b.refs("refs/pivcs-remotes/").values()) == list(shared(hub).values())
    b.fetch()
    assert b.kept() == {LONG}


def test_a_ref_that_another_fetch_holds_is_waited_for(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    save_many(a)
    a.push()
    lock = b.place / ".git" / f"refs/pivcs-remotes/origin/{sorted(shared(hub))[3].removeprefix('refs/pivcs/')}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    release = Timer(0.7, lock.unlink)
    release.start()
    done, _ = b.fetch()
    release.join()
    assert (words(done), done.damaged) == (["new"] * COUNT, ())


def test_a_lock_that_stays_is_no_damage(
    pair: tuple[Clone, Clone], hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    save_many(a)
    a.push()
    for module in (refs_update, transport_git):
        monkeypatch.setattr(module, "_WAITS", 2)
    held = f"refs/pivcs-remotes/origin/{sorted(shared(hub))[3].removeprefix('refs/pivcs/')}"
    lock = b.place / ".git" / f"{held}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(RefsNotWritten, match=held):
        b.fetch()
    lock.unlink()
    b.fetch()
    assert b.kept() == a.kept()
