"""All text of an entry that a search looks at, and the paths of files that its tool calls are about.

Ids, times, signatures, usage and image data are no text; everything that somebody said, thought, called or got is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pivcs.session.blocks import Image, Text, Thinking, ToolCall, UnknownBlock, blocks_of
from pivcs.session.entries import Entry
from pivcs.workspace.calls import path_of
from pivcs.workspace.strings import strings_in

FIELDS: Final = ("text", "thinking", "tool", "result", "label", "name")
"""Kinds of text: what was said; reasoning; names and arguments of tool calls, and shell commands; what came of them;
labels; names of sessions."""

_MESSAGE_TEXTS: Final = (("command", "tool"), ("output", "result"), ("errorMessage", "text"), ("toolName", "tool"))


class FieldText(NamedTuple):
    """A piece of text, and which kind it is (one of `FIELDS`)."""

    field: str
    text: str


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts of an entry's value, piece by piece. Never raises."""
    return (piece.text for piece in field_texts(value))


def field_texts(value: object) -> Iterator[FieldText]:
    """Yield the texts of an entry's value, piece by piece, with what they are. Never raises."""
    fields = value if isinstance(value, dict) else {}
    message = fields.get("message")
    if isinstance(message, dict):  # most entries: those are not asked for what messages have not
        yield from _in_message(message)
        if fields.get("type") == "message":
            return
    entry = Entry(fields)
    yield from _given("text", entry.summary)
    yield from _given("label", entry.label)
    yield from _given("name", entry.name)
    yield from _given("text", entry.note)
    if entry.type == "model_change":
        yield from _given("text", entry.provider, entry.model_id)
    if entry.type == "custom":
        yield from _given("text", entry.custom_type, *strings_in(fields.get("data")))
    replacement = fields.get("replacement")
    for content in (fields.get("content"), replacement.get("content") if isinstance(replacement, dict) else None):
        yield from _in_content(content, "text")


def _in_message(message: dict[str, object]) -> Iterator[FieldText]:
    for key, field in _MESSAGE_TEXTS:
        text = message.get(key)
        if isinstance(text, str) and text:
            yield FieldText(field, text)
    sections = message.get("sections")
    if isinstance(sections, dict):
        yield from _given("text", *strings_in(sections))
    yield from _in_content(message.get("content"), "result" if message.get("role") == "toolResult" else "text")


def _in_content(content: object, said: str) -> Iterator[FieldText]:
    for block in blocks_of(content):
        if isinstance(block, Text):
            yield FieldText(said, block.text)
        elif isinstance(block, Thinking):
            yield FieldText("thinking", block.text)
        elif isinstance(block, ToolCall):
            yield from _given("tool", block.name, *strings_in(block.arguments))
        elif isinstance(block, UnknownBlock):
            yield from _given(said, *strings_in(block.value))
        else:
            assert isinstance(block, Image)


def _given(field: str, *texts: str | None) -> Iterator[FieldText]:
    return (FieldText(field, text) for text in texts if text)


def file_paths(value: object) -> Iterator[str]:
    """Yield the path arguments of the reads, writes and edits that an answer calls, as the model wrote them."""
    message = Entry(value).message
    for call in message.tool_calls() if message is not None else ():
        path = path_of(call.name, call.arguments)
        if path is not None:
            yield path
