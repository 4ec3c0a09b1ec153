"""Forgetting is killed before each of its calls of the system and of SQLite: the store opens, and saying it again
completes what was begun."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pivcs.gitbridge.archive import archive
from pivcs.gitbridge.forgetting import forget_refs, plan_refs
from pivcs.gitbridge.repository import find_repository
from pivcs.ops.access import view_of
from pivcs.ops.forget import finish, forget, plan_forget
from pivcs.ops.forget_session import forget_session, plan_session
from pivcs.ops.masking import Guard
from pivcs.ops.sync import sync_file
from pivcs.store.database import Database
from pivcs.store.store import Store
from tests.crash.writing import CALLS, start
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.ops.syncing import NOW
from tests.ops.test_forget import SECRET, errors, secret_places, with_secret

MOST = 400
"""Calls that no forgetting of a small session comes near to."""
STEP = max(1, MOST // int(os.environ.get("PIVCS_CRASH_ROUNDS", "20")))
"""Calls between two moments at which it is killed: all of them take minutes."""

pytestmark = [needs_git, pytest.mark.skipif(not hasattr(os, "fork"), reason="no child can be made to be killed")]


class _Dying:
    """A connection that ends the process before one of its statements."""

    def __init__(self, connection: sqlite3.Connection, count: Any) -> None:
        self._connection = connection
        self._count = count

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._connection, name)
        if name not in ("execute", "executemany"):
            return value

        def counted(*arguments: Any) -> Any:
            self._count()
            return value(*arguments)

        return counted


def _counter(number: int) -> Any:
    count = 0

    def counted() -> None:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return counted


def _kill_before(number: int, database: Database) -> None:
    """Let this process die before one of its calls."""
    counted = _counter(number)
    for name in CALLS:
        call = getattr(os, name)

        def counting(*arguments: Any, call: Any = call, **options: Any) -> Any:
            counted()
            return call(*arguments, **options)

        setattr(os, name, counting)
    database.connection = _Dying(database.connection, counted)  # type: ignore[assignment]


def _forget(path: Path, place: Path, number: int | None = None, *, session: bool = False) -> None:
    with Store.open(path) as store:
        streams = store.streams()
        if number is not None:
            _kill_before(number, store.database)
        repository = find_repository(str(place))
        if session:
            if streams:
                plan = plan_session(view_of(store, streams[0]))
                refs = plan_refs(repository, Guard(), None, sessions=[plan.key])
                forget_session(store, plan, NOW)
            else:
                refs = plan_refs(repository, Guard(), None, sessions=store.forgotten.sessions())
            forget_refs(refs, Guard())
        else:
            view = view_of(store, streams[0])
            entry = plan_forget(view, 2)
            guard = Guard(entry.records)
            refs = plan_refs(repository, guard, None, holding=entry.sessions)
            forget(view, entry, 2, NOW)
            forget_refs(refs, guard)
        finish(store)


@pytest.mark.parametrize("session", [False, True], ids=["entry", "session"])
def test_killed_forgetting_is_completed_by_saying_it_again(tmp_path: Path, session: bool) -> None:
    killed = 0
    for number in range(1, MOST, STEP):
        here = tmp_path / str(number)
        file, path = here / "s.jsonl", here / "store" / "store.db"
        here.mkdir()
        file.write_bytes(with_secret())
        place = new_repository(here / "project")
        with Store.open(path, create=True) as store:
            sync_file(store, file, NOW)
            archive([view_of(store, store.streams()[0])], find_repository(str(place)), None)
        _, status = os.waitpid(start(lambda at=(path, place, number): _forget(*at, session=session)), 0)  # type: ignore[misc]
        for lock in (place / ".git").rglob("*.lock"):
            lock.unlink()
        check(place)
        with Store.open(path) as store:
            assert errors(store) == []
        _forget(path, place, session=session)
        with Store.open(path) as store:
            assert errors(store) == []
            assert not store.forgotten.needs_erasure()
        assert secret_places(path.parent) == []
        git(place, "reflog", "expire", "--expire=now", "--all")
        git(place, "gc", "-q", "--prune=now")
        assert SECRET.encode() not in git(place, "cat-file", "--batch", "--batch-all-objects")
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        killed += 1
    assert 20 < killed * STEP < MOST - STEP
