"""What an entry says, part by part."""

from __future__ import annotations

import json

import pytest

from pivcs.session.parts import Part, parts_of
from tests.builders import bash_line, entry_line, message_line, tool_call_line, tool_result_line


def parts(line: bytes) -> list[Part]:
    return list(parts_of(json.loads(line)))


def call(name: str, arguments: dict[str, object]) -> list[Part]:
    return parts(tool_call_line("a", None, name, arguments))


EDITED = [Part("removed", "", "old"), Part("added", "", "new")]


@pytest.mark.parametrize(
    "arguments",
    [
        {"oldText": "old", "newText": "new"},
        {"edits": [{"oldText": "old", "newText": "new"}]},
        {"edits": {"oldText": "old", "newText": "new"}},
        {"edits": '[{"oldText":"old","newText":"new"}]'},
        {"edits": '{"oldText":"old","newText":"new"}'},
        {"old_string": "old", "new_string": "new"},
    ],
)
def test_edit_shows_old_and_new_text_in_every_shape(arguments: dict[str, object]):
    assert call("edit", {"path": "src/a.py", **arguments}) == [Part("call", "edit src/a.py"), *EDITED]


def test_edits_that_are_no_edits_are_passed_over():
    for edits in ("{torn", "5", 5, None, ["x", None], [{"oldText": 1}]):
        assert call("edit", {"path": "a", "edits": edits}) == [Part("call", "edit a")]


def test_write_shows_its_content():
    assert call("write", {"path": "docs/a.md", "content": "x\n"}) == [
        Part("call", "write docs/a.md"),
        Part("added", "", "x\n"),
    ]


def test_command_of_several_lines_is_shown_whole():
    assert call("bash", {"command": "ls"}) == [Part("call", "bash ls")]
    assert call("bash", {"command": "ls\npwd", "timeout": 9}) == [Part("call", "bash ls", "ls\npwd\ntimeout: 9")]


def test_other_arguments_are_named():
    found = call("grep", {"pattern": "TODO", "path": "src", "glob": "*.py", "limit": 5})
    assert found == [Part("call", "grep src", "pattern: TODO\nglob: *.py\nlimit: 5")]
    assert call("mine", {"deep": {"é": [1, None]}}) == [Part("call", "mine", 'deep: {"é": [1, null]}')]


def test_result_is_output_or_error():
    assert parts(tool_result_line("a", None, "bash", "x")) == [Part("output", "", "x")]
    assert parts(tool_result_line("a", None, "bash", "x", is_error=True)) == [Part("error", "", "x")]


def test_shell_command_of_the_user():
    assert parts(bash_line("a", None, "ls", "x", exit_code=2)) == [Part("call", "$ ls"), Part("error", "", "x")]


def test_how_an_answer_ended_is_told():
    assert parts(message_line("a", role="assistant", content="x", stopReason="aborted"))[-1] == Part("note", "aborted")
    failed = message_line("a", role="assistant", content=[], stopReason="error", errorMessage="busy")
    assert parts(failed) == [Part("error", "error", "busy")]


def test_entries_without_text_have_no_parts():
    assert parts(entry_line("model_change", "a", provider="p", modelId="m")) == []
    assert parts(b'{"type":"unknown"}') == []
    assert parts_of(None) == ()
