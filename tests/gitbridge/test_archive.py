"""Sessions in a project's own repository, and back from any copy of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from pivcs.errors import DataError
from pivcs.gitbridge.importing import Imported, ImportedNames, NoStreams, import_to_files, opened_archive
from pivcs.gitbridge.repository import find_repository
from pivcs.ops.access import view_of
from pivcs.ops.operations import create_branch, set_tag
from pivcs.session.wholefile import SessionFileExists
from tests.builders import CLOCK, build_session, header_line
from tests.gitbridge.archives import Machine, outcomes
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.gitbridge.real_git import Project, state_of

pytestmark = needs_git

SHORT = build_session("a-b")
LONG = build_session("a-b-c, b-d")
OTHER = build_session("a", header=header_line("other"))
ODD = header_line("odd") + b'{"type":"message"}{"glued":1}\r\n\0\0\n\xff\xfe\rmixed\r\n{"torn": '


def refs(repository: Path) -> list[str]:
    return git(repository, "for-each-ref", "--format=%(refname)", "refs/pivcs/").decode().split()


def test_every_byte_comes_back_from_a_clone_that_converts_line_ends(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    sessions = {SHORT, OTHER, ODD}
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        for number, data in enumerate(sessions):
            here.save(str(number), data)
        assert outcomes(here.archive(place)) == ["new"] * 3
        check(place)
        git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", "-c", "remote.origin.fetch=+refs/pivcs/*:refs/pivcs/*",
            str(place), "clone")  # fmt: skip
        there.take(tmp_path / "clone")
        assert there.kept() == sessions
        with opened_archive(find_repository(str(tmp_path / "clone")), ()) as found:
            written = [each for each in import_to_files(found, tmp_path / "files") if isinstance(each, Imported)]
        assert {each.path.read_bytes() for each in written if each.path is not None} == sessions


def test_session_that_has_grown_replaces_what_it_was(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here:
        here.save("s", LONG[:-9])
        here.archive(place)
        (before,) = refs(place)
        here.save("s", LONG)
        assert outcomes(here.archive(place)) == ["new", "removed"]
        assert outcomes(here.archive(place)) == []
        (after,) = refs(place)
        assert before != after
        check(place)


def test_older_generations_go_along(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    rewritten = build_session("a-x")
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        here.save("s", LONG)
        here.save("s", rewritten)
        assert outcomes(here.archive(place)) == ["new", "new"]
        there.take(place)
        assert there.kept() == {LONG, rewritten}


def test_importing_twice_and_in_any_order_gives_the_same(tmp_path: Path) -> None:
    streams = [SHORT, LONG, build_session("a-b-e"), build_session("a-b-e-f"), OTHER]
    places = []
    for number, data in enumerate(streams):
        place = new_repository(tmp_path / f"place{number}")
        with Machine(tmp_path / f"machine{number}") as one:
            one.save("s", data)
            one.archive(place)
        places.append(place)
    expected = {LONG, build_session("a-b-e-f"), OTHER}
    for seed in range(6):
        order = places * 2
        Random(seed).shuffle(order)
        with Machine(tmp_path / f"into{seed}", 9) as there:
            for place in order:
                there.take(place)
            assert there.kept() == expected
            assert len(there.store.sources()) == len(expected)
            again = [each for place in places for each in there.take(place)]
            assert {each.outcome for each in again} == {"known"}


def test_two_machines_end_with_the_union(tmp_path: Path) -> None:
    place, far = new_repository(tmp_path / "place"), new_repository(tmp_path / "far.git", "--bare")
    mine, theirs = SHORT + build_session("a-b-c")[len(SHORT) :], SHORT + build_session("a-b-d")[len(SHORT) :]
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        for machine in (here, there):
            machine.save("shared", SHORT)
        here.archive(place)
        git(place, "push", "-q", str(far), "refs/pivcs/*:refs/pivcs/*")
        here.save("shared", mine)
        there.save("shared", theirs)
        there.save("own", OTHER)
        for _ in range(2):
            here.take(far)
            here.archive(far)
            there.archive(far)
            there.take(far)
        assert here.kept() | {OTHER} == there.kept() == {mine, theirs, OTHER}
        here.take(far)
        assert here.kept() == there.kept()
        assert len(refs(far)) == 3
        check(far)


def test_session_file_that_goes_on_with_what_was_imported_continues_it(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        here.save("s", SHORT)
        here.archive(place)
        there.take(place)
        there.save("s", LONG)
        (source,) = there.store.sources()
        assert source.is_file
        assert {each.outcome for each in there.take(place)} == {"known"}


def test_names_are_kept_for_each_store_and_bare_while_they_agree(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a", 1) as one, Machine(tmp_path / "b", 2) as two, Machine(tmp_path / "c", 3) as three:
        for machine, row in ((one, 1), (two, 2)):
            machine.save("s", LONG)
            view = view_of(machine.store, machine.store.streams()[0])
            create_branch(view, "try", row, force=False, now=CLOCK, command="branch")
            set_tag(view, "agreed", view.table.object_id(1), force=False, now=CLOCK, command="tag")
            machine.archive(place)
        assert len(refs(place)) == 3
        done = three.take(place)
        assert [each.names for each in done if isinstance(each, ImportedNames)] == [2, 2]
        named = {each.name: each.row for each in view_of(three.store, three.store.streams()[0]).refs.elsewhere}
        assert named == {"agreed": 1, "01010101/try": 1, "02020202/try": 2}
        assert {each.outcome for each in three.take(place)} == {"known"}
        assert {each.outcome for each in one.take(place)} == {"known", "new"}  # of the other store
        named = {each.name: each.row for each in view_of(one.store, one.store.streams()[0]).refs.elsewhere}
        assert named == {"02020202/agreed": 1, "02020202/try": 2}


def test_ref_that_somebody_moved_is_left_and_told(tmp_path: Path) -> None:
    project = Project(new_repository(tmp_path / "place"))
    commit = project.commit({"a": "b"})
    with Machine(tmp_path / "a") as here:
        here.save("s", SHORT)
        here.archive(project.root)
        (name,) = refs(project.root)
        project.git("update-ref", name, commit)
        done = here.archive(project.root)
        assert outcomes(done) == ["refused"]
        assert done.sessions[0].damaged
        assert project.git("rev-parse", name) == commit
        assert outcomes(here.archive(project.root, force=True)) == ["moved"]
        check(project.root)


@pytest.mark.parametrize("kind", ["plain", "worktree", "bare", "packed refs", "alternates"])
def test_nothing_else_of_a_repository_changes(kind: str, tmp_path: Path, decoy: Project) -> None:
    project = Project(tmp_path / "project")
    project.root.mkdir()
    project.git("init", "-q", *(["--bare"] if kind == "bare" else []))
    if kind != "bare":
        project.commit({"a.txt": "one\r\n"})
        project.write({"a.txt": "changed", "new.txt": "x"})
    project.git("config", "core.logAllRefUpdates", "always")
    project.git("config", "commit.gpgsign", "true")
    place = project.root
    if kind == "worktree":
        place = tmp_path / "linked"
        project.git("worktree", "add", "-q", str(place))
    if kind == "packed refs":
        project.git("pack-refs", "--all")
    if kind == "alternates":
        project.git("clone", "-q", "--shared", ".", str(tmp_path / "borrower"))
        place = tmp_path / "borrower"
    others = [decoy.root, project.root, *([place] if place != project.root else [])]
    before = [state_of(root) for root in others]
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        here.save("s", LONG)
        assert outcomes(here.archive(place)) == ["new"]
        there.take(place)
        assert there.kept() == {LONG}
    for root, state in zip(others, before, strict=True):
        after = state_of(root)
        changed = {path for path in {*state, *after} if path not in state or state[path][2] != after[path][2]}
        assert all("objects/pack/" in path or "refs/pivcs" in path for path in changed), changed
        assert root != decoy.root or not changed
    check(place)


def test_gc_in_a_loop_takes_nothing_away(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    packing = "while :; do git -c gc.writeCommitGraph=false gc -q; git repack -adq; git pack-refs --all; done"
    loop = subprocess.Popen(["/bin/sh", "-c", packing], cwd=place, stderr=subprocess.DEVNULL)
    try:
        with Machine(tmp_path / "a") as here:
            for count in range(2, 14):
                here.save("s", build_session("-".join("abcdefghijklmnop"[:count])))
                assert "refused" not in outcomes(here.archive(place))
            expected = here.kept()
    finally:
        loop.kill()
        loop.wait()
    (place / ".git" / "gc.pid").unlink(missing_ok=True)
    with Machine(tmp_path / "b", 2) as there:
        there.take(place)
        assert there.kept() == expected


def test_damage_is_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        here.save("s", SHORT)
        here.save("o", OTHER)
        here.archive(place)
        name = next(each for each in refs(place) if here.store.streams()[0].session.hex() in each)  # type: ignore[union-attr]
        listing = git(place, "ls-tree", name).decode()
        blob = git(place, "hash-object", "-w", "--stdin", stdin=b"{}").decode().strip()
        described = git(place, "rev-parse", f"{name}:stream.json").decode().strip()
        tree = git(place, "mktree", stdin=listing.replace(described, blob).encode()).decode().strip()
        git(place, "update-ref", name, git(place, "commit-tree", tree, "-m", "x").decode().strip())
        done = there.take(place)
        (damaged,) = [each for each in done if each.outcome == "damaged"]
        assert isinstance(damaged, Imported)
        assert isinstance(damaged.error, DataError)
        assert name in damaged.error.message
        assert "stream.json" in damaged.error.message
        assert there.kept() == {OTHER}


@pytest.mark.parametrize("ident", ["../../evil", "/abs", "a\\b", ".git", "x" * 300, "nul\0"])
def test_ids_of_sessions_lead_no_file_out_of_the_directory(ident: str, tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here:
        here.save("s", build_session("a", header=header_line(ident)))
        here.archive(place)
    before = set(tmp_path.rglob("*"))
    with opened_archive(find_repository(str(place)), ()) as found:
        (done,) = import_to_files(found, tmp_path / "files")
    assert done.path is not None
    assert set(tmp_path.rglob("*")) - before == {tmp_path / "files", done.path}


def test_file_that_is_there_is_never_changed(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here:
        here.save("s", SHORT)
        here.archive(place)
    for expected in ("written", "known"):
        with opened_archive(find_repository(str(place)), ()) as found:
            (done,) = import_to_files(found, tmp_path / "files")
        assert done.outcome == expected
    assert done.path is not None
    done.path.write_bytes(LONG)
    with opened_archive(find_repository(str(place)), ()) as found, pytest.raises(SessionFileExists):
        list(import_to_files(found, tmp_path / "files"))
    assert done.path.read_bytes() == LONG


def test_sessions_are_chosen_by_the_beginning_of_id_or_key(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        here.save("s", SHORT)
        here.save("o", OTHER)
        here.archive(place)
        there.take(place, ["oth"])
        assert there.kept() == {OTHER}
        with pytest.raises(NoStreams):
            there.take(place, ["nowhere"])
        key = here.store.streams()[0].session
        assert key is not None
        there.take(place, [key.hex()[:12]])
        assert there.kept() == {OTHER, SHORT}
    with pytest.raises(NoStreams), opened_archive(find_repository(str(new_repository(tmp_path / "none"))), ()):
        pass
