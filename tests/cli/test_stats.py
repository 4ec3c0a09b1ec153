from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from pivcs.ops.demo import write_demo
from tests.builders import CLOCK, build_session, header_line, message_line
from tests.cli.conftest import Program, process


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "demo.jsonl"
    write_demo(tmp_path).rename(path)
    return path


def forked(directory: Path) -> list[Path]:
    """Write a session of ten entries, and a fork of it that has one more."""
    parent, fork = directory / "parent.jsonl", directory / "fork.jsonl"
    parent.write_bytes(build_session("a-b-c-d-e-f-a1-b1-c1-d1", header=header_line("parent")))
    entries = parent.read_bytes().split(b"\n", 1)[1]
    more = message_line("0f000000", "d1000000", "assistant", "more", ms=CLOCK + 99_000)
    fork.write_bytes(header_line("fork", ms=CLOCK + 50_000, parentSession=str(parent)) + entries + more)
    return [parent, fork]


def test_copies_in_a_fork_count_once_and_are_shown_with_each_session(tmp_path: Path, pivcs: Program):
    """case 45"""
    for files in (forked(tmp_path), [*reversed(forked(tmp_path))]):
        told = pivcs("stats", "--json", "--by", "session", *files).json
        assert (told["sessions"], told["copies"], told["total"]["entries"]) == (2, 10, 11)
        found = {group["id"]: (group["total"]["entries"], group["copies"]) for group in told["groups"]}
        assert found == {"parent": (10, 0), "fork": (11, 10)}
    lines = pivcs("stats", *files).lines
    assert lines[0] == "2 sessions"
    assert lines[-1] == "* 10 entries are copies from another session, counted once"


def test_sessions_of_pi_are_all_counted_also_those_that_are_gone(tmp_path: Path, pivcs: Program):
    folder = tmp_path / "home" / ".pi" / "agent" / "sessions" / "--home-dev-project--"
    folder.mkdir(parents=True)
    parent, _ = forked(folder)
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_bytes(build_session("x-y-z", header=header_line("elsewhere")))
    gone = tmp_path / "gone.jsonl"
    gone.write_bytes(build_session("u-v", header=header_line("gone")))
    assert pivcs("sync", "-q", elsewhere, gone, parent).code == 0
    gone.unlink()
    told = pivcs("stats", "--all", "--json").json
    assert (told["sessions"], told["copies"], told["total"]["entries"]) == (4, 10, 16)
    assert pivcs("stats", "--json", folder).json["total"]["entries"] == 11


def test_no_session_at_all_is_an_error(tmp_path: Path, pivcs: Program):
    result = pivcs("stats", "--all")
    assert (result.code, result.out) == (10, b"")
    assert "no session in any project" in result.complaint
    assert pivcs("stats", tmp_path / "home").code == 10


def test_what_cannot_be_read_is_told_and_the_rest_counted(demo: Path, tmp_path: Path, pivcs: Program):
    result = pivcs("stats", demo, tmp_path / "none.jsonl", "--json")
    assert (result.code, result.json["sessions"], result.json["total"]["entries"]) == (10, 1, 27)
    assert "none.jsonl" in result.complaint


def test_a_session_named_twice_counts_once(demo: Path, tmp_path: Path, pivcs: Program):
    for names in ((demo, "demo.jsonl"), (demo, tmp_path), ("./demo.jsonl", "019b7715")):
        told = pivcs("stats", "--json", "--by", "session", *names).json
        assert (told["sessions"], told["copies"]) == (1, 0)
        assert [group["total"]["entries"] for group in told["groups"]] == [27]


def test_csv_has_the_numbers_of_json(demo: Path, pivcs: Program):
    told = pivcs("stats", "--by", "model", "--json", demo).json
    rows = list(csv.DictReader(pivcs("stats", "--by", "model", "--csv", demo).lines))
    assert len(rows) == len(told["groups"]) == 2
    for row, group in zip(rows, told["groups"], strict=True):
        assert row["name"] == (group["name"] or "")
        for name, value in group["total"].items():
            assert row[name] == str(value)
        for name in ("entries", "cost", "tokens"):
            assert row[f"abandoned_{name}"] == str(group["abandoned"][name])
    (whole,) = csv.DictReader(pivcs("stats", "--csv", demo).lines)
    assert (whole["entries"], whole["tokens"], "name" in whole) == ("27", "37890", False)


@pytest.mark.parametrize("form", [[], ["--csv"]])
def test_names_move_no_cursor_and_are_no_formulas(tmp_path: Path, pivcs: Program, form: list[str]):
    path = tmp_path / "s.jsonl"
    call = {"type": "toolCall", "id": "1", "name": "=1+1\x1b[2J\n\u202e", "arguments": {}}
    path.write_bytes(header_line("s") + message_line("00000001", None, "assistant", [call]))
    text = pivcs("stats", "--by", "tool", *form, path).text
    assert "=1+1^[[2J" in text
    assert not set("\x1b\u202e") & set(text)
    if form:
        assert next(csv.DictReader(text.splitlines()))["name"].startswith("'=")


def test_dates_narrow_it_down(demo: Path, pivcs: Program):
    asked = pivcs("stats", "--json", demo, "--since", "2026-01-01T00:01:00Z", "--until", "2026-01-01T00:02:00Z").json
    assert (asked["since"], asked["until"]) == ("2026-01-01T00:01:00.000Z", "2026-01-01T00:02:00.000Z")
    assert 0 < asked["total"]["entries"] < 27
    assert pivcs("stats", "--since", "soon", demo).code == 10


def test_bars_are_made_of_what_the_encoding_has(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    lines = [message_line(f"0000000{n}", None, "assistant", ms=CLOCK + n * 86_400_000) for n in range(2)]
    path.write_bytes(header_line("s") + b"".join(lines))
    shown = [
        process("stats", "--by", "day", path, environ={"COLUMNS": "100", "PYTHONIOENCODING": encoding}).stdout
        for encoding in ("ascii", "utf-8")
    ]
    assert "#" * 24 in shown[0].decode("ascii")
    assert "█" * 24 in shown[1].decode()


def test_the_latest_session_of_the_project_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pivcs: Program):
    project = Path(os.path.realpath(tmp_path)) / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    folder = tmp_path / "home" / ".pi" / "agent" / "sessions" / f"--{str(project).strip('/').replace('/', '-')}--"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_bytes(build_session("a-b", header=header_line("mine", cwd=str(project))))
    assert pivcs("stats").lines[0] == "mine  a"
    assert pivcs("stats", "mine").lines == pivcs("stats", "-s", "mine").lines == pivcs("stats").lines
