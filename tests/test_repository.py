"""The tests mirror the package, and what they need is in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE, TESTS = ROOT / "pivcs", ROOT / "tests"
FOLDERS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
BESIDE = {"benchmarks", "cases", "conformance", "counters", "crash", "docs", "golden", "interop"}
"""Folders of tests that look at the program from another side."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_of_the_package_has_a_folder_of_tests(folder: str):
    assert list((TESTS / folder).glob("test_*.py"))


def test_folders_of_tests_are_those_of_the_package_and_no_others():
    found = {path.name for path in TESTS.iterdir() if (path / "__init__.py").exists()}
    assert set(FOLDERS) <= found <= {*FOLDERS, *BESIDE}


def test_test_files_are_named_after_modules_or_say_what_they_are_about():
    """A test file with the name of a module stands in the folder of that module."""
    places: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        places.setdefault(path.stem, set()).add(path.parent.name)
    for path in TESTS.rglob("test_*.py"):
        folder, about = path.parent.name, path.stem.removeprefix("test_")
        if folder in FOLDERS and len(places.get(about, ())) == 1:
            # A name like "size" or "json" is no module's; one like "revision" belongs beside its module.
            assert folder in places[about] or about in {"status"}, path


def test_every_folder_of_tests_is_a_package():
    for path in TESTS.rglob("*.py"):
        assert (path.parent / "__init__.py").exists(), path


def test_no_test_file_is_named_twice_in_one_folder_tree():
    names = [path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")]
    assert len(names) == len(set(names)) > 20


def test_files_say_nothing_about_the_machine_they_were_written_on():
    """No path of a home or a work directory, which a reader could not follow."""
    telling = re.compile(r"/(?:root|work|home/(?!dev\b|x\b|me\b|user\b|ann\b|u\b)\w+)/\w|/tmp/\w|shared/")
    for folder in (PACKAGE, TESTS / "cli", TESTS / "golden", TESTS / "cases", TESTS / "objects", TESTS / "ops"):
        for path in folder.rglob("*.*"):
            if path.suffix in (".py", ".txt", ".json") and path.name != Path(__file__).name:
                match = telling.search(path.read_text(encoding="utf-8"))
                assert match is None, f"{path}: {match[0]}"
