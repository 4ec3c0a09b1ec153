"""Every session as review commits: git finds nothing wrong, and trees have the files that lay on the client's disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from dulwich.repo import Repo

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.review import write_review
from pivcs.ops.view import open_file
from tests.conformance.conftest import fixtures
from tests.conformance.test_workspace import with_files
from tests.gitbridge.git import check, needs_git

needs_fixtures = pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")


@needs_git
def test_every_session_is_exported(session_file: Path, tmp_path: Path) -> None:
    with open_file(session_file) as view:
        done = export([view], Destination.open(tmp_path / "review"))
        check(tmp_path / "review")
        assert len(done.sessions) == (view.key is not None)
        again = export([view], Destination.open(tmp_path / "review"))
        assert again.objects == 0


@needs_fixtures
def test_trees_have_the_files_that_lay_on_the_disk(tmp_path: Path) -> None:
    compared = 0
    for number, case in enumerate(with_files()):
        place = tmp_path / str(number)
        with open_file(case.path) as view:
            objects = Destination.open(place).objects
            with PackWriter(objects) as writer:
                commits = {each.row: each.commit for each in write_review(view, writer)}
                writer.finish()
                writer.release()
            with Repo(str(place)) as repository:
                for entry_id, files in case.expected["files"].items():
                    row = view.table.row_named(entry_id)
                    assert row is not None
                    tree = repository[commits[row].hex().encode()].tree
                    for entry in repository.object_store.iter_tree_contents(tree):
                        path = entry.path.decode()
                        if not path.startswith(".pivcs/"):
                            assert repository[entry.sha].data.decode() == files[path], (entry_id, path)
                            compared += 1
    assert compared
