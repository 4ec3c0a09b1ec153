"""What the shell completes: names and ids, quickly and without a word when there is nothing to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import build_session
from tests.cli.conftest import Program, process


def completed(place: Path, typed: str, *, shell: str = "bash") -> tuple[list[str], bytes]:
    """Return the proposals for the last word of a command line, and what was said beside them."""
    words = typed.split(" ")
    found = process(
        environ={
            "_PIVCS_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(words) - 1),
        },
        cwd=place,
    )
    lines = [line for line in found.stdout.decode().splitlines() if line]
    return [line.partition(",")[2] for line in lines] if shell == "bash" else lines, found.stderr


@pytest.fixture
def place(tmp_path: Path, pivcs: Program) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c, b-d", labels={"c": "good one", "d": "main thing"}))
    assert pivcs("tag", path, "v1").code == 0
    assert pivcs("branch", path, "feature/x").code == 0
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pivcs log s.jsonl ma", ["main", "'main thing'"]),
        ("pivcs log s.jsonl b-", ["b-dddddddd"]),
        ("pivcs log s.jsonl go", ["'good one'"]),
        ("pivcs show s.jsonl v", ["v1"]),
        ("pivcs show s.jsonl cc", ["cccccccc"]),
        ("pivcs branch s.jsonl -d fea", ["feature/x"]),
        ("pivcs log s.jsonl main..fea", ["main..feature/x"]),
        ("pivcs log -s s.jsonl HE", ["HEAD"]),
        ("pivcs tag s.jsonl zzz", []),
        ("pivcs lo", ["log"]),
    ],
)
def test_proposals(place: Path, typed: str, expected: list[str]):
    assert completed(place, typed) == (expected, b"")


def test_shells_that_quote_get_names_as_they_are(place: Path):
    found, said = completed(place, "pivcs log s.jsonl go", shell="zsh")
    assert found[:3] == ["plain", "good one", "label"]
    assert said == b""


def test_files_are_left_to_the_shell(place: Path):
    assert completed(place, "pivcs log s.j")[0] == ["s.j"]


def test_sessions_are_completed_by_id(place: Path):
    found, said = completed(place, "pivcs log -s 019b")
    assert (found, said) == (["019b7715-9000-7000-8000-000000000001"], b"")


@pytest.mark.parametrize(
    "typed", ["pivcs log x", "pivcs log nothing.jsonl x", "pivcs log -s nobody x", "pivcs show -s "]
)
def test_without_a_session_nothing_is_proposed_and_nothing_said(tmp_path: Path, typed: str):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert completed(empty, typed) == ([], b"")


def test_damaged_store_is_no_reason_to_say_anything(place: Path, tmp_path: Path):
    (tmp_path / "home" / "store" / "store.db").write_bytes(b"no database")
    found, said = completed(place, "pivcs log s.jsonl b-")
    assert said == b""
    assert set(found) <= {"b-dddddddd"}
