"""Every fixture in one export: C git, dulwich and libgit2 read the same objects in it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from pivcs.ops.view import open_file
from tests.conformance.conftest import fixtures
from tests.gitbridge.git import check, needs_git
from tests.gitbridge.readers import all_agree, find_libgit2


@needs_git
@pytest.mark.interop
@pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")
def test_all_readers_agree_on_an_export_of_all_fixtures(tmp_path: Path) -> None:
    pygit2 = find_libgit2()
    root = fixtures()
    assert root is not None
    with ExitStack() as stack:
        views = [stack.enter_context(open_file(path)) for path in sorted(root.rglob("*.jsonl"))]
        assert views
        export(views, Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    assert all_agree(tmp_path / "review", pygit2) > len(views)
