"""Many small packs become few, and the real git reads everything in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.gitbridge.deltas import splice_delta
from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from pivcs.gitbridge.objects import BLOB
from pivcs.gitbridge.pack_merging import MANY, merge_small_packs
from pivcs.gitbridge.packs import PackWriter
from tests.builders import build_session
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.gitbridge.real_git import Project
from tests.ops.views import view_of

pytestmark = needs_git


def packs_in(repository: Path) -> list[Path]:
    return sorted((repository / "objects" / "pack").glob("*.pack"))


def write_pack(repository: Path, number: int) -> dict[str, bytes]:
    """Write a pack with a blob and a delta of it, without joining it to others; returns contents by id."""
    old, new = b"%05d " % number + bytes(range(200)), b"%05d " % number + bytes(range(100)) + b"!" + bytes(range(150))
    with PackWriter(repository / "objects") as writer:
        base = writer.add(BLOB, old)
        made = writer.add(BLOB, new, base, splice_delta(len(old), 106, len(old), new[106:]))
        writer.finish()
    return {base.hex(): old, made.hex(): new}


def read_all(repository: Path, contents: dict[str, bytes]) -> None:
    """Compare every object with what the real git reads."""
    for ident, content in contents.items():
        assert git(repository, "cat-file", "blob", ident) == content
    listing = git(repository, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").decode().split()
    assert set(listing) == set(contents)
    check(repository)


def made(repository: Path, count: int) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for number in range(count):
        contents |= write_pack(repository, number)
    return contents


def test_many_packs_become_one(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place", "--bare")
    contents = made(place, MANY - 1)
    merge_small_packs(place / "objects")
    assert len(packs_in(place)) == MANY - 1
    contents |= write_pack(place, MANY)
    merge_small_packs(place / "objects")
    (pack,) = packs_in(place)
    read_all(place, contents)
    listing = git(place, "verify-pack", "-v", str(pack.with_suffix(".idx"))).decode()
    assert f"chain length = 1: {MANY} objects" in listing
    assert not list(pack.parent.glob("*.keep"))
    assert not list(pack.parent.glob("*.tmp"))


def test_an_object_that_two_packs_have_stands_once_in_each(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place", "--bare")
    contents = made(place, MANY)
    with PackWriter(place / "objects") as writer:
        for ident in list(contents)[:2]:
            writer.add(BLOB, contents[ident])
        writer.finish()
    merge_small_packs(place / "objects")
    assert len(packs_in(place)) == 2
    read_all(place, contents)


@pytest.mark.parametrize("beside", ["keep", "rev", "bitmap", "promisor", "mtimes"])
def test_packs_that_git_has_something_beside_are_left(beside: str, tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place", "--bare")
    made(place, MANY)
    before = packs_in(place)
    before[0].with_suffix(f".{beside}").touch()
    merge_small_packs(place / "objects")
    assert packs_in(place) == before


def test_packs_in_an_index_of_many_packs_are_left(tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place", "--bare")
    contents = made(place, MANY)
    git(place, "multi-pack-index", "write", "--no-progress")
    before = packs_in(place)
    merge_small_packs(place / "objects")
    assert packs_in(place) == before
    for number in range(MANY, 2 * MANY):
        contents |= write_pack(place, number)
    merge_small_packs(place / "objects")
    assert len(packs_in(place)) == MANY + 1
    read_all(place, contents)
    git(place, "multi-pack-index", "verify", "--no-progress")


@pytest.mark.parametrize("extension", [".pack", ".idx"])
@pytest.mark.parametrize("at", [3, -30, -3])
def test_a_damaged_pack_is_left_as_it_is(extension: str, at: int, tmp_path: Path) -> None:
    place = new_repository(tmp_path / "place", "--bare")
    made(place, MANY)
    damaged = packs_in(place)[2].with_suffix(extension)
    data = bytearray(damaged.read_bytes())
    data[at] ^= 1
    damaged.chmod(0o600)
    damaged.write_bytes(data)
    merge_small_packs(place / "objects")
    assert len(packs_in(place)) == 2
    assert damaged.read_bytes() == data


def test_an_export_that_cannot_join_packs_has_succeeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = new_repository(tmp_path / "place", "--bare")
    contents = made(place, MANY)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        merge_small_packs(place / "objects")
    assert len(packs_in(place)) == MANY
    read_all(place, contents)


def test_packs_do_not_become_more_and_more_with_exports(tmp_path: Path) -> None:
    lines = build_session("-".join(f"{number:08x}" for number in range(1, 130))).splitlines(keepends=True)
    place, once = tmp_path / "grown", tmp_path / "once"
    most = 0
    for count in range(2, len(lines) + 1):
        export([view_of(b"".join(lines[:count]))], Destination.open(place))
        most = max(most, len(packs_in(place)))
    assert most < 3 * MANY
    check(place)
    export([view_of(b"".join(lines))], Destination.open(once))
    for ref in Project(once).git("for-each-ref", "--format=%(refname)").split():
        if ref != "refs/heads/sessions":
            assert Project(place).git("rev-parse", ref) == Project(once).git("rev-parse", ref)
