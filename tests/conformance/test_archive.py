"""Every fixture comes back byte for byte from a clone of the repository that it was archived in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.conftest import fixtures
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, git, needs_git, new_repository

needs_fixtures = pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")


@needs_git
@needs_fixtures
def test_fixtures_come_back_from_a_clone(tmp_path: Path) -> None:
    root = fixtures()
    assert root is not None
    place = new_repository(tmp_path / "place")
    with Machine(tmp_path / "a") as here, Machine(tmp_path / "b", 2) as there:
        files = {path: path.read_bytes() for path in sorted(root.rglob("*.jsonl"))}
        assert files
        for number, data in enumerate(files.values()):
            here.save(str(number), data)
        here.archive(place)
        git(tmp_path, "clone", "-q", "--mirror", "-c", "core.autocrlf=true", str(place), "clone.git")
        check(tmp_path / "clone.git")
        done = there.take(tmp_path / "clone.git")
        assert {each.outcome for each in done} == {"new"}
        assert there.kept() == here.kept()
        whole = {data for data in files.values() if b"\n" in data}
        assert all(any(kept.startswith(data) for kept in there.kept()) for data in whole)
        nodes = {stream.last_record for stream in there.store.streams()}
        assert nodes <= {stream.last_record for stream in here.store.streams()}
