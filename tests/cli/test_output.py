"""Colours, widths, encodings, pipes and pagers."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pivcs.render.width import columns_of
from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program, child_environment, process

COLOUR = re.compile("\x1b\\[[0-9;]*m")
EVIL = "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe \u200b\x00\b\x9b1mé日本😀"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    texts = {"a": "Fix the thing that is wrong, " * 9, "b": "日本語のテキスト" * 20, "c": EVIL}
    extra = [b"{torn \x1b[1m" + b"x" * 300 + b"\n", b'{"pending']
    path.write_bytes(build_session("a-b-c, b-d", texts=texts, labels={"c": EVIL, "d": "l" * 300}, extra=extra))
    return path


EVERY = [
    ["log"],
    ["log", "--oneline"],
    ["log", "--graph"],
    ["log", "--turns"],
    ["log", "--graph", "--turns"],
    ["show", "cccccccc", "aaaaaaaa"],
    ["show", "L8"],
    ["status"],
    ["ls"],
]


def run(pivcs: Program, arguments: list[str], path: Path, *more: str) -> str:
    found = pivcs(arguments[0], *more, path, *arguments[1:])
    assert found.code == 0
    return found.text


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_text_of_a_session_cannot_reach_the_terminal(pivcs: Program, tree: Path, arguments: list[str]):
    text = run(pivcs, arguments, tree)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b]", text)


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_colour_changes_nothing_but_colour(pivcs: Program, tree: Path, arguments: list[str]):
    plain = run(pivcs, arguments, tree)
    coloured = run(pivcs, arguments, tree, "--color=always")
    assert COLOUR.sub("", coloured) == plain
    assert coloured != plain
    for line in coloured.splitlines():
        assert not COLOUR.search(line) or line.rstrip().endswith("\x1b[0m") or "\x1b[0m" in line or "\x1b[m" in line


def test_colour_only_where_it_is_wanted(pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch):
    assert "\x1b" not in pivcs("log", tree).text
    assert "\x1b" not in pivcs("log", "--color=never", tree).text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in pivcs("log", "--color=auto", tree).text
    assert "\x1b" in pivcs("log", "--color=always", tree).text


@pytest.mark.parametrize("columns", [40, 80, 140])
@pytest.mark.parametrize("arguments", [a for a in EVERY if a[0] not in ("show", "status")], ids=" ".join)
def test_lines_fit_the_terminal(
    pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], columns: int
):
    monkeypatch.setenv("COLUMNS", str(columns))
    for line in run(pivcs, arguments, tree).splitlines():
        assert columns_of(line) <= columns, line


@pytest.mark.parametrize("columns", ["1", "0", "", "-5", "wide", "9" * 30])
def test_strange_widths_are_survived(pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch, columns: str):
    monkeypatch.setenv("COLUMNS", columns)
    for arguments in EVERY:
        assert run(pivcs, arguments, tree)


def test_nothing_is_cut_in_a_pipe(pivcs: Program, tree: Path):
    assert max(map(len, pivcs("log", "--oneline", tree).lines)) > 160


def test_times_are_local_unless_utc_is_asked_for(pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "XXX-5")
    time.tzset()
    try:
        assert "2026-01-01 05:00" in pivcs("log", tree).text
        assert "2026-01-01 00:00" in pivcs("log", "--utc", tree).text
        assert "2026-01-01T00:00:01.000Z" in pivcs("log", "--json", tree, "aaaaaaaa").text
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "environ", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "cp1252"}]
)
def test_text_that_the_encoding_lacks_is_written_out(tmp_path: Path, environ: dict[str, str]):
    path = tmp_path / "sitzung-😀-日本.jsonl"
    path.write_bytes(build_session("a-b", texts={"a": "Hello 😀 日本"}, labels={"a": "prima 😀"}))
    for arguments in (
        ["log", path],
        ["log", "--graph", path, "prima 😀"],
        ["show", path, "aaaaaaaa"],
        ["status", path],
        ["ls", path],
        ["log", "--json", path],
    ):
        found = process(*arguments, environ=environ)
        assert (found.returncode, found.stderr) == (0, b"")
        assert found.stdout
    shown = process("show", path, "aaaaaaaa", environ=environ).stdout
    assert b"Hello \\u{1f600} \\u{65e5}\\u{672c}" in shown
    missing = process("log", tmp_path / "keine-😀.jsonl", environ=environ)
    assert missing.returncode == 10
    assert b"keine-" in missing.stderr
    assert b"Traceback" not in missing.stderr


def test_file_whose_name_is_no_text(tmp_path: Path):
    path = os.fsencode(tmp_path) + b"/bad-\xff.jsonl"
    Path(os.fsdecode(path)).write_bytes(build_session("a"))
    for arguments in (["log"], ["status"], ["ls"], ["status", "--json"], ["ls", "--json"]):
        found = process(*arguments, path)
        assert (found.returncode, found.stderr) == (0, b"")
    assert b"Traceback" not in process("log", path + b"x.jsonl").stderr


def test_closed_pipe_ends_quietly(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(header_line() + b"".join(message_line(f"{at:08x}", content="x" * 200) for at in range(5_000)))
    for arguments in ("log --all", "log --all --oneline", "log --graph", "log --json --all", "ls"):
        command = f'"{sys.executable}" -m pivcs {arguments} "{path}" | head -c 1; echo "${{PIPESTATUS[0]}}"'
        found = subprocess.run(["bash", "-c", command], capture_output=True, env=child_environment(), timeout=60)
        assert found.stderr == b""
        code = found.stdout[1:].decode().strip()
        assert code in ("141", "0"), arguments
        if arguments != "ls":
            assert code == "141", arguments


def test_interrupt_ends_quietly_with_130(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(header_line() + b"".join(message_line(f"{at:08x}", content="x" * 200) for at in range(20_000)))
    assert interrupted(["log", "--all", str(path)]) == (130, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["log", "-s", "{odd}.jsonl"],
        ["log", "FILE", "{odd}"],
        ["log", "-s", "{odd}"],
        ["log", "FILE", "--{odd}"],
        ["label", "-d", "FILE", "{odd}"],
        ["new", "--user", "x", "--id", "{odd}"],
        ["new", "--user", "x", "--cwd", "{odd}"],
        ["-C", "{odd}", "log"],
        ["{odd}"],
    ],
)
def test_errors_quote_what_was_typed_in_one_line(pivcs: Program, tmp_path: Path, arguments: list[str]) -> None:
    odd = "no\nhint: \x1b[31msuch\u202e"
    file = tmp_path / "s.jsonl"
    file.write_bytes(build_session("a-b"))
    done = pivcs(*[str(file) if word == "FILE" else word.format(odd=odd) for word in arguments])
    assert done.code in (2, 10)
    assert "hint: ^[[31m" in done.complaint or "hint: \\x1b[31m" in done.complaint
    assert "\x1b" not in done.complaint
    assert "\u202e" not in done.complaint
    assert not [line for line in done.complaint.splitlines() if line.startswith("hint: ^[")]


def test_places_in_expressions_are_shown_below_them(pivcs: Program, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(build_session("a-b"))
    lines = pivcs("log", file, "role(user").complaint.splitlines()
    assert lines[1:3] == ["  role(user", "      ^"]


def interrupted(arguments: list[str]) -> tuple[int, bytes]:
    """Exit code and complaint of a run that is interrupted when it has begun to write."""
    # A shell that runs the tests in the background has them ignore interrupts, which the child would inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "pivcs", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(),
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.stdout is not None
    child.stdout.read(1)
    child.send_signal(signal.SIGINT)
    _, complaint = child.communicate(timeout=60)
    return child.returncode, complaint.strip()


def on_a_terminal(arguments: list[str], environ: dict[str, str]) -> bytes:
    """What a run writes to a terminal of its own."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "pivcs", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=child_environment({"TERM": "xterm"} | environ),
    )
    os.close(follower)
    written = b""
    try:
        while select.select([leader], [], [], 30)[0]:
            try:
                piece = os.read(leader, 65_536)
            except OSError:
                break
            if not piece:
                break
            written += piece
    finally:
        os.close(leader)
        child.wait(timeout=60)
    assert child.returncode == 0
    return written


def test_pager_gets_coloured_text_on_a_terminal(tmp_path: Path, tree: Path):
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "paged with $LESS"\nexec cat\n')
    pager.chmod(0o700)
    environ = {"PAGER": str(pager), "COLUMNS": "80"}
    paged = on_a_terminal(["log", str(tree)], environ)
    assert b"paged with FRX" in paged
    assert b"\x1b[" in paged
    for arguments in (["log", "--no-pager", str(tree)], ["log", "--json", str(tree)]):
        assert b"paged" not in on_a_terminal(arguments, environ)
    for value in ("cat", ""):
        assert b"paged" not in on_a_terminal(["log", str(tree)], environ | {"PAGER": value})


def test_terminal_gets_colours_and_its_own_width(tree: Path):
    written = on_a_terminal(["log", "--oneline", str(tree)], {"PAGER": "cat"}).decode()
    assert COLOUR.search(written)
    assert all(columns_of(COLOUR.sub("", line)) <= 80 for line in written.splitlines())
    assert not COLOUR.search(on_a_terminal(["log", str(tree)], {"PAGER": "cat", "NO_COLOR": "1"}).decode())


def test_pager_that_is_quit_at_once_is_no_error(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(header_line() + b"".join(message_line(f"{at:08x}", content="x" * 200) for at in range(5_000)))
    written = on_a_terminal(["log", "--all", str(path)], {"PAGER": "true"})
    assert b"Traceback" not in written
