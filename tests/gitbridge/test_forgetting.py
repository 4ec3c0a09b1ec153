"""What is forgotten goes from the refs of a repository, and cannot come back by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.gitbridge.forgetting import RefsPlan, forget_refs, plan_refs
from pivcs.gitbridge.forgotten_refs import place_of
from pivcs.gitbridge.refs_update import read_refs
from pivcs.gitbridge.repository import find_repository
from pivcs.ops.access import view_of
from pivcs.ops.covering import CannotForget
from pivcs.ops.forget import finish, forget, plan_forget, remember
from pivcs.ops.forget_session import forget_session, plan_session
from pivcs.ops.fsck import fsck
from pivcs.ops.masking import Guard
from pivcs.store.store import Store
from tests.builders import CLOCK, header_line, message_line
from tests.gitbridge.archives import Machine
from tests.gitbridge.clones import Clone, shared
from tests.gitbridge.git import check, needs_git, new_repository
from tests.gitbridge.git import git as run
from tests.ops.syncing import session_bytes, share
from tests.ops.test_forget import SECRET, errors, with_secret

pytestmark = needs_git


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Machine]:
    with Machine(tmp_path / "here") as machine:
        machine.save("s", with_secret())
        yield machine


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "project")


def forget_entry(store: Store, place: Path) -> RefsPlan:
    """Forget the entry with the secret in a store and a repository."""
    view = view_of(store, store.streams()[0])
    plan = plan_forget(view, 2)
    guard = Guard(plan.records)
    refs = plan_refs(find_repository(str(place)), guard, None, holding=plan.sessions)
    forget(view, plan, 2, CLOCK)
    assert not [each for each in forget_refs(refs, guard) if each.outcome == "refused"]
    finish(store)
    return refs


def has_secret(place: Path) -> bool:
    """Whether any object that git has, reached or not, has the secret."""
    return SECRET.encode() in run(place, "cat-file", "--batch", "--batch-all-objects")


def test_stream_is_written_anew_and_gc_removes_the_old_one(here: Machine, place: Path) -> None:
    here.archive(place)
    old = set(read_refs(find_repository(str(place)), "refs/pivcs/"))
    plan = forget_entry(here.store, place)
    new = set(read_refs(find_repository(str(place)), "refs/pivcs/"))
    assert [ref.name for ref in plan.covered] == sorted(old)
    assert len(new) == 1
    assert not new & old
    check(place)
    assert has_secret(place)
    run(place, "gc", "-q", "--prune=now")
    assert not has_secret(place)
    done = here.archive(place)
    assert done.objects == 0
    assert set(read_refs(find_repository(str(place)), "refs/pivcs/")) == new


def test_other_machine_gets_the_same_ids_and_knows_what_was_forgotten(
    here: Machine, place: Path, tmp_path: Path
) -> None:
    ids = here.store.table_of(here.store.streams()[0]).oid
    here.archive(place)
    forget_entry(here.store, place)
    with Machine(tmp_path / "there", 2) as there:
        assert [each.outcome for each in there.take(place)] == ["new"]
        (stream,) = there.store.streams()
        assert there.store.table_of(stream).oid == ids
        assert errors(there.store) == []
        assert there.store.table_of(stream).forgotten_rows() == [2]


@share(0.1)
@given(session_bytes(), st.data())
def test_any_session_with_a_forgotten_entry_is_archived_and_imported_with_the_same_ids(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, draw: st.DataObject
) -> None:
    directory = tmp_path_factory.mktemp("any")
    place = new_repository(directory / "project")
    with Machine(directory / "here") as here, Machine(directory / "there", 2) as there:
        here.save("s", data)
        (stream,) = here.store.streams()
        view = view_of(here.store, stream)
        nodes = list(view.table.nodes())
        assume(nodes and view.key is not None)
        row = draw.draw(st.sampled_from(nodes))
        try:
            plan = plan_forget(view, row)
        except CannotForget:
            return
        here.archive(place)
        guard = Guard(plan.records)
        refs = plan_refs(find_repository(str(place)), guard, None, holding=plan.sessions)
        forget(view, plan, row, CLOCK)
        assert {each.outcome for each in forget_refs(refs, guard)} <= {"new", "removed"}
        assert here.archive(place).objects == 0
        assert [each.outcome for each in there.take(place)] == ["new"]
        (taken,) = there.store.streams()
        assert there.store.table_of(taken).oid == view.table.oid
        assert row in there.store.table_of(taken).forgotten_rows()
        assert {each.id for each in fsck(there.store)} >= {"entry-forgotten"}
        assert errors(there.store) == errors(here.store)


def test_fetched_refs_are_covered_too(here: Machine, place: Path) -> None:
    here.archive(place)
    for name, commit in read_refs(find_repository(str(place)), "refs/pivcs/").items():
        run(place, "update-ref", name.replace("refs/pivcs/", "refs/pivcs-remotes/origin/"), commit.hex())
    forget_entry(here.store, place)
    run(place, "gc", "-q", "--prune=now")
    assert not has_secret(place)
    assert len(read_refs(find_repository(str(place)), "refs/pivcs-remotes/")) == 1


def test_import_of_what_others_still_have_is_covered(here: Machine, place: Path, tmp_path: Path) -> None:
    with Machine(tmp_path / "there", 2) as there:
        there.save("s", with_secret())
        there.archive(place)
    view = view_of(here.store, here.store.streams()[0])
    forget(view, plan_forget(view, 2), 2, CLOCK)
    assert [each.outcome for each in here.take(place)] == ["known"]
    assert len(here.store.streams()) == 1
    assert errors(here.store) == []


def test_grown_stream_of_others_is_taken_in_without_it(here: Machine, place: Path, tmp_path: Path) -> None:
    grown = with_secret() + message_line("dddddddd", "cccccccc", "user", "More.", ms=CLOCK + 9)
    with Machine(tmp_path / "there", 2) as there:
        there.save("s", grown)
        there.archive(place)
    view = view_of(here.store, here.store.streams()[0])
    forget(view, plan_forget(view, 2), 2, CLOCK)
    assert [each.outcome for each in here.take(place)] == ["new"]
    assert all(SECRET.encode() not in data for data in here.kept())
    assert [each.outcome for each in here.take(place)] == ["known"]


def test_refs_of_a_forgotten_session_go_and_are_not_imported(here: Machine, place: Path, tmp_path: Path) -> None:
    here.save("other", with_secret().replace(header_line(), header_line("019b7715-9000-7000-8000-0000000000ff")))
    here.archive(place)
    copy = tmp_path / "copy"
    run(tmp_path, "clone", "-q", "--mirror", str(place), str(copy))
    session = plan_session(view_of(here.store, here.store.streams()[0]))
    repository = find_repository(str(place))
    refs = plan_refs(repository, Guard(), None, sessions=[session.key])
    forget_session(here.store, session, CLOCK)
    assert {each.outcome for each in forget_refs(refs, Guard())} == {"removed"}
    left = read_refs(repository, "refs/pivcs/")
    assert left
    assert not [name for name in left if session.key.hex() in name]
    assert [each.outcome for each in here.take(copy, [session.key.hex()])] == ["forgotten"]
    assert session.key not in here.store.session_keys()


def test_remotes_and_review_commits_are_told(here: Machine, place: Path) -> None:
    run(place, "remote", "add", "origin", "https://me:secret@git.example.org/p.git")
    here.archive(place)
    (key,) = here.store.session_keys()
    commit = next(iter(read_refs(find_repository(str(place)), "refs/pivcs/").values()))
    run(place, "update-ref", f"refs/heads/2026-01-01-{key.hex()[:8]}/main", commit.hex())
    run(place, "update-ref", f"refs/pivcs/{key.hex()}/review/heads/main", commit.hex())
    plan = forget_entry(here.store, place)
    assert [(remote.name, remote.address) for remote in plan.remotes] == [("origin", "https://git.example.org/p.git")]
    assert plan.review == (f"refs/heads/2026-01-01-{key.hex()[:8]}/main",)
    assert not [name for name in read_refs(find_repository(str(place)), "refs/pivcs/") if "/review/" in name]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Clone, Clone]]:
    hub = new_repository(tmp_path / "hub.git", "--bare")
    with Clone(tmp_path / "a", hub, 1) as a, Clone(tmp_path / "b", hub, 2) as b:
        for each in (a, b):
            run(each.place, "remote", "add", "origin", str(hub))
        yield a, b


def forget_there(machine: Clone) -> RefsPlan:
    """Forget the entry with the secret as the command does."""
    view = view_of(machine.store, machine.store.streams()[0])
    plan = plan_forget(view, 2)
    guard = Guard(plan.records)
    known = machine.store.forgotten.refs(place_of(machine.repository))
    keys = {view.key.digest} if view.key is not None else set()
    refs = plan_refs(machine.repository, guard, None, holding=keys, known=known)
    forget(view, plan, 2, CLOCK)
    forget_refs(refs, guard, machine.store)
    finish(machine.store)
    return refs


def test_refs_that_a_remote_has_are_told_until_they_are_deleted(pair: tuple[Clone, Clone]) -> None:
    a, _ = pair
    a.save("s", with_secret())
    a.push()
    (old,) = shared(a.hub)
    for _ in range(2):  # said again, too
        (remote,) = forget_there(a).remotes
        assert (remote.name, remote.refs) == ("origin", (old,))
    assert a.push().forgotten == (old,)
    assert len(shared(a.hub)) == 2
    run(a.place, "push", "-q", "origin", "--delete", old)
    assert a.push().forgotten == ()
    assert forget_there(a).remotes[0].refs == ()


def test_known_stream_is_not_fetched_again_and_gc_removes_the_old_one(pair: tuple[Clone, Clone]) -> None:
    a, _ = pair
    a.save("s", with_secret())
    a.push()
    (old,) = shared(a.hub)
    forget_there(a)
    for _ in range(2):
        done, _ = a.fetch()
        assert old not in [ref.name for ref in done.refs]
        assert old.rpartition("/")[2] not in " ".join(a.refs("refs/"))
        a.push()
    run(a.place, "gc", "-q", "--prune=now")
    assert not has_secret(a.place)


def test_stream_of_another_machine_with_more_in_it_is_taken_in_and_its_ref_dropped(pair: tuple[Clone, Clone]) -> None:
    a, b = pair
    a.save("s", with_secret())
    a.push()
    b.fetch()
    forget_there(a)
    b.save("s", with_secret() + message_line("dddddddd", "cccccccc", "user", "And more."))
    b.push()
    new = [name for name in shared(a.hub) if name not in a.refs("refs/pivcs-remotes/")]
    for _ in range(2):
        a.fetch()
        held = [name for _, name in a.store.forgotten.refs(place_of(a.repository))]
        assert held
        assert set(held) <= set(new)
        assert not [name for name in a.refs("refs/") if name.rpartition("/")[2] in {each[-16:] for each in held}]
    assert any(b"And more." in data for data in a.kept())
    assert all(SECRET.encode() not in data for data in a.kept())
    run(a.place, "gc", "-q", "--prune=now")
    assert not has_secret(a.place)


def test_archived_stream_that_another_clone_still_has_is_not_sent(pair: tuple[Clone, Clone], tmp_path: Path) -> None:
    a, _ = pair
    a.save("s", with_secret())
    a.archive(a.place)
    (old,) = a.refs()
    other = new_repository(tmp_path / "elsewhere")
    a.archive(other)
    forget_entry(a.store, other)
    done = a.push()
    assert done.kept == (old,)
    assert old not in shared(a.hub)
    assert len(shared(a.hub)) == 1


def test_nothing_of_a_forgotten_session_is_fetched(pair: tuple[Clone, Clone]) -> None:
    a, _ = pair
    a.save("s", with_secret())
    a.push()
    session = plan_session(view_of(a.store, a.store.streams()[0]))
    refs = plan_refs(a.repository, Guard(), None, sessions=[session.key])
    assert refs.remotes[0].refs == tuple(shared(a.hub))
    forget_session(a.store, session, CLOCK)
    forget_refs(refs, Guard(), a.store)
    assert a.fetch()[1] == []
    assert a.refs("refs/") == {}
    assert [name for _, name in a.store.forgotten.refs(place_of(a.repository))] == list(shared(a.hub))


def test_remembered_entry_is_fetched_again(pair: tuple[Clone, Clone]) -> None:
    a, _ = pair
    a.save("s", with_secret())
    a.push()
    (old,) = shared(a.hub)
    forget_there(a)
    a.fetch()
    remember(a.store, a.store.forgotten.records()[0].oid.hex())
    a.fetch()
    assert old.replace("refs/pivcs/", a.remote.prefix) in a.refs("refs/")
