"""The benchmark of the store runs, and what it feeds to the programs is what it takes it for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.generate import write_session
from benchmarks.growing import Growing
from benchmarks.peers.turns import split
from benchmarks.store_parts.bench import milliseconds, ratio
from benchmarks.store_parts.noop import fingerprint, write_sessions
from benchmarks.storing import PARTS, parts_of

ROOT = Path(__file__).parents[2]


def test_every_appended_line_is_an_answer_below_the_last_one(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    write_session(file, 50_000)
    before = file.read_bytes()
    growing = Growing(file)
    lengths = [growing.append() for _ in range(5)]
    lines = file.read_bytes().splitlines(keepends=True)
    assert [len(line) for line in lines[-5:]] == lengths
    assert all(1_800 < length < 2_500 for length in lengths)
    entries = [json.loads(line) for line in lines[-6:]]
    assert [entry["parentId"] for entry in entries[1:]] == [entry["id"] for entry in entries[:-1]]
    growing.append(back=2)
    assert json.loads(file.read_bytes().splitlines()[-1])["parentId"] == entries[-3]["id"]
    growing.cut()
    assert file.read_bytes() == before


def test_sessions_of_many_projects_differ_in_their_headers(tmp_path: Path) -> None:
    write_sessions(tmp_path, 50, 5_000)
    files = sorted(tmp_path.glob("*/*.jsonl"))
    headers = [json.loads(file.read_bytes().splitlines()[0]) for file in files]
    assert len({header["id"] for header in headers}) == 50
    assert len({file.parent for file in files}) == len({header["cwd"] for header in headers}) == 20
    assert all(4_500 < file.stat().st_size < 30_000 for file in files)


def test_fingerprint_sees_a_changed_byte_and_no_empty_log(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"abc")
    before = fingerprint(tmp_path)
    (tmp_path / "store.db-wal").touch()
    (tmp_path / "store.db-shm").write_bytes(b"shared")
    assert fingerprint(tmp_path) == before
    (tmp_path / "store.db").write_bytes(b"abd")
    assert fingerprint(tmp_path) != before
    (tmp_path / "store.db").write_bytes(b"abc")
    (tmp_path / "store.db-wal").write_bytes(b"frame")
    assert fingerprint(tmp_path) != before


@pytest.mark.parametrize("count", [1, 3, 10])
def test_turns_are_the_whole_session_in_pieces(count: int) -> None:
    lines = [b"%d\n" % number for number in range(10)]
    turns = split(lines, count)
    assert len(turns) == count
    assert b"".join(turns) == b"".join(lines)
    assert all(turns)


def test_ratio_keeps_digits_that_mean_something() -> None:
    assert [ratio(1, 2), ratio(1, 40), ratio(1, 3000), ratio(3, 2), ratio(1, None)] == [
        "0.50", "0.025", "1/3,000", "1.50", "",
    ]  # fmt: skip


def test_median_and_tail_are_milliseconds() -> None:
    assert milliseconds([number / 1000 for number in range(1, 102)]) == ("51.00", "96.00")


def test_unknown_part_is_refused() -> None:
    assert parts_of("log,first") == ["log", "first"]
    assert parts_of(",".join(PARTS)) == list(PARTS)
    with pytest.raises(ValueError, match="no part 'lag'"):
        parts_of("log,lag")


def test_tables_are_printed_for_every_size() -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.storing",
        "--without-pi",
        "--rounds=1",
        "--only=first,size",
        "50k",
        "90k",
    ]
    ran = subprocess.run(command, capture_output=True, check=True, cwd=ROOT, text=True)
    rows = [line.split(" | ") for line in ran.stdout.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows] == ["| size", "| 50k", "| 90k"] * 2
    assert len({len(row) for row in rows[:3]}) == len({len(row) for row in rows[3:]}) == 1
