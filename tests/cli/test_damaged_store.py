"""Bits flipped anywhere in a store: every command that reads gives what was written or says that it cannot."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pivcs.store.store import Store
from tests.builders import build_session, header_line
from tests.cli.conftest import Program, child_environment

DOCUMENTED = {0, 1, 10, 20, 30, 40}
SESSION = build_session("a-b-c-d, b-e-f, c-g", labels={"a": "good"})
LONG = build_session("-".join(f"n{at}" for at in range(300)), header=header_line("long"))


def damage(data: bytes, seed: int) -> bytes:
    """Return bytes of a store with one bit, many bits, bits of the first pages, or a whole page changed."""
    dice = random.Random(seed)
    changed = bytearray(data)
    kind = seed % 4
    if kind == 3:
        at = dice.randrange(len(data)) & ~4095
        changed[at : at + 4096] = bytes(4096)
    else:
        for _ in range((1, 20, 3)[kind]):
            changed[dice.randrange(16_384 if kind == 2 else len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store" / "store.db"


@pytest.fixture
def sessions(pivcs: Program, tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path, data in zip(paths, (SESSION, LONG), strict=True):
        path.write_bytes(data)
        assert pivcs("sync", "-q", path).code == 0
    assert pivcs("branch", "kept", "label:good", "-s", paths[0]).code == 0
    return paths


@pytest.mark.parametrize("first", range(0, 48, 8))
def test_no_flipped_bit_gives_other_bytes_or_a_traceback(
    pivcs: Program, sessions: tuple[Path, Path], store: Path, first: int
):
    small, long = sessions
    good = store.read_bytes()
    commands = [
        ["fsck", "--no-sources"], ["fsck"], ["cat", small], ["cat", long], ["log", long, "--oneline"],
        ["log", small, "--graph"], ["log", small, "--json"], ["ls", "--all"], ["status", small], ["branch", small],
        ["tag", small], ["show", small], ["context", small], ["op", "log"], ["reflog", "-s", small], ["gc"],
        ["store", "info"], ["gc", "--apply"], ["sync", "--full", small], ["undo"],
    ]  # fmt: skip
    for seed in range(first, first + 8):
        shutil.rmtree(store.parent)
        store.parent.mkdir()
        store.write_bytes(damage(good, seed))
        for command in commands:
            found = pivcs(*command)  # raises what is not meant for people
            assert found.code in DOCUMENTED, (seed, command, found.complaint)
            assert b"Traceback" not in found.err
            assert b"Exception ignored" not in found.err
            if command[0] == "cat" and not found.code:
                assert found.out == command[1].read_bytes(), (seed, command)
            if "pivcs: store" in found.complaint and found.code == 30:
                assert "hint: " in found.complaint


def test_error_that_no_damage_explains_is_not_hidden(
    pivcs: Program, sessions: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise IndexError("a mistake of ours")

    monkeypatch.setattr(Store, "table_of", fail)
    with pytest.raises(IndexError, match="a mistake of ours"):
        pivcs("log", sessions[0])


def test_error_that_damage_may_have_caused_is_told_as_damage(
    pivcs: Program, sessions: tuple[Path, Path], store: Path, monkeypatch: pytest.MonkeyPatch
):
    with Store.open(store) as opened, opened.writing() as connection:
        connection.execute("UPDATE branch SET row = 9999 + row")
    found = pivcs("branch", sessions[0])
    assert (found.code, "is damaged: branch-lost" in found.complaint) == (30, True)
    assert "hint: `pivcs fsck`" in found.complaint


def test_reader_that_stops_early_ends_a_check_quietly(pivcs: Program, tmp_path: Path):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(SESSION + b"{torn\n" * 5000)
    assert pivcs("sync", "-q", path).code == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "pivcs", "fsck", "--all"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=child_environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert (process.stderr.read(), process.wait(60)) == (b"", 141)
    process.stderr.close()


@pytest.mark.parametrize("blocks", [1, 16])
def test_limit_of_file_sizes_is_told_with_the_first_error(
    pivcs: Program, sessions: tuple[Path, Path], store: Path, blocks: int
):
    with sessions[0].open("ab") as file:
        file.write(b"\n")
    for command, code in (("sync", 20), ("log", 0)):
        found = subprocess.run(
            ["sh", "-c", f'ulimit -f {blocks}; exec "$0" -m pivcs {command} "$1"', sys.executable, sessions[0]],
            capture_output=True, env=child_environment(), timeout=60,
        )  # fmt: skip
        complaint = found.stderr.decode()
        assert (found.returncode, "cannot write store" in complaint) == (code, True), complaint
        assert "rollback" not in complaint
