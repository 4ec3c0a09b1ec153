from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.gitbridge.process import Git
from pivcs.gitbridge.snapshot_upkeep import check_snapshots, collect_snapshots, snapshot_space
from pivcs.gitbridge.snapshots import delete_snapshots
from pivcs.ops.operations import NoSuchRef, undo
from pivcs.store.snapshots import snapshots_of
from pivcs.store.store import Store
from tests.builders import CLOCK
from tests.gitbridge.real_git import Project, new_project
from tests.gitbridge.taking import Taker, session_of

pytestmark = pytest.mark.interop


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"a": "1\n", "sub/b": "2\n"})


@pytest.fixture
def taker(project: Project, tmp_path: Path) -> Iterator[Taker]:
    (tmp_path / "data").mkdir()
    with (
        Store.open(tmp_path / "data" / "store.db", create=True) as store,
        session_of(project.root, store, tmp_path / "session.jsonl") as view,
    ):
        yield Taker(view, project.root, tmp_path / "home")


def _objects(taker: Taker) -> list[Path]:
    return sorted(path for path in (taker.repository / "objects").glob("??/*") if path.is_file())


def _delete(taker: Taker, number: int) -> None:
    delete_snapshots(taker.view, [number], now=CLOCK, command="pivcs snapshot --delete")


def test_snapshots_that_are_whole_have_no_finding(taker: Taker):
    taker.take()
    assert list(check_snapshots(taker.store)) == []


@pytest.mark.parametrize("harm", ["missing", "changed"])
def test_a_harmed_object_is_found_and_its_snapshot_named(taker: Taker, harm: str):
    taker.take()
    for path in _objects(taker):
        kept = path.read_bytes()
        path.chmod(0o600)
        if harm == "missing":
            path.unlink()
        else:
            path.write_bytes(kept[:-3] + bytes((kept[-3] ^ 0x10,)) + kept[-2:])
        findings = list(check_snapshots(taker.store))
        assert [finding.id for finding in findings] == ["snapshot-damaged"]
        assert findings[0].detail.startswith("snapshot 1: 1 object")
        path.write_bytes(kept)
    assert list(check_snapshots(taker.store)) == []


def test_what_was_deleted_is_collected_and_the_others_stay(taker: Taker, project: Project, git: Git):
    taker.take()
    project.write({"a": "only in the second\n" * 50})
    second = taker.take().record
    project.write({"a": "third\n"})
    third = taker.take().record
    _delete(taker, second.id)
    space = snapshot_space(taker.store)
    assert space is not None
    assert space.deleted == 1
    done = collect_snapshots(taker.store, git)
    assert done.deleted == 1
    assert sorted(taker.files(third)) == ["a", "sub/b"]
    kept = {record.id for record in snapshots_of(taker.store, third.session)}
    assert kept == {1, third.id}
    assert list(check_snapshots(taker.store)) == []
    with pytest.raises(NoSuchRef, match="collected"):
        undo(taker.store, now=CLOCK)


def test_a_store_without_snapshots_has_nothing_to_collect(taker: Taker):
    assert snapshot_space(taker.store) is None
    assert list(check_snapshots(taker.store)) == []
