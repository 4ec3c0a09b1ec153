"""What is left by going elsewhere, the files that were touched there, and the summary that pi would store."""

from __future__ import annotations

from typing import Any

import pytest

from pivcs.ops.summaries import (
    INTRODUCTION,
    NOTHING,
    SummaryFailed,
    ask_command,
    conversation_text,
    left_behind,
    summary_entry,
    touched_files,
)
from pivcs.ops.view import SessionView
from pivcs.session.jsontext import parse_json
from tests.builders import (
    build_session,
    entry_id,
    entry_line,
    label_line,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.ops.views import view_of


def row_of(view: SessionView, name: str) -> int:
    row = view.table.row_named(entry_id(name))
    assert row is not None
    return row


def values(*lines: bytes) -> list[Any]:
    return [parse_json(each) for each in lines]


def calls(*pairs: tuple[str, str]) -> list[Any]:
    return values(*(tool_call_line(f"{at:08x}", None, name, {"path": path}) for at, (name, path) in enumerate(pairs)))


def ids_left(graph: str, target: str) -> list[str]:
    view = view_of(build_session(graph))
    return [value["id"][0] for value in left_behind(view, row_of(view, target)).entries]  # type: ignore[index]


@pytest.mark.parametrize(
    ("graph", "target", "left"),
    [
        ("a-b-c, b-d-e", "c", "de"),
        ("a-b-c, b-d-e", "b", "de"),
        ("a-b", "b", ""),
        ("a-b-c", "a", "bc"),
        ("a-b, c-d", "b", "cd"),
    ],
)
def test_path_is_left_from_the_deepest_common_ancestor_on(graph: str, target: str, left: str) -> None:
    assert ids_left(graph, target) == list(left)


def test_position_that_is_left_is_the_last_line_book_keeping_or_not() -> None:
    view = view_of(build_session("a-b, a-c", labels={"b": "x"}))
    assert left_behind(view, row_of(view, "b")).from_id == "1abe0000"


def test_files_are_those_of_tool_calls_changed_ones_not_among_the_read() -> None:
    entries = calls(("read", "b"), ("read", "a"), ("edit", "b"), ("write", "c"), ("bash", "d"), ("read", ""))
    assert touched_files(entries) == (["a"], ["b", "c"])


def test_files_sort_by_utf_16() -> None:
    assert touched_files(calls(("read", "\uffff"), ("read", "\U0001f600")))[0] == ["\U0001f600", "\uffff"]


def test_files_of_earlier_summaries_count_unless_an_extension_made_them() -> None:
    details = {"readFiles": ["r", 7], "modifiedFiles": ["m"]}
    own = entry_line("branch_summary", "aaaaaaaa", fromId="x", summary="s", details=details, fromHook=False)
    theirs = {"readFiles": ["no"]}
    other = entry_line("branch_summary", "bbbbbbbb", fromId="x", summary="s", details=theirs, fromHook=True)
    assert touched_files(values(own, other)) == (["r"], ["m"])


def test_answers_that_were_taken_out_of_the_context_do_not_count() -> None:
    edit = entry_line("context_edit", "bbbbbbbb", "00000000", targetId="00000000", replacement=None)
    entries = [*calls(("write", "a")), *values(edit)]
    assert touched_files(entries) == ([], [])
    assert conversation_text(entries) == ""


def test_text_has_prompts_answers_and_calls_but_no_results_and_no_reasoning() -> None:
    entries = values(
        message_line("aaaaaaaa", content="Do it."),
        message_line("bbbbbbbb", "aaaaaaaa", "assistant", [
            {"type": "thinking", "thinking": "secret"},
            {"type": "text", "text": "One."},
            {"type": "text", "text": "Two."},
            {"type": "toolCall", "id": "x", "name": "read", "arguments": {"path": "é", "limit": 1.0}},
            {"type": "toolCall", "id": "y", "name": "bash", "arguments": {"command": "ls"}},
        ]),
        tool_result_line("cccccccc", "bbbbbbbb", "read", "content"),
        label_line("dddddddd", "cccccccc", "aaaaaaaa", "label"),
    )  # fmt: skip
    assert conversation_text(entries) == (
        "[User]: Do it.\n\n[Assistant]: One.\nTwo.\n\n"
        '[Assistant tool calls]: read(path="é", limit=1); bash(command="ls")'
    )


def test_summary_is_stored_as_pi_does() -> None:
    edit = tool_call_line(entry_id("c"), entry_id("a"), "edit", {"path": "f"})
    view = view_of(build_session("a-b", extra=[edit]))
    entry = summary_entry(left_behind(view, row_of(view, "b")), "No use.")
    assert entry["summary"] == INTRODUCTION + "No use.\n\n<modified-files>\nf\n</modified-files>"
    assert entry["details"] == {"readFiles": [], "modifiedFiles": ["f"]}
    assert (entry["type"], entry["fromId"], entry["fromHook"]) == ("branch_summary", entry_id("c"), False)


def test_command_gets_the_text_and_gives_the_summary() -> None:
    entries = values(message_line("aaaaaaaa", content="one two three"))
    assert ask_command("wc -w", entries) == "4"


@pytest.mark.parametrize(("command", "said"), [("exit 3", "exit code 3"), ("true", "wrote no summary")])
def test_command_that_fails_or_says_nothing_is_an_error(command: str, said: str) -> None:
    with pytest.raises(SummaryFailed, match=said):
        ask_command(command, values(message_line("aaaaaaaa")))


def test_path_without_text_asks_no_command() -> None:
    entries = values(label_line("dddddddd", None, "aaaaaaaa", "label"))
    assert ask_command("exit 3", entries) is None
    view = view_of(build_session("a-b"))
    assert summary_entry(left_behind(view, row_of(view, "a")), None)["summary"] == NOTHING
