"""Finds the fixtures: session files, and beside them what the real client says about them.

`PIVCS_FIXTURES` names the directory; without it these tests are skipped. Nothing here knows a fixture by name: whatever
lies there is compared, and finding nothing is a failure.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from pivcs.session.migrations import migrate
from pivcs.session.tree import SessionTree
from pivcs.session.values import Opening, entries_of, open_values

VARIABLE = "PIVCS_FIXTURES"


@dataclass(frozen=True)
class Case:
    """A session file with the client's answers."""

    path: Path
    expected: dict[str, Any] = field(repr=False)

    @cached_property
    def data(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def opening(self) -> Opening:
        return open_values(self.data, self.path.name)

    @cached_property
    def migrated(self) -> list[object]:
        """The values as version 3; entries of version 1 get the ids that the expectations use: e1, e2, ..."""
        return migrate(self.opening.values, lambda place: f"e{place}")

    @cached_property
    def tree(self) -> SessionTree:
        return SessionTree(entries_of(self.migrated))


def fixtures() -> Path | None:
    directory = os.environ.get(VARIABLE)
    return Path(directory) if directory else None


def cases() -> list[Case]:
    root = fixtures()
    if root is None:
        return []
    found = []
    for answer in sorted(root.glob("**/*.expected.json")):
        session = answer.with_name(answer.name.replace(".expected.json", ".jsonl"))
        found.append(Case(session, json.loads(answer.read_text(encoding="utf-8", errors="surrogatepass"))))
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test the fixtures that its arguments ask for."""
    everything = cases()
    wanted = {
        "case": everything,
        "opened": [case for case in everything if case.expected["open"]["ok"]],
        "leafy": [case for case in everything if case.expected.get("leaves")],
        "migration": [case for case in everything if "migrated" in case.expected],
    }
    root = fixtures()
    for name, values in wanted.items():
        if name in metafunc.fixturenames:
            _parametrize(metafunc, name, values, [case.path.stem for case in values])
    if "session_file" in metafunc.fixturenames:
        files = [] if root is None else sorted(root.glob("**/*.jsonl"))
        _parametrize(metafunc, "session_file", files, [str(file.relative_to(root)) for file in files if root])
    for name, pattern in (("encodings", "**/cwd_encoding.json"), ("store", "**/store/expected.json")):
        if name in metafunc.fixturenames:
            found = [] if root is None else sorted(root.glob(pattern))
            _parametrize(metafunc, name, found, [file.parent.name for file in found])


def _parametrize(metafunc: pytest.Metafunc, name: str, values: list[Any], ids: list[str]) -> None:
    if fixtures() is None:
        values, ids = [pytest.param(None, marks=pytest.mark.skip(reason=f"{VARIABLE} is not set"))], ["none"]
    elif not values:
        # Not an empty parameter set, which pytest would skip.
        values, ids = [None], ["nothing-found"]
    metafunc.parametrize(name, values, ids=ids, indirect=True)


def _found(request: pytest.FixtureRequest) -> Any:
    if request.param is None:
        pytest.fail(f"no fixture of this kind under ${VARIABLE}")
    return request.param


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """Any session file with answers."""
    found = _found(request)
    assert isinstance(found, Case)
    return found


@pytest.fixture
def opened(request: pytest.FixtureRequest) -> Case:
    """A session file that pi opens."""
    found = _found(request)
    assert isinstance(found, Case)
    return found


@pytest.fixture
def leafy(request: pytest.FixtureRequest) -> Case:
    """A session file with at least one entry."""
    found = _found(request)
    assert isinstance(found, Case)
    return found


@pytest.fixture
def migration(request: pytest.FixtureRequest) -> Case:
    """A session file of version 1 or 2."""
    found = _found(request)
    assert isinstance(found, Case)
    return found


@pytest.fixture
def session_file(request: pytest.FixtureRequest) -> Path:
    """Any file that ends in .jsonl, with or without answers."""
    found = _found(request)
    assert isinstance(found, Path)
    return found


@pytest.fixture
def encodings(request: pytest.FixtureRequest) -> Path:
    """Working directories and the client's names for them."""
    found = _found(request)
    assert isinstance(found, Path)
    return found


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Path:
    """The answers about a whole sessions root."""
    found = _found(request)
    assert isinstance(found, Path)
    return found
