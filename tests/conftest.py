"""Profiles of the property tests: `ci` (the default, the same examples on every run) and `soak` (many, by hand).

No test sees the store, the configuration or the sessions of whoever runs it.
"""

import os
import sqlite3
import weakref
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from pivcs.store.database import Database

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "soak", max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


_make_database = Database.__init__
_databases: weakref.WeakSet[Database] = weakref.WeakSet()


def _closed_when_forgotten(
    self: Database, connection: sqlite3.Connection, path: Path | None, *, read_only: bool
) -> None:
    """Make a database that tests may drop without closing it, as they do with values; Python 3.13 warns of it.

    That the program closes all of its own is tested with each command (`tests/cli/conftest.py`).
    """
    _make_database(self, connection, path, read_only=read_only)
    _databases.add(self)
    weakref.finalize(self, _close, connection)


def _close(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # another thread may be the one that finds it forgotten
        connection.close()


Database.__init__ = _closed_when_forgotten  # type: ignore[method-assign]


def open_databases() -> set[Database]:
    """Return the databases that nobody has closed or forgotten."""
    return {database for database in _databases if _is_open(database)}


def _is_open(database: Database) -> bool:
    try:
        database.connection.total_changes  # noqa: B018 - says it when the connection is closed
    except sqlite3.ProgrammingError:
        return False
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that see more where PIVCS_FIXTURES is set, so that they can be run again with it alone."""
    telling: dict[Path, bool] = {}
    for item in items:
        if item.path not in telling:
            source = item.path.read_text(encoding="utf-8")
            telling[item.path] = "PIVCS_FIXTURES" in source or "tests.conformance" in source
        if telling[item.path] or "tests/conformance/" in item.nodeid:
            item.add_marker(pytest.mark.fixtures)


@pytest.fixture(autouse=True)
def _private_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a home, a store and a configuration of its own, for child processes too.

    A test that changes the directory, as `pivcs -C` does in this process, does so for itself alone.
    """
    monkeypatch.chdir(Path.cwd())
    home = tmp_path_factory.mktemp("home")
    for name in ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PIVCS_DIR", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    return home
