"""The real git checks out every turn of the client's sessions: the files are those that lay on the client's disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from pivcs.ops.replaying import replay_path
from pivcs.ops.view import open_file
from tests.conformance.conftest import fixtures
from tests.conformance.test_workspace import with_files
from tests.gitbridge.git import git, needs_git

needs_fixtures = pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")


@needs_git
@needs_fixtures
def test_every_turn_is_checked_out_as_it_lay_on_the_disk(tmp_path: Path) -> None:
    compared = 0
    for number, case in enumerate(with_files()):
        place, work = tmp_path / str(number), tmp_path / f"{number}-work"
        with open_file(case.path) as view:
            export([view], Destination.open(place))
            git(tmp_path, "clone", "-q", "-c", "advice.detachedHead=false", str(place), str(work))
            listing = git(place, "log", "--all", "--format=%(trailers:key=Pivcs-Entry,valueonly,separator=) %H")
            commits = dict(line.split() for line in listing.decode().splitlines() if len(line.split()) == 2)
            for entry_id, files in case.expected["files"].items():
                git(work, "checkout", "-q", commits[entry_id])
                row = view.table.row_named(entry_id)
                assert row is not None
                known = {path.text for path, state in replay_path(view, row).items()
                         if path.inside and state.is_exact and state.content is not None}  # fmt: skip
                assert known
                assert known <= set(files)
                disk = {path.relative_to(work).as_posix(): path for path in work.rglob("*") if path.is_file()}
                ours = {name: path.read_bytes() for name, path in disk.items()
                        if name.split("/")[0] not in (".git", ".pivcs")}  # fmt: skip
                assert ours == {name: files[name].encode() for name in known}, entry_id
                compared += 1
                assert git(work, "status", "--porcelain") == b""
    assert compared
