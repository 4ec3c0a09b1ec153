from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pivcs.session.layout import Surroundings
from pivcs.session.listing import find_by_id, list_all, list_directory, most_recent
from pivcs.session.times import parse_time
from tests.conformance.test_session import shown


def test_working_directories_are_encoded_the_same_way(encodings: Path) -> None:
    table = json.loads(encodings.read_text(encoding="utf-8"))["encode"]
    assert table
    here = Surroundings(environ={}, home="/home/dev", cwd="/home/dev/project")
    for cwd, name in table.items():
        assert here.project_dir(cwd) == f"/home/dev/.pi/agent/sessions/{name}"


class Root:
    """A copy of a sessions root with the file times of the answers."""

    def __init__(self, answers: Path, target: Path) -> None:
        self.expected: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
        self.path = target / "sessions"
        shutil.copytree(answers.parent / "sessions", self.path)
        for name, time in self.expected["mtimes"].items():
            ms = parse_time(time)
            assert ms is not None
            os.utime(self.path / name, ns=(ms * 1_000_000, ms * 1_000_000))

    def relative(self, path: Path | None) -> str | None:
        return None if path is None else path.relative_to(self.path).as_posix()

    def project(self) -> Path:
        """The directory of the project that the answers are about: that of the first session they list."""
        name: str = self.expected["list"][0]["path"]
        return self.path / name.split("/")[0]


@pytest.fixture
def root(store: Path, tmp_path: Path) -> Root:
    return Root(store, tmp_path)


def test_list_of_a_project_is_the_same(root: Root) -> None:
    expected = root.expected["list"]
    listing = list_directory(root.project())
    assert [root.relative(item.path) for item in listing.sessions] == [item["path"] for item in expected]
    for item, answer in zip(listing.sessions, expected, strict=True):
        assert shown(item) == answer | {"path": item.path.name}


def test_list_of_all_projects_is_the_same(root: Root) -> None:
    expected = root.expected["listAll"]
    listing = list_all(root.path)
    assert [root.relative(item.path) for item in listing.sessions] == [item["path"] for item in expected]
    for item, answer in zip(listing.sessions, expected, strict=True):
        assert shown(item) == answer | {"path": item.path.name}


def test_every_session_file_is_listed_or_reported(root: Root) -> None:
    listing = list_all(root.path)
    files = set(root.path.glob("*/*.jsonl"))
    assert {item.path for item in listing.sessions} | {left_out.path for left_out in listing.skipped} == files
    assert listing.skipped


def test_explicit_directory_lists_only_its_own_working_directory(root: Root) -> None:
    asked = root.expected["listWithSessionDir"]
    listing = list_directory(root.path / asked["dir"], cwd=asked["cwd"])
    assert [root.relative(item.path) for item in listing.sessions] == asked["paths"]
    everything = root.expected["list"]
    same = list_directory(root.project(), cwd=everything[0]["cwd"])
    assert [root.relative(item.path) for item in same.sessions] == [
        item["path"] for item in everything if item["cwd"] == everything[0]["cwd"]
    ]


def test_continue_takes_the_same_file(root: Root) -> None:
    assert root.relative(most_recent(root.project())) == root.expected["mostRecentByFileTime"]


def test_ids_are_found_in_the_same_files(root: Root) -> None:
    table = root.expected["findById"]
    assert table
    for ident, path in table.items():
        found = find_by_id(ident, root.project(), root.path)
        assert found is not None
        assert (root.relative(found.path), found.exact) == (path, True)


def test_prefixes_and_other_projects_are_found_after_the_project(root: Root) -> None:
    table = root.expected["findById"]
    for ident, path in table.items():
        found = find_by_id(ident[:-1], root.project(), root.path)
        assert found is not None
        assert (root.relative(found.path), found.here, found.exact) == (path, True, False)
    elsewhere = [item for item in root.expected["listAll"] if item["id"] not in table]
    for item in elsewhere:
        found = find_by_id(item["id"], root.project(), root.path)
        assert found is not None
        assert (root.relative(found.path), found.here, found.exact) == (item["path"], False, True)
    assert find_by_id("no such id", root.project(), root.path) is None
