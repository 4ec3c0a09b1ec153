"""Restoring the files of the real client's sessions: from what lay on its disk after one turn to any other turn."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pivcs.ops.restore_known import restore_knowledge
from pivcs.ops.view import open_file
from pivcs.store.store import Store
from pivcs.workspace.base import MappingBase
from tests.conformance.conftest import Case, cases, fixtures
from tests.ops.restoring import image, project

needs_fixtures = pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")


def with_files() -> list[Case]:
    return [case for case in cases() if "initialFiles" in case.expected]


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


@needs_fixtures
def test_any_turn_comes_back_from_any_other_and_undo_goes_back(tmp_path: Path) -> None:
    tried = 0
    for case in with_files():
        initial = encoded(case.expected["initialFiles"])
        turns = {entry: encoded(files) for entry, files in case.expected["files"].items()}
        with open_file(case.path) as view:
            for entry, wanted in turns.items():
                row = view.table.row_named(entry)
                assert row is not None
                known = restore_knowledge(view, row, MappingBase(initial))
                for there in (initial, *turns.values()):
                    tried += 1
                    with Store.in_memory() as store:
                        work = project(tmp_path / f"{tried}", {**there, "untracked": b"mine"}, store)
                        before = image(work.root)
                        applied = work.restore(known)
                        assert applied.undone == 0
                        after = {name: data for name, (mode, data) in image(work.root).items() if stat.S_ISREG(mode)}
                        assert after == wanted | {"untracked": b"mine"}, (case.path, entry)
                        if applied.operation is not None:
                            work.undo()
                        assert image(work.root) == before
    assert tried
