"""Content blocks of messages (pi format 5.2) as small frozen values, read from content of any shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Text(NamedTuple):
    """A piece of text."""

    text: str


class Thinking(NamedTuple):
    """A model's reasoning; when `redacted` the text says little or nothing."""

    text: str
    redacted: bool = False


class Image(NamedTuple):
    """An image; `size` is the number of bytes of the picture, not of its base64 text."""

    mime_type: str
    size: int


class ToolCall(NamedTuple):
    """A model's call of a tool; the arguments are as the model sent them (pi format 17)."""

    id: str
    name: str
    arguments: dict[str, object]


class UnknownBlock(NamedTuple):
    """Anything else that stands in a list of content, also a value that is no object."""

    type: str
    value: object


Block = Text | Thinking | Image | ToolCall | UnknownBlock


def blocks_of(content: object) -> tuple[Block, ...]:
    """Return the blocks of a `content` value: a string is one text, what is neither string nor list has none."""
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, list):
        return tuple(_iter_blocks(content))
    return ()


def _iter_blocks(content: list[object]) -> Iterator[Block]:
    for value in content:
        fields = value if isinstance(value, dict) else {}
        kind = _text(fields.get("type"))
        if kind == "text":
            yield Text(_text(fields.get("text")))
        elif kind == "thinking":
            yield Thinking(_text(fields.get("thinking")), fields.get("redacted") is True)
        elif kind == "image":
            yield Image(_text(fields.get("mimeType")), _base64_size(fields.get("data")))
        elif kind == "toolCall":
            arguments = fields.get("arguments")
            yield ToolCall(
                _text(fields.get("id")),
                _text(fields.get("name")),
                arguments if isinstance(arguments, dict) else {},
            )
        else:
            yield UnknownBlock(kind, value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _base64_size(data: object) -> int:
    """Return the number of bytes that a base64 text stands for, from its length alone: images are large."""
    if not isinstance(data, str):
        return 0
    padding = 2 if data.endswith("==") else 1 if data.endswith("=") else 0
    return max(len(data) * 3 // 4 - padding, 0)
