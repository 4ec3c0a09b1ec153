"""Replaying the real client's sessions: the files that lay on its disk after every turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.replaying import iter_changes, replay_path
from pivcs.ops.view import SessionView, open_file
from pivcs.workspace.base import MappingBase
from pivcs.workspace.state import FilePath, Provenance
from tests.conformance.conftest import Case, cases, fixtures

needs_fixtures = pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")


def with_files() -> list[Case]:
    return [case for case in cases() if "initialFiles" in case.expected]


def content_at(view: SessionView, row: int, base: MappingBase) -> dict[str, bytes]:
    """Return the files of the project at a row: those of the base, and what replay says of those that it met."""
    files = {path: base.read(path).content for path in base.paths()}  # type: ignore[union-attr]
    for path, state in replay_path(view, row, base).items():
        assert path.inside, path
        assert state.is_exact, state
        files.pop(path.text, None)
        if state.content is not None:
            files[path.text] = state.content
    return files


@needs_fixtures
def test_files_after_every_turn_are_those_that_lay_on_the_disk() -> None:
    compared = 0
    for case in with_files():
        base = MappingBase({name: text.encode() for name, text in case.expected["initialFiles"].items()})
        with open_file(case.path) as view:
            for entry_id, files in case.expected["files"].items():
                row = view.table.row_named(entry_id)
                assert row is not None
                assert content_at(view, row, base) == {name: text.encode() for name, text in files.items()}, entry_id
                compared += 1
    assert compared


def test_every_path_of_every_file_is_replayed(session_file: Path) -> None:
    with open_file(session_file) as view:
        for tip in view.tips():
            for path, state in replay_path(view, tip).items():
                assert state.path == path
                assert state.known_at in range(len(view.table))
                assert state.is_exact or state.unknown_since is not None or state.patches


@needs_fixtures
def test_edits_between_two_whole_reads_lead_from_one_to_the_other() -> None:
    agreed = 0
    for file in sorted(fixtures().glob("real/*edits*.jsonl")):  # type: ignore[union-attr]
        with open_file(file) as view:
            for tip in view.tips():
                edited: set[FilePath] = set()
                for change in iter_changes(view, tip):
                    if change.kind == "edit" and change.after.content is not None:
                        edited.add(change.path)
                    elif change.kind == "read" and change.path in edited:
                        assert change.before is not None
                        assert change.before.content == change.after.content
                        assert change.after.provenance is Provenance.WHOLE
                        agreed += 1
    assert agreed
