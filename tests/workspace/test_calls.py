"""Tool calls as operations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.workspace.calls import TOOLS, Edit, Other, Read, Replacement, Shell, Write, operation_of, path_of

ONE = {"oldText": "a", "newText": "b"}
TWO = {"oldText": "c", "newText": "d"}


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"path": "f", "oldText": "a", "newText": "b"}, 1),
        ({"path": "f", "edits": [ONE, TWO]}, 2),
        ({"edits": [ONE, TWO], "path": "f", "extra": 1}, 2),
        ({"path": "f", "edits": '[{"oldText":"a","newText":"b"},{"oldText":"c","newText":"d"}]'}, 2),
        ({"path": "f", "edits": '{"oldText":"a","newText":"b"}'}, 1),
        ({"path": "f", "edits": ONE}, 1),
        ({"path": "f", "edits": [{"oldText": "a", "newText": "b", "more": 1}], **TWO}, 2),
        ({"path": "f", "edits": "no JSON", **ONE}, 1),
        ({"file_path": "f", "old_string": "a", "new_string": "b"}, 1),
        ({"filePath": "f", "oldString": "a", "newString": "b"}, 1),
    ],
)
def test_every_shape_of_an_edit_is_understood(arguments: dict[str, object], count: int) -> None:
    wanted = (Replacement("a", "b"), Replacement("c", "d"))[:count]
    assert operation_of("edit", arguments) == Edit("f", wanted)


@pytest.mark.parametrize(
    "edits", [None, [], "no JSON", 7, [ONE, "x"], [{"oldText": "a"}], [{"oldText": 1, "newText": ""}]]
)
def test_edit_that_cannot_be_told_still_names_its_file(edits: object) -> None:
    assert operation_of("edit", {"path": "f", "edits": edits}) == Edit("f", None)


def test_tools_of_relatives_are_known_in_any_case() -> None:
    assert operation_of("Read", {"file_path": "f", "limit": 3}) == Read("f", None, 3)
    assert operation_of("Write", {"file_path": "f", "content": "x"}) == Write("f", "x")
    assert operation_of("Edit", {"file_path": "f", "old_string": "a", "new_string": "", "replace_all": True}) == Edit(
        "f", (Replacement("a", ""),), True
    )
    assert operation_of("exec", {"command": "ls"}) == Shell("ls")
    assert operation_of("shell", {"command": ["bash", "-lc", "ls"]}) == Shell("bash -lc ls")
    assert operation_of("powershell", {"command": "dir"}) == Shell("dir")


def test_tool_that_is_not_known_keeps_its_arguments() -> None:
    assert operation_of("frobnicate", {"path": "f"}) == Other("frobnicate", {"path": "f"})
    assert path_of("frobnicate", {"path": "f"}) is None
    assert path_of("edit", {"path": "@f"}) == "@f"


def test_searching_changes_nothing() -> None:
    assert operation_of("grep", {"pattern": "x", "path": "f"}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=()), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["path", "file_path", "edits", "oldText", "newText", "content", "command", "offset", "limit"])


@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(KEYS, JSON))
def test_arguments_of_any_shape_are_taken(name: str, arguments: dict[str, object]) -> None:
    operation = operation_of(name, arguments)
    assert operation is None or isinstance(operation, (Read, Write, Edit, Shell, Other))
