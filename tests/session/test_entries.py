from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.blocks import Image, Text, Thinking, ToolCall, UnknownBlock, blocks_of
from pivcs.session.entries import Content, Entry, Header, Message, Usage, View
from pivcs.session.values import kept_values
from tests.builders import build_session, tool_call_line, tool_result_line

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
KEYS = st.sampled_from(["type", "text", "data", "message", "content", "usage", "cost", "total", "id", "arguments"])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def read(line: bytes) -> Entry:
    (value,) = kept_values(line)
    return Entry(value)


def test_fields_of_a_tool_call_and_its_result() -> None:
    call = read(tool_call_line("a", None, "bash", {"command": "ls"}, text="Looking."))
    message = call.message
    assert message is not None
    assert (call.type, call.id, call.parent_id, call.is_conversation) == ("message", "a", None, True)
    assert call.tool_calls() == (ToolCall("call_a", "bash", {"command": "ls"}),)
    assert (call.text_blocks(), message.stop_reason) == (("Looking.",), "toolUse")
    assert (message.usage.total_tokens, message.usage.cost) == (15, 0)
    result = read(tool_result_line("b", "a", "bash", "no such file", is_error=True)).message
    assert result is not None
    assert (result.role, result.tool_call_id, result.is_error) == ("toolResult", "call_a", True)


def test_entry_has_its_own_content_or_that_of_its_message() -> None:
    assert Entry({"type": "custom_message", "content": "note"}).text_blocks() == ("note",)
    assert Entry({"type": "message", "message": {"content": "m"}, "content": "e"}).text_blocks() == ("m",)


def test_header_of_any_version() -> None:
    header = Header(kept_values(build_session(""))[0])
    assert (header.version, header.cwd, header.parent_session) == (3, "/home/dev/project", None)
    assert Header({"version": "3"}).version == "3"
    assert Header({}).version is None


def test_time_is_read_from_the_timestamp() -> None:
    assert Entry({"timestamp": "1970-01-01T00:00:01.000Z"}).time == 1000
    assert Entry({"timestamp": "soon"}).time is None


def test_tokens_are_summed_where_the_total_is_missing() -> None:
    assert Usage({"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}).total_tokens == 10
    assert Usage({"input": 1, "totalTokens": 7}).total_tokens == 7
    assert Usage({}).total_tokens is None


@pytest.mark.parametrize("size", [0, 1, 2, 3, 70, 1000])
def test_image_size_is_that_of_the_picture(size: int) -> None:
    data = base64.b64encode(b"x" * size).decode()
    assert blocks_of([{"type": "image", "data": data, "mimeType": "image/png"}]) == (Image("image/png", size),)


def test_all_blocks_keep_their_order_and_unknown_ones_survive() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "redacted": True}, {"type": "text", "text": "a"}, 5,
        {"type": "video", "url": "x"}, {"type": "toolCall", "id": "1", "name": "ls", "arguments": "none"},
    ]
    assert blocks_of(content) == (
        Thinking("hm", True), Text("a"), UnknownBlock("", 5), UnknownBlock("video", content[3]),
        ToolCall("1", "ls", {}),
    )


@pytest.mark.parametrize("content", [None, 5, True, {}, [], {"type": "text", "text": "x"}])
def test_content_of_a_wrong_shape_has_no_blocks(content: object) -> None:
    assert Message({"content": content}).blocks() == ()


@given(JSON)
def test_no_value_makes_a_view_fail(value: object) -> None:
    for kind in (View, Header, Content, Message, Usage, Entry):
        view = kind(value)
        for name in dir(kind):
            attribute = getattr(view, name)
            if not name.startswith("_") and callable(attribute):
                attribute()
