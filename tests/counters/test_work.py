"""How much work a sync does, counted and never timed: what grows with a session, and what must not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.generate import session_lines, write_session
from benchmarks.growing import Growing
from pivcs.ops.sync import Synced, note_absent, sync_file, sync_files
from pivcs.store.store import Store
from tests.counters.counting import Work, counted

SMALL, LARGE = 2_500_000, 12_500_000
"""Both longer than what is always compared whole, 2 MiB."""
APPENDS = 40
Both = tuple[list[tuple[int, Work]], list[tuple[int, Work]]]
KNOWN_IDS = 256
"""Rows that are written once more for every 4,096 lines."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, bytes]:
    path = tmp_path_factory.mktemp("sessions") / "session.jsonl"
    write_session(path, LARGE, seed=5)
    whole = path.read_bytes()
    return {size: whole[: whole.rindex(b"\n", 0, size) + 1] for size in (1_000_000, SMALL, LARGE)}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, sessions: dict[int, bytes]) -> Iterator[Both]:
    """The work of the same appends to a session and to one that is five times as large."""
    directory = tmp_path_factory.mktemp("appended")
    with pytest.MonkeyPatch.context() as patch:
        yield (
            appended(directory / "small", sessions[SMALL], patch),
            appended(directory / "large", sessions[LARGE], patch),
        )


def appended(directory: Path, session: bytes, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Work]]:
    """Sync a session, then append and sync one line after the other; returns lengths of lines and the work of each."""
    directory.mkdir()
    file = directory / "session.jsonl"
    file.write_bytes(session)
    done = []
    with Store.open(directory / "store.db", create=True) as store:
        sync_file(store, file, 0)
        growing = Growing(file)
        for number in range(APPENDS):
            length = growing.append()
            with counted(store, monkeypatch) as work:
                synced = sync_file(store, file, number)
            assert (synced.outcome, synced.rows, synced.bytes) == ("appended", 1, length)
            done.append((length, work))
    return done


def files_of(directory: Path) -> dict[str, bytes]:
    """Return a store's files but for SQLite's shared memory; an empty log is as good as none."""
    found = {path.name: path.read_bytes() for path in directory.glob("store.db*") if not path.name.endswith("-shm")}
    return {name: data for name, data in found.items() if data}


def typical(done: list[tuple[int, Work]], count: Callable[[Work], int]) -> int:
    """Return the median of a count."""
    return sorted(count(work) for _, work in done)[len(done) // 2]


@pytest.mark.parametrize(
    "count",
    [
        lambda work: work.bytes_read,
        lambda work: work.rows_written,
        lambda work: work.pages_written,
        lambda work: len(work.statements),
    ],
    ids=["bytes read", "rows written", "pages written", "statements"],
)
def test_appended_line_costs_no_more_in_a_session_five_times_as_large(both: Both, count: Callable[[Work], int]) -> None:
    small, large = (typical(done, count) for done in both)
    assert large <= 1.5 * small


def test_appended_line_is_one_transaction(both: Both) -> None:
    assert [work.commits for done in both for _, work in done] == [1] * (2 * APPENDS)


def test_appended_line_writes_few_rows_and_pages(both: Both) -> None:
    for done in both:
        assert typical(done, lambda work: work.rows_written) <= 16
        assert typical(done, lambda work: work.pages_written) <= 32
        # Now and then a chunk or a segment is full: still no more than that one is written.
        assert max(work.rows_written for _, work in done) <= 64 + KNOWN_IDS
        assert max(work.pages_written for _, work in done) <= 128


def test_appended_line_reads_a_small_part_of_a_long_file(both: Both) -> None:
    for done in both:
        for length, work in done:
            # The line, the end of the file for the next comparison, and the pieces that must be as they were.
            assert length <= work.bytes_read <= 4 * length + 32_768


def test_short_file_is_read_once_for_an_appended_line(
    tmp_path: Path, sessions: dict[int, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sessions[1_000_000]
    total = len(session)
    for length, work in appended(tmp_path / "short", session, monkeypatch):
        total += length
        assert work.bytes_read <= total + 4 * length + 32_768


def test_first_sync_reads_a_file_once(
    tmp_path: Path, sessions: dict[int, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(sessions[SMALL])
    with Store.open(tmp_path / "store.db", create=True) as store, counted(store, monkeypatch) as work:
        synced = sync_file(store, file, 0)
    assert synced.bytes == len(sessions[SMALL])
    assert work.commits == 1
    # The header and the first prompt are read again for the summary, and the pieces for the next comparison.
    assert len(sessions[SMALL]) <= work.bytes_read <= 1.2 * len(sessions[SMALL])


@pytest.mark.parametrize("how", ["alone", "among many"])
def test_sync_with_nothing_new_reads_no_file_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    sessions, files = list(session_lines(20_000, seed=7)), []
    for number in range(30):
        file = tmp_path / f"{number:02}.jsonl"
        file.write_bytes(sessions[0].replace(b'"id":"', b'"id":"%02d' % number) + b"".join(sessions[1:]))
        files.append(file)
    with Store.open(tmp_path / "store.db", create=True) as store:
        assert all(isinstance(each, Synced) and each.outcome == "new" for each in sync_files(store, files, 0))
        with counted(store, monkeypatch) as work:  # which empties the log first
            before = files_of(tmp_path)
            if how == "alone":
                results = [sync_file(store, file, 1) for file in files]
            else:
                results = [each for each in sync_files(store, files, 1) if isinstance(each, Synced)]
                assert len(work.statements) <= 8
            assert note_absent(store, 1) == []
            assert files_of(tmp_path) == before
    assert [each.outcome for each in results] == ["unchanged"] * len(files)
    assert work.writes == []
    assert (work.rows_written, work.pages_written, work.bytes_read, work.commits) == (0, 0, 0, 0)
    assert files_of(tmp_path) == before  # closing, too


def test_first_sync_of_a_long_session_takes_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    write_session(file, 40_000_000, seed=5)
    environment = {**os.environ, "PIVCS_DIR": str(tmp_path / "store")}
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers.sync_memory", file],
        capture_output=True, check=True, env=environment, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    own, child = map(int, ran.stdout.split())
    assert 10_000_000 < own < 120_000_000
    assert child < 120_000_000
