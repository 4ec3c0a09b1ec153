from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session import listitem
from pivcs.session.listitem import PIECE, Listed, NotListed, iter_lines, list_item, read_header
from tests.builders import CLOCK, CWD, SESSION_ID, build_session, entry_line, header_line, message_line

TEXT = {"type": "text"}


def item(tmp_path: Path, data: bytes) -> Listed:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    os.utime(path, (7, 7))
    return list_item(path)


def test_item_counts_all_branches_and_joins_texts_in_file_order(tmp_path: Path) -> None:
    found = item(tmp_path, build_session(
        "a-b-c, b-d-e", kinds={"c": "bash", "d": "system", "e": "custom_message"}, extra=[
            entry_line("session_info", "n", ms=CLOCK + 99_000, name=" Name "),
        ],
    ))
    assert found == Listed(
        path=tmp_path / "x.jsonl", id=SESSION_ID, cwd=CWD, parent_session=None, name="Name", created=CLOCK,
        modified=CLOCK + 2000, message_count=4, first_message="a", all_messages_text="a b",
    )


def test_first_message_is_the_user_s_first_that_has_text(tmp_path: Path) -> None:
    lines = [
        message_line("a", content=[{"type": "image"}]), message_line("b", role="assistant", content="answer"),
        message_line("c", content=[TEXT | {"text": "one"}, TEXT, 5, TEXT | {"text": "2"}]),
    ]
    found = item(tmp_path, header_line() + b"".join(lines))
    assert (found.first_message, found.all_messages_text) == ("one  2", "answer one  2")


def test_session_without_messages_says_so(tmp_path: Path) -> None:
    found = item(tmp_path, header_line(parentSession="/p.jsonl"))
    assert (found.first_message, found.message_count, found.modified) == ("(no messages)", 0, CLOCK)
    assert found.parent_session == "/p.jsonl"


@pytest.mark.parametrize(("stamps", "modified"), [
    (["2026-01-01T00:00:05.000Z", 1000], CLOCK + 5000),
    (["2026-01-01T00:00:05.000Z", CLOCK + 9000], CLOCK + 9000),
    (["never"], CLOCK),
    ([0], CLOCK),
    ([-5.5], CLOCK),
])
def test_activity_is_the_latest_message_time(tmp_path: Path, stamps: list[object], modified: int) -> None:
    lines = [
        entry_line("message", "a", message={"role": "user", "content": "x", "timestamp": stamp})
        if not isinstance(stamp, str)
        else entry_line("message", "a", message={"role": "user", "content": "x"}).replace(
            b"2026-01-01T00:00:00.000Z", stamp.encode()
        )
        for stamp in stamps
    ]
    assert item(tmp_path, header_line() + b"".join(lines)).modified == modified


def test_file_time_counts_when_nothing_else_can_be_read(tmp_path: Path) -> None:
    found = item(tmp_path, b'{"type":"session"}\n')
    assert (found.modified, found.created, found.id, found.cwd) == (7000, None, None, "")


@pytest.mark.parametrize("line", [
    b'{"type":"message"}', b'{"type":"message","message":null}',
    b'{"type":"message","message":{"role":"user","content":null}}',
    b'{"type":"message","message":{"role":"assistant","content":{}}}',
    b'{"type":"message","message":{"role":"user","content":[null]}}',
    b'{"type":"session_info","name":5}',
])
def test_one_value_of_a_wrong_shape_hides_the_session(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(NotListed) as left_out:
        item(tmp_path, build_session("a-b") + line + b"\n")
    assert left_out.value.reason


@pytest.mark.parametrize("line", [
    b'{"type":"message","message":5}', b'{"type":"message","message":{"role":"user"}}',
    b'{"type":"message","message":{"role":"toolResult","content":null}}',
    b'{"type":"session_info"}', b'{"type":"session_info","name":null}', b"5", b"[]", b"null", b"broken",
])
def test_other_odd_values_do_not(tmp_path: Path, line: bytes) -> None:
    assert item(tmp_path, build_session("a-b") + line + b"\n").all_messages_text == "a b"


@pytest.mark.parametrize("data", [b"", b"\n", b"text\n", b"5\n" + header_line(), b"\xef\xbb\xbf" + header_line()])
def test_file_without_header_is_left_out(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(NotListed, match="no session header"):
        item(tmp_path, data)


def test_cr_ends_a_line_in_the_list_but_not_for_continue(tmp_path: Path) -> None:
    data = build_session("a-b").replace(b"\n", b"\r")
    assert item(tmp_path, data).message_count == 2
    assert read_header(tmp_path / "x.jsonl") is None


@given(st.text("ab\r\n", max_size=30), st.integers(1, 5))
def test_lines_do_not_depend_on_the_pieces(text: str, size: int) -> None:
    data = text.encode()
    stream = io.BytesIO(data)
    lines = list(iter_lines(lambda _: stream.read(size)))
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not expected[-1]:
        expected.pop()
    assert lines == [line.encode() for line in expected]


def test_header_is_found_behind_bad_lines_and_with_a_long_cwd(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"// note\n\n" + header_line(cwd="/" + "x" * 5000) + message_line("a"))
    header = read_header(path)
    assert header is not None
    assert len(str(header["cwd"])) == 5001


def test_header_without_line_end_is_found_in_a_small_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(header_line()[:-1])
    assert read_header(path) is not None


def test_header_is_looked_for_in_the_first_mib_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    line = header_line()
    path.write_bytes(b"x" * (PIECE - len(line) - 1) + b"\n" + line)
    assert read_header(path) is not None
    path.write_bytes(b"x" * (PIECE - len(line)) + b"\n" + line)
    assert read_header(path) is None
    assert list_item(path).id == SESSION_ID
    monkeypatch.setattr(listitem, "PIECE", 64)
    assert read_header(path) is None
