"""What is said about a session as a whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.errors import InputError
from pivcs.ops.view import open_file
from pivcs.session.source import SourceNotReadable
from tests.builders import build_session, header_line, label_line, message_line, tool_call_line, tool_result_line
from tests.ops.views import name_of, view_of


def labels(data: bytes) -> dict[str, str]:
    view = view_of(data)
    return {name_of(view, row): label for row, label in view.labels.items()}


def test_last_label_of_an_entry_wins_on_whatever_branch_it_is():
    data = build_session("a-b, a-c", labels={"b": "one"})
    data += label_line("1abe0009", "cccccccc", "bbbbbbbb", "two") + label_line("1abe000a", None, "aaaaaaaa", "root")
    assert labels(data) == {"bbbbbbbb": "two", "aaaaaaaa": "root"}
    assert labels(data + label_line("1abe000b", None, "bbbbbbbb", None)) == {"aaaaaaaa": "root"}
    assert labels(data + label_line("1abe000b", None, "bbbbbbbb", "")) == {"aaaaaaaa": "root"}


def test_label_of_an_entry_that_is_not_in_the_file_names_nothing():
    assert labels(build_session("a") + label_line("1abe0009", None, "ffffffff", "gone")) == {}


def test_doubled_label_line_counts_with_its_last_place():
    one, two = label_line("1abe0009", "aaaaaaaa", "aaaaaaaa", "1"), label_line("1abe000a", "aaaaaaaa", "aaaaaaaa", "2")
    assert labels(build_session("a") + one + two + one) == {"aaaaaaaa": "1"}


def test_last_name_wins_and_an_empty_one_clears():
    data = build_session("a-b-c", kinds={"b": "name", "c": "name"}, texts={"b": "first", "c": " second\n"})
    assert view_of(data).name == "second"
    cleared = build_session("a-b-c", kinds={"b": "name", "c": "name"}, texts={"b": "first", "c": " \t"})
    assert view_of(cleared).name is None


def test_first_prompt_is_the_first_user_message_with_text():
    empty = message_line("a", content=[]) + message_line("b", "a", content=" \n ")
    assert view_of(header_line() + empty).first_prompt is None
    later = message_line("c", "b", "assistant") + message_line("d", "c", content="\n Go.\nNow.")
    assert view_of(header_line() + empty + later).first_prompt == "Go."


def test_tool_result_knows_its_call():
    lines = [
        tool_call_line("a", None, "bash", {"command": "ls"}, call_id="1"),
        tool_result_line("b", "a", "bash", "x", call_id="1"),
        tool_result_line("c", "b", "bash", "x", call_id="1"),
        tool_result_line("d", "c", "bash", "x", call_id="none"),
        tool_result_line("e", None, "bash", "x", call_id="1"),
    ]
    view = view_of(header_line() + b"".join(lines))
    calls = [view.call_of(row) for row in list(view.table.nodes())[1:]]
    assert [call.name if call else None for call in calls] == ["bash", "bash", None, None]


def test_tips_are_nodes_without_children():
    view = view_of(build_session("a-b-c, b-d, e"))
    assert [name_of(view, row)[0] for row in view.tips()] == ["c", "d", "e"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
def test_what_is_no_readable_file_is_refused_with_its_reason(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, reason in (
        (tmp_path / "none.jsonl", "no such file"),
        (tmp_path, "it is a directory"),
        (pipe, "it is no regular file"),
        (Path("/dev/null"), "it is no regular file"),
    ):
        with pytest.raises(SourceNotReadable, match=reason) as caught:
            open_file(path)
        assert str(path) in caught.value.message
        assert isinstance(caught.value, InputError)


def test_file_that_shrinks_while_it_is_shown_does_not_break_the_view(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c"))
    with open_file(path) as view:
        os.truncate(path, 200)
        assert view.value(3) is None
        assert view.record(3) == b""
        assert b"".join(view.iter_record(3)) == b""
        assert view.subject(3)


def test_closing_twice_is_harmless(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a"))
    view = open_file(path)
    view.source.close()
    view.source.close()
