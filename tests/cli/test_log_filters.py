"""What a log can be about, and be narrowed to; turns and ranges that are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import (
    CLOCK,
    build_session,
    header_line,
    label_line,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.cli.conftest import Program

DAY = 86_400_000


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Two days of work, the second of them on two branches."""
    path = tmp_path / "work.jsonl"
    day = CLOCK + DAY
    write = {"path": "src/price.py", "content": "x"}
    path.write_bytes(
        header_line()
        + message_line("00000001", None, "user", "Prices are wrong.", ms=CLOCK)
        + tool_call_line("00000002", "00000001", "write", write, ms=CLOCK + 1000)
        + tool_result_line("00000003", "00000002", "write", "ok", call_id="call_00000002", ms=CLOCK + 2000)
        + message_line("00000004", "00000003", "assistant", "Done with PRICES.", ms=CLOCK + 3000)
        + message_line("00000005", "00000004", "user", "Test it.", ms=day)
        + tool_call_line("00000006", "00000005", "bash", {"command": "pytest"}, ms=day + 1000)
        + tool_result_line("00000007", "00000006", "bash", "1 failed", is_error=True, ms=day + 2000)
        + message_line("00000008", "00000004", "user", "Leave it.", ms=day + 3000)
        + message_line("00000009", "00000008", "assistant", "As you wish.", ms=day + 4000)
        + label_line("1abe0000", "00000009", "00000004", "first day", ms=day + 5000)
    )
    return path


def ids(pivcs: Program, path: Path, *arguments: object) -> str:
    """Return the last letters of the ids that a log shows."""
    found = pivcs("log", "--format", "{id}", path, *arguments)
    assert found.code == 0, found.complaint
    return " ".join(line.lstrip("0") for line in found.lines)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "1abe0000 9 8 4 3 2 1"),
        (["--all"], "1abe0000 9 8 7 6 5 4 3 2 1"),
        (["--role", "user"], "8 1"),
        (["--role", "USER", "--all"], "8 5 1"),
        (["--role", "user", "--role", "assistant"], "9 8 4 2 1"),
        (["--role", "user", "--grep", "wrong"], "1"),
        (["--type", "label"], "1abe0000"),
        (["--tool", "write"], "3 2"),
        (["--tool", "b*", "--all"], "7 6"),
        (["--file", "src/*.py", "--all"], "2"),
        (["--file", "price.py", "--all"], "2"),
        (["--grep", "prices", "--all"], ""),
        (["--grep", "prices", "-i", "--all"], "4 1"),
        (["--grep", "^Leave", "--grep", "wish"], "9 8"),
        (["--errors"], ""),
        (["--errors", "--all"], "7"),
        (["--since", "2026-01-02", "--utc"], "1abe0000 9 8"),
        (["--until", "2026-01-01T00:00:02Z"], "2 1"),
        (["--since", "2026-01-01T00:00:02Z", "--until", "2026-01-02T00:00:00Z"], "4 3"),
        (["-n", "1", "--role", "user"], "8"),
        (["-n", "2", "--role", "user", "--all", "--reverse"], "5 8"),
        (["main"], "7 6 5 4 3 2 1"),
        (["main", "--errors"], "7"),
        (["HEAD..main"], "7 6 5"),
        (["main...HEAD"], "1abe0000 9 8 7 6 5"),
        (["error() | tool(write)"], "7 3 2"),
        (["role(user) & not ancestors(main)"], "8"),
        (["first day"], "4 3 2 1"),
        ([":/Leave it"], "8 4 3 2 1"),
    ],
)
def test_scope_and_filters(pivcs: Program, work: Path, arguments: list[str], expected: str):
    assert ids(pivcs, work, *arguments) == expected


def test_documents_and_turns_are_filtered_too(pivcs: Program, work: Path):
    document = pivcs("log", "--json", work, "--role", "user").json
    assert [entry["entry"][-1] for entry in document["entries"]] == ["8", "1"]
    turns = pivcs("log", "--turns", "--json", "--all", work, "--tool", "write").json["turns"]
    assert [turn["last"][-1] for turn in turns] == ["4"]


def test_graph_of_chosen_entries_keeps_its_shape(pivcs: Program, work: Path):
    assert pivcs("log", "--graph", work, "--role", "user").lines == [
        "* 00000008 user: Leave it.",
        "| * 00000005 user: Test it.",
        "|/",
        ": (3 entries)",
        "* 00000001 user: Prices are wrong.",
    ]
    assert pivcs("log", "--graph", work, "HEAD..main").lines == [
        f"* {pivcs('log', '--oneline', work, 'main').lines[0]}",
        "* 00000006 assistant: bash pytest",
        "* 00000005 user: Test it.",
        "~",
    ]
    assert pivcs("log", "--graph", "--format", "{id:.8}", work, "--errors").lines == ["* 00000007", "~"]
    assert pivcs("log", "--graph", "--turns", work, "--tool", "write").lines[0].startswith("* 00000004")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--since", "whenever"], 10, "'whenever' is no date"),
        (["--grep", "("], 10, "'(' is no regular expression"),
        (["--format", "{nope}"], 10, "there is no field 'nope'"),
        (["nobody"], 10, "no branch, tag, label, entry or object id 'nobody'"),
        (["first dya"], 10, "'first dya'"),
        (["role(user) &"], 10, "role(user) &"),
        (["--all", "main"], 2, "--all and 'main' do not go together"),
        (["--format", "x", "--json"], 2, "--format does not go with"),
    ],
)
def test_what_cannot_be_done_is_told(pivcs: Program, work: Path, arguments: list[str], code: int, said: str):
    found = pivcs("log", work, *arguments)
    assert (found.code, found.out) == (code, b"")
    assert said in found.complaint


def shown(pivcs: Program, path: Path, *arguments: object) -> list[str]:
    return [line[13] for line in pivcs("show", path, *arguments).lines if line.startswith("entry 0")]


def test_turns_ranges_and_sets_are_shown_oldest_first(pivcs: Program, work: Path):
    for inside in ("00000001", "00000002", "first day"):
        assert shown(pivcs, work, "--turn", inside) == ["1", "2", "3", "4"]
    assert shown(pivcs, work, "--turn", "00000005") == ["5", "6", "7"]
    assert shown(pivcs, work, "HEAD..main") == ["5", "6", "7"]
    assert shown(pivcs, work, "error()", "main~1") == ["7", "6"]
    assert shown(pivcs, work, "--turn", "error()") == ["5", "6", "7"]
    document = pivcs("show", "--json", work, "role(user)").json
    assert [entry["entry"][-1] for entry in document["entries"]] == ["1", "5", "8"]
    assert pivcs("show", "--turn", "--raw", work, "first day").out == b"".join(
        work.read_bytes().splitlines(keepends=True)[1:5]
    )
    found = pivcs("show", "--turn", work, "HEAD")
    assert (found.code, "is in no turn" in found.complaint) == (10, True)


def test_turn_that_was_tried_twice_is_followed_to_head(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c, a-d-e", kinds={"b": "tool", "d": "tool", "c": "result", "e": "assistant"}))
    text = pivcs("show", "--turn", path, "aaaaaaaa").text
    assert [line for line in text.splitlines() if line.startswith("entry")] == [
        "entry aaaaaaaa", "entry dddddddd", "entry eeeeeeee (HEAD -> b-dddddddd)",
    ]  # fmt: skip


def test_argument_with_slashes_may_be_a_name(pivcs: Program, work: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(work.parent)
    pivcs("branch", work, "feature/x")
    assert pivcs("log", "--oneline", "work.jsonl", "feature/x").code == 0
    assert pivcs("log", "--oneline", "work.jsonl", "main..feature/x").code == 0
    assert ids(pivcs, work, 'file("src/*")') == "2"
    found = pivcs("log", "work.jsonl", "sub/nothing")
    assert "no branch, tag, label, entry or object id 'sub/nothing'" in found.complaint
    assert "cannot read" in pivcs("log", "./sub/nothing").complaint
    assert "cannot read" in pivcs("log", "sub/nothing.jsonl").complaint
