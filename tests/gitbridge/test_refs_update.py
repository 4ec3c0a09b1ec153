"""Refs are set when they are as expected, and left when they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.gitbridge import refs_update
from pivcs.gitbridge.refs_update import OtherRefs, RefsNotWritten, RefUpdate, read_refs, update_refs
from pivcs.gitbridge.repository import Repository, find_repository
from tests.gitbridge.git import check, git, needs_git, new_repository

pytestmark = needs_git

NAME = "refs/pivcs/a/s/1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "place.git", "--bare")


def commits(place: Path) -> tuple[bytes, bytes]:
    empty = git(place, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    made = [git(place, "commit-tree", empty, "-m", text).decode().strip() for text in "ab"]
    return bytes.fromhex(made[0]), bytes.fromhex(made[1])


def outcome(repository: Repository, old: bytes | None, new: bytes | None, name: str = NAME) -> str:
    (done,) = update_refs(repository, [RefUpdate(name, old, new)])
    return done.outcome


@pytest.mark.parametrize("packed", [False, True])
def test_ref_moves_only_from_where_it_is_believed_to_be(place: Path, packed: bool) -> None:
    one, two = commits(place)
    repository = find_repository(str(place))

    def pack() -> None:
        if packed:
            git(place, "pack-refs", "--all")

    assert outcome(repository, two, one) == "refused"
    assert read_refs(repository, "refs/pivcs/") == {}
    assert outcome(repository, None, one) == "new"
    pack()
    assert outcome(repository, None, two) == "refused"
    assert outcome(repository, two, None) == "refused"
    assert outcome(repository, one, one) == "same"
    assert read_refs(repository, "refs/pivcs/") == {NAME: one}
    assert outcome(repository, one, two) == "moved"
    pack()
    assert git(place, "rev-parse", NAME).decode().strip() == two.hex()
    assert outcome(repository, two, None) == "removed"
    assert git(place, "for-each-ref") == b""
    check(place)


def test_ref_that_leads_to_another_is_left(place: Path) -> None:
    one, two = commits(place)
    git(place, "update-ref", "refs/heads/main", one.hex())
    git(place, "symbolic-ref", NAME, "refs/heads/main")
    repository = find_repository(str(place))
    assert read_refs(repository, "refs/pivcs/") == {}
    assert outcome(repository, one, two) == outcome(repository, None, two) == "refused"
    assert git(place, "rev-parse", "main").decode().strip() == one.hex()


@pytest.mark.parametrize("packed", [False, True])
def test_ref_whose_directory_is_a_ref_is_left(place: Path, packed: bool) -> None:
    one, two = commits(place)
    git(place, "update-ref", "refs/pivcs/a", one.hex())
    if packed:
        git(place, "pack-refs", "--all")
    assert outcome(find_repository(str(place)), None, two) == "refused"
    assert git(place, "for-each-ref", "--format=%(refname)").split() == [b"refs/pivcs/a"]


def test_lock_that_stays_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refs_update, "_WAIT", 0)
    one, _ = commits(place)
    lock = place / (NAME + ".lock")
    lock.parent.mkdir(parents=True)
    lock.write_bytes(b"")
    with pytest.raises(RefsNotWritten) as caught:
        outcome(find_repository(str(place)), None, one)
    assert caught.value.hint is not None
    assert lock.name in caught.value.hint
    assert lock.exists()


def test_nothing_is_logged_and_no_hook_runs(place: Path) -> None:
    git(place, "config", "core.logAllRefUpdates", "always")
    hook = place / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    one, _ = commits(place)
    assert outcome(find_repository(str(place)), None, one) == "new"
    assert not (place / "logs").exists()


def test_reftable_is_refused(place: Path) -> None:
    with (place / "config").open("a", encoding="utf-8") as file:
        file.write("[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n")
    with pytest.raises(OtherRefs):
        read_refs(find_repository(str(place)), "refs/pivcs/")


def test_what_is_no_id_is_no_ref(place: Path) -> None:
    file = place / NAME
    file.parent.mkdir(parents=True)
    for content in (b"", b"\0" * 40, b"0123", b"g" * 40 + b"\n"):
        file.write_bytes(content)
        assert read_refs(find_repository(str(place)), "refs/pivcs/") == {}


def test_empty_file_of_packed_refs_is_as_none(place: Path) -> None:
    """A loss of power leaves one; git takes it so."""
    repository = find_repository(str(place))
    (repository.common_dir / "packed-refs").write_bytes(b"")
    one, other = commits(place)
    assert outcome(repository, None, one) == "new"
    assert outcome(repository, one, other) == "moved"
    assert read_refs(repository, "refs/")[NAME] == other
    assert outcome(repository, other, None) == "removed"
