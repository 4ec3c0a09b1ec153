"""A process that is killed at any moment leaves a store that opens and has everything that was reported as done.

`PIVCS_CRASH_ROUNDS` says how often (50); `.ci/soak` kills a thousand.
"""

from __future__ import annotations

import os
import random
import time
from functools import partial
from pathlib import Path

from pivcs.store.store import Store
from tests.crash.writing import check, kill_after, reported, start, write_for_ever
from tests.store.limits import small_limits

ROUNDS = int(os.environ.get("PIVCS_CRASH_ROUNDS", "50"))


def test_killed_syncs_lose_nothing_that_was_reported(tmp_path: Path) -> None:
    store, reports, directory = tmp_path / "store" / "store.db", tmp_path / "reports", tmp_path / "sessions"
    directory.mkdir()
    moments, kept = random.Random(7), 0
    with small_limits(in_memory=8000, whole=1 << 20):
        for number in range(ROUNDS):
            child = start(partial(write_for_ever, store, directory, reports, number))
            kill_after(child, moments.uniform(0, 0.12))
            kept = check(store, reports, full=number % 10 == 9)
        check(store, reports, full=True)
    assert kept >= 3


def test_two_killed_writers_lose_nothing_that_was_reported(tmp_path: Path) -> None:
    store, directory = tmp_path / "store" / "store.db", tmp_path / "sessions"
    moments = random.Random(8)
    with small_limits(in_memory=8000, whole=1 << 20):
        for number in range(max(3, ROUNDS // 5)):
            children = []
            for writer in "ab":
                (directory / writer).mkdir(parents=True, exist_ok=True)
                children.append(start(partial(write_for_ever, store, directory / writer, tmp_path / writer, number)))
            for child in children:
                kill_after(child, moments.uniform(0, 0.08))
            for writer in "ab":
                check(store, tmp_path / writer)
        check(store, tmp_path / "a", full=True)
    assert reported(tmp_path / "a")
    assert reported(tmp_path / "b")


def test_store_is_free_at_once_after_its_writer_was_killed(tmp_path: Path) -> None:
    """No lock stays behind that somebody must remove."""
    path = tmp_path / "store.db"
    with Store.open(path, create=True):
        pass

    def hold() -> None:
        with Store.open(path) as store, store.writing():
            store.add_source(b"/half done")
            (tmp_path / "holding").touch()
            time.sleep(60)

    child = start(hold)
    while not (tmp_path / "holding").exists():
        time.sleep(0.005)
    kill_after(child, 0)
    with Store.open(path, wait=0) as store:
        assert store.sources() == []
        with store.writing():
            store.add_source(b"/whole")
