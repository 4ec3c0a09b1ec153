from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.blocks import ToolCall
from pivcs.session.describe import LONGEST, call_subject, first_line, subject
from tests.session.test_entries import JSON


def message(role: str, content: object = None, **more: object) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": content} | more}


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"type": "toolCall", "id": "1", "name": name, "arguments": arguments}


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


IMAGE = {"type": "image", "mimeType": "image/png", "data": "A" * 16_000}


@pytest.mark.parametrize(("value", "line"), [
    (message("user", "\n  Fix it. \r\nNow."), "Fix it."),
    (message("user", [text(""), text("second"), IMAGE]), "second [image/png 12 kB]"),
    (message("user", [IMAGE]), "[image/png 12 kB]"),
    (message("user", []), "(empty)"),
    (message("assistant", [text("Done."), call("ls")]), "Done."),
    (message("assistant", [call("edit", path="src/auth.py"), call("bash", command="pytest -q\nls")]),
     "edit auth.py, bash pytest -q"),
    (message("assistant", [{"type": "thinking", "thinking": "Hm."}]), "Hm."),
    (message("assistant", [], stopReason="error", errorMessage="529\nbusy"), "error: 529"),
    (message("assistant", [], stopReason="error"), "error: no message"),
    (message("assistant", [], stopReason="aborted"), "aborted"),
    (message("assistant", [text("Half")], stopReason="aborted"), "Half (aborted)"),
    (message("toolResult", [text("out\nput")], toolName="bash"), "bash: out"),
    (message("toolResult", [text("no\n\nCommand exited with code 2")], toolName="bash", isError=True), "bash: exit 2"),
    (message("toolResult", [text("Not found.")], toolName="edit", isError=True), "edit failed: Not found."),
    (message("toolResult", [text("note"), IMAGE], toolName="read"), "read: note [image/png 12 kB]"),
    (message("bashExecution", command="make\ntest", exitCode=2), "$ make (exit 2)"),
    (message("bashExecution", command="true", exitCode=0), "$ true"),
    (message("bashExecution", command="sleep 9", cancelled=True), "$ sleep 9 (cancelled)"),
    (message("system", "Be brief."), "system: Be brief."),
    (message("system", "", sections={"a": "x"}, toolsAdded=[1, 2]), "system: sections 1, tools added 2"),
    (message("custom", "hello", customType="lint"), "lint: hello"),
    (message("hookMessage", "hello", customType="lint"), "lint: hello"),
    (message("artifact", "hello"), "artifact: hello"),
    ({"type": "message"}, "message without content"),
    ({"type": "compaction", "summary": "## Goal\nShip it.", "tokensBefore": 9000}, "compacted 9,000 tokens: Ship it."),
    ({"type": "compaction", "summary": "## Goal", "tokensBefore": "many"}, "compacted: ## Goal"),
    ({"type": "branch_summary", "summary": "Tried it."}, "branch summary: Tried it."),
    ({"type": "branch_summary", "summary": ""}, "branch summary: (empty)"),
    ({"type": "model_change", "provider": "anthropic", "modelId": "opus"}, "anthropic/opus"),
    ({"type": "thinking_level_change", "thinkingLevel": "high"}, "thinking high"),
    ({"type": "label", "targetId": "1234abcd", "label": "good"}, '"good" on 1234abcd'),
    ({"type": "label", "targetId": "1234abcd"}, "cleared on 1234abcd"),
    ({"type": "session_info", "name": "Fixes"}, 'name "Fixes"'),
    ({"type": "session_info", "name": " "}, "name cleared"),
    ({"type": "custom", "customType": "todo", "data": {"n": 1, "list": []}}, "todo: n=1 list"),
    ({"type": "custom", "customType": "todo"}, "todo"),
    ({"type": "custom_message", "customType": "note", "content": "x"}, "note: x"),
    ({"type": "usage", "kind": "cache_warm", "usage": {"cost": {"total": 0.01}}, "note": "n"}, "cache_warm $0.0100: n"),
    ({"type": "context_edit", "targetId": "1234abcd", "replacement": None}, "omits 1234abcd"),
    ({"type": "context_edit", "targetId": "1234abcd", "replacement": {"content": "x"}}, "replaces 1234abcd: x"),
    ({"type": "leaf", "id": "a", "parentId": None, "timestamp": "t", "targetId": "b"}, "leaf targetId=b"),
    ({"type": "session", "id": "s", "cwd": "/w"}, "session s in /w"),
    ({}, "entry without type"),
    (5, "no entry: 5"),
    (None, "no entry: null"),
    ([[]], "no entry: a list"),
])
def test_subject_says_what_the_entry_is(value: object, line: str) -> None:
    assert subject(value) == line


def test_result_is_named_by_its_call_where_that_is_known() -> None:
    made = ToolCall("1", "edit", {"path": "src/auth.py"})
    failed = message("toolResult", [text("Not found.")], toolName="edit", isError=True)
    assert subject(failed, made) == "edit auth.py failed: Not found."
    run = message("toolResult", [text("Command exited with code 1")], toolName="bash", isError=True)
    assert subject(run, ToolCall("1", "bash", {"command": "pytest -q"})) == "bash pytest -q: exit 1"


@pytest.mark.parametrize(("name", "arguments", "line"), [
    ("read", {"path": "@src\\a b.py", "offset": 3}, "read a b.py"),
    ("ls", {"path": "/"}, "ls /"),
    ("grep", {"path": "src", "pattern": "TODO"}, "grep TODO"),
    ("fetch", {"url": "https://x.test/a"}, "fetch https://x.test/a"),
    ("other", {"n": 1, "what": "this"}, "other this"),
    ("other", {"n": 1}, "other"),
    ("", {}, "tool"),
])
def test_call_shows_its_most_telling_argument(name: str, arguments: dict[str, Any], line: str) -> None:
    assert call_subject(ToolCall("1", name, arguments)) == line


def test_first_line_is_found_behind_any_amount_of_blank_text() -> None:
    assert first_line(" " * 10_000 + "\n\nx\u2028y") == "x"
    assert first_line(" \n" * 5000) == ""


def test_subject_is_short_and_one_line_for_huge_texts() -> None:
    assert len(subject(message("user", "x" * 1_000_000))) == LONGEST
    assert subject(message("bashExecution", command="a\u2028b\x85c")) == "$ a"


def test_image_data_never_shows() -> None:
    assert "AAAA" not in subject(message("user", [IMAGE] * 3))


def test_numbers_of_any_size_are_named() -> None:
    assert subject(10**5000) == "no entry: a large number"
    assert subject({"type": "compaction", "tokensBefore": float("inf")}) == "compacted: (no summary)"


def test_nesting_of_any_depth_is_described() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert subject({"type": "custom", "customType": "t", "data": {"deep": deep}}) == "t: deep"
    assert subject(message("user", deep)) == "(empty)"


TYPES = [
    "message", "compaction", "label", "session_info", "custom", "custom_message", "usage", "context_edit", "session",
]


@given(st.sampled_from(TYPES), JSON, JSON, st.dictionaries(st.sampled_from(
    ["summary", "tokensBefore", "label", "targetId", "name", "data", "content", "usage", "replacement", "kind"]
), JSON))
def test_no_value_makes_it_fail(kind: str, value: object, body: object, fields: dict[str, object]) -> None:
    for entry in (value, fields | {"type": kind, "message": body}):
        line = subject(entry)
        assert line
        assert len(line) <= LONGEST
        assert not set(line) & set("\n\r\u2028\u2029")
