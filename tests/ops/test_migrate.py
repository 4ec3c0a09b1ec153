"""Old versions are written anew beside the old file, as pi would rewrite them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pivcs.ops.migrate import NothingToMigrate, migrate
from pivcs.session.jsontext import parse_json
from pivcs.session.values import NotASession
from pivcs.session.wholefile import SessionFileExists
from tests.builders import build_session, header_line, line
from tests.ops.views import view_of
from tests.session.worlds import make_world

MESSAGES = [line({"type": "message", "message": {"role": "user", "content": str(each)}}) for each in range(3)]
OLD = header_line(version=None) + b"".join(MESSAGES)


@pytest.mark.skipif("PIVCS_FIXTURES" not in os.environ, reason="PIVCS_FIXTURES names no directory of fixtures")
@pytest.mark.parametrize("name", ["v1_legacy", "v2_hook_message"])
def test_file_is_what_pi_made_of_it(tmp_path: Path, name: str) -> None:
    folder = Path(os.environ["PIVCS_FIXTURES"]) / "pi"
    expected = (folder / f"{name}.migrated.jsonl").read_bytes()
    values = [parse_json(each) for each in expected.splitlines()[1:]]
    world = make_world(ids=[str(value["id"]) for value in values if isinstance(value, dict)])
    view = view_of((folder / f"{name}.jsonl").read_bytes())
    assert migrate(view, tmp_path / "new.jsonl", world=world).written.path.read_bytes() == expected


def test_seed_decides_the_ids(tmp_path: Path) -> None:
    files = [tmp_path / f"{each}.jsonl" for each in range(3)]
    for path, seed in zip(files, (1, 1, 2), strict=True):
        migrate(view_of(OLD), path, world=replace(make_world(), random=Random(seed).randbytes))
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


def test_lines_that_pi_passes_over_are_counted(tmp_path: Path) -> None:
    data = header_line(version=None) + MESSAGES[0] + b"\n" + b"{torn\n" + MESSAGES[1] + b"null\n" + MESSAGES[2][:-1]
    done = migrate(view_of(data), tmp_path / "new.jsonl", world=make_world())
    assert (done.left_out, done.written.lines, done.old_version) == (2, 3, 1)
    assert len(done.written.path.read_bytes().splitlines()) == 4


def test_current_version_and_other_files_are_refused(tmp_path: Path) -> None:
    for data in (build_session("a-b"), b""):
        with pytest.raises(NothingToMigrate):
            migrate(view_of(data), tmp_path / "new.jsonl", world=make_world())
    with pytest.raises(NotASession):
        migrate(view_of(b"[1]\n"), tmp_path / "new.jsonl", world=make_world())
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(OLD)
    with pytest.raises(SessionFileExists):
        migrate(view_of(OLD), path, world=make_world())
    assert path.read_bytes() == OLD
