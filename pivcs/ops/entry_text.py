"""All text of an entry that a search looks at, and the paths of files that its tool calls are about.

Ids, times, signatures, usage and image data are no text; everything that somebody said, thought, called or got is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from pivcs.session.blocks import Image, Text, Thinking, ToolCall, UnknownBlock, blocks_of
from pivcs.session.entries import Entry

FILE_TOOLS: Final = frozenset({"read", "write", "edit"})
PATH_ARGUMENTS: Final = ("path", "file_path", "filePath")
_SPACES: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


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


def strings_in(value: object) -> Iterator[str]:
    """Yield the strings inside a JSON value, keys too, in order, however deep it is."""
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            yield at
        elif isinstance(at, dict):
            for key, inner in reversed(at.items()):
                stack += (inner, key)
        elif isinstance(at, list):
            stack += reversed(at)


def file_paths(value: object) -> Iterator[str]:
    """Yield the path arguments of the reads, writes and edits that an answer calls, as the model wrote them."""
    message = Entry(value).message
    for call in message.tool_calls() if message is not None else ():
        if call.name.lower() in FILE_TOOLS:
            found = (call.arguments.get(name) for name in PATH_ARGUMENTS)
            yield from (path for path in found if isinstance(path, str))


def plain_path(path: str) -> str:
    """Return a path argument as pi reads it (pi format 17): no `@` in front, no `file://`, ordinary spaces; and with
    slashes where it is a Windows path."""
    path = _SPACES.sub(" ", path).removeprefix("@")
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"), errors="surrogateescape")
    if _DRIVE.match(path) or ("\\" in path and "/" not in path):
        path = path.replace("\\", "/")
    return path


def spellings(path: str, cwd: str | None) -> set[str]:
    """Return the ways to write a file's path: as given, absolute, relative to `cwd`, and the base name."""
    path = posixpath.normpath(plain_path(path)) if path else ""
    base = posixpath.normpath(plain_path(cwd)) if cwd else None
    found = {path, posixpath.basename(path)}
    if base is not None:
        whole = path if _is_absolute(path) else posixpath.normpath(f"{base}/{path}")
        found.add(whole)
        if whole.startswith(base.rstrip("/") + "/"):
            found.add(whole[len(base.rstrip("/")) + 1 :])
    return found


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or _DRIVE.match(path) is not None
