from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.demo import write_demo
from pivcs.ops.view import SessionView
from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "demo.jsonl"
    write_demo(tmp_path).rename(path)
    return path


def test_hits_name_entry_branch_and_line(demo: Path, pivcs: Program):
    assert pivcs("grep", "^Try|TypeError", demo).lines == [
        "cc623a9b main tool result:1: E   TypeError: Object of type Decimal is not JSON serializable",
        "08d12dfd b-08d12dfd user:1: Try whole cents instead.",
    ]


def test_nothing_found_is_told_by_the_exit_code(demo: Path, pivcs: Program):
    result = pivcs("grep", "nowhere", demo)
    assert (result.code, result.out) == (1, b"")
    assert pivcs("grep", "-c", "nowhere", demo).lines == ["0"]


def test_a_revision_range_and_set_narrow_it_down(demo: Path, pivcs: Program):
    assert len(pivcs("grep", "-l", "cents", demo).lines) == 6
    assert pivcs("grep", "-l", "cents", demo, "main").lines == ["b54cda26"]
    assert pivcs("grep", "-l", "cents", demo, "main..HEAD & role(user)").lines == ["08d12dfd"]


def test_kinds_counts_words_and_cases(demo: Path, pivcs: Program):
    assert pivcs("grep", "-c", "DECIMAL", demo).lines == ["0"]
    assert pivcs("grep", "-ci", "DECIMAL", demo).lines == ["6"]
    assert pivcs("grep", "-ciw", "DECIMAL", demo).lines == ["5"]
    assert pivcs("grep", "-c", "--in", "thinking,result", "Decimal", demo).lines == ["1"]
    assert pivcs("grep", "-c", "-F", "sum(", demo).lines == ["3"]
    assert pivcs("grep", "-m", "1", "cents", demo).lines[0].startswith("b54cda26")
    assert "'speech' is none of text" in pivcs("grep", "--in", "speech", "x", demo).complaint


def test_context_is_shown_as_grep_does(demo: Path, pivcs: Program):
    assert pivcs("grep", "-A1", "def euros", demo).lines == [
        "e3779b10 b-08d12dfd assistant tool:1: def euros(cents):",
        "e3779b10 b-08d12dfd assistant tool-2-     return f'{cents / 100:.2f}'",
    ]


def test_all_sessions_are_searched_also_those_that_are_gone(demo: Path, tmp_path: Path, pivcs: Program):
    gone = tmp_path / "gone.jsonl"
    gone.write_bytes(build_session("a-b", header=header_line("gone"), texts={"b": "whole cents"}))
    assert pivcs("sync", "-q", demo, gone).code == 0
    gone.unlink()
    result = pivcs("grep", "--all", "-c", "cents")
    assert sorted(result.lines) == [f"{demo}:7", f"{gone}:1"]
    assert f"{gone}::bbbbbbbb" in pivcs("grep", "--all", "-l", "cents").lines
    assert {hit["session"] for hit in pivcs("grep", "--all", "--json", "cents").json["hits"]} == {str(demo), str(gone)}


def test_control_characters_are_visible_and_long_lines_cut_around_the_match(
    tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "odd.jsonl"
    text = "\x1b[31m" + "x" * 500 + " needle \u202e" + "y" * 500
    path.write_bytes(header_line() + message_line("aaaaaaaa", None, content=text))
    monkeypatch.setenv("COLUMNS", "60")
    (line,) = pivcs("grep", "needle", path).lines
    assert len(line) <= 60
    assert "needle <U+202E>" in line
    assert line.endswith("…")
    assert "\x1b" not in line
    assert "^[[31m" in pivcs("grep", "31m", path).lines[0]


def test_matches_are_marked_in_colour(demo: Path, pivcs: Program):
    assert b"Try whole \x1b[1;31mcents\x1b[m instead." in pivcs("grep", "--color", "always", "cents", demo).out


def test_a_bad_pattern_and_options_that_do_not_fit_are_refused(demo: Path, pivcs: Program):
    assert pivcs("grep", "(", demo).code == 10
    assert pivcs("grep", "x", demo, "main", "HEAD").code == 2
    assert pivcs("grep", "--all", "x", demo).code == 2
    assert pivcs("grep", "-c", "--json", "x", demo).code == 2
    assert pivcs("grep", "-c", "-l", "x", demo).code == 2


def test_sessions_alone_are_named(demo: Path, tmp_path: Path, pivcs: Program):
    other = tmp_path / "other.jsonl"
    other.write_bytes(build_session("a-b", header=header_line("other")))
    assert pivcs("sync", "-q", demo, other).code == 0
    assert pivcs("grep", "--all", "--sessions-with-matches", "cents").lines == [str(demo)]
    assert pivcs("grep", "--sessions-with-matches", "nowhere", demo).code == 1


def test_a_session_that_cannot_be_searched_is_a_failure(demo: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    missing = demo.with_name("missing.jsonl")
    monkeypatch.setattr("pivcs.cli.grep.all_files", lambda _: [missing, demo])
    result = pivcs("grep", "--all", "-c", "cents")
    assert result.lines == [f"{demo}:7"]
    assert "missing.jsonl" in result.complaint
    assert result.code == 10


def test_a_revision_opens_the_session_once(demo: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    from pivcs.cli import grep as command

    opened: list[str | None] = []
    real = command.open_session

    def noted(session: str | None) -> SessionView:
        opened.append(session)
        return real(session)

    monkeypatch.setattr(command, "open_session", noted)
    assert pivcs("grep", "-l", "cents", demo, "main").lines == ["b54cda26"]
    assert opened == [str(demo)]


def test_entries_too_long_to_be_parsed_are_told(demo: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pivcs.ops.grep.SHOWN_WHOLE", 300)
    result = pivcs("grep", "-c", "cents", demo)
    assert result.lines == ["7"]
    assert "of more than 64 MiB" in result.complaint
    assert "not searched" in result.complaint
