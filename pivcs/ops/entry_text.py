"""All text of an entry that a search looks at, and the paths of files that its tool calls are about.

Ids, times, signatures, usage and image data are no text; everything that somebody said, thought, called or got is.
"""

from __future__ import annotations

from collections.abc import Iterator

from pivcs.session.blocks import Image, Text, Thinking, ToolCall, UnknownBlock, blocks_of
from pivcs.session.entries import Entry
from pivcs.workspace.calls import path_of
from pivcs.workspace.strings import strings_in


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts of an entry's value, piece by piece. Never raises."""
    entry = Entry(value)
    yield from _given(entry.summary, entry.label, entry.name, entry.note)
    if entry.type == "model_change":
        yield from _given(entry.provider, entry.model_id)
    message = entry.message
    if message is not None:
        yield from _given(message.command, message.output, message.error_message, message.tool_name)
        sections = message.fields.get("sections")
        if isinstance(sections, dict):
            yield from strings_in(sections)
    contents = [entry.fields.get("content"), message.fields.get("content") if message is not None else None]
    replacement = entry.fields.get("replacement")
    if isinstance(replacement, dict):
        contents.append(replacement.get("content"))
    if entry.type == "custom":
        yield from _given(entry.custom_type)
        yield from strings_in(entry.fields.get("data"))
    for content in contents:
        yield from _texts_in_content(content)


def _texts_in_content(content: object) -> Iterator[str]:
    for block in blocks_of(content):
        if isinstance(block, (Text, Thinking)):
            yield block.text
        elif isinstance(block, ToolCall):
            yield block.name
            yield from strings_in(block.arguments)
        elif isinstance(block, UnknownBlock):
            yield from strings_in(block.value)
        else:
            assert isinstance(block, Image)


def _given(*texts: str | None) -> Iterator[str]:
    return (text for text in texts if text)


def file_paths(value: object) -> Iterator[str]:
    """Yield the path arguments of the reads, writes and edits that an answer calls, as the model wrote them."""
    message = Entry(value).message
    for call in message.tool_calls() if message is not None else ():
        path = path_of(call.name, call.arguments)
        if path is not None:
            yield path
