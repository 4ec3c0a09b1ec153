"""What an entry says, in parts that a person reads one after the other.

Like `describe`, this gives raw text: whoever shows it makes control characters visible. Images are named by type and
size. Nothing is cut here: how much of a part is shown is for the renderer to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from pivcs.session.blocks import Block, Image, Text, Thinking, ToolCall
from pivcs.session.describe import call_subject, image_subject
from pivcs.session.entries import Entry, Message
from pivcs.session.jsontext import NotJson, parse_json

PartKind = Literal["text", "thinking", "call", "output", "error", "image", "note", "removed", "added"]

_PATHS: Final = ("path", "file_path", "filePath")
_EDITED: Final[tuple[tuple[PartKind, tuple[str, str]], ...]] = (
    ("removed", ("oldText", "old_string")),
    ("added", ("newText", "new_string")),
)
_TOLD: Final = frozenset(("command", "content", "edits", "oldText", "old_string", "newText", "new_string", *_PATHS))
"""Arguments that are shown in a form of their own."""


class Part(NamedTuple):
    """A piece of an entry. `title` says what it is where the kind alone does not; `text` may have many lines.

    Kinds: `text` (said), `thinking`, `call` (a tool call; its title is one line, its text the arguments that matter),
    `removed` and `added` (old and new text of an edit), `output` and `error` (of a tool or a shell command), `image`,
    `note` (anything else worth a line).
    """

    kind: PartKind
    title: str
    text: str = ""


def parts_of(value: object) -> tuple[Part, ...]:
    """Return the parts of an entry, in order; empty for one that says nothing beyond its subject. Never raises."""
    entry = Entry(value)
    message = entry.message
    if message is not None:
        return tuple(_message_parts(message))
    return tuple(_entry_parts(entry))


def _message_parts(message: Message) -> Iterator[Part]:
    if message.role == "bashExecution":
        yield Part("call", f"$ {message.command or ''}")
        if message.output:
            yield Part("error" if message.exit_code else "output", "", message.output)
        if message.truncated and message.full_output_path:
            yield Part("note", f"output was cut; all of it was in {message.full_output_path}")
        if message.excluded_from_context:
            yield Part("note", "kept out of the model's context")
        return
    said: PartKind = "text"
    if message.role == "toolResult":
        said = "error" if message.is_error else "output"
    for block in message.blocks():
        yield from _block_parts(block, said)
    sections = message.fields.get("sections")
    if message.role == "system" and isinstance(sections, dict):
        for name, text in sections.items():
            yield Part("text", name, text) if isinstance(text, str) else Part("note", f"{name} removed")
    if message.error_message:
        yield Part("error", "error", message.error_message)
    elif message.stop_reason in ("aborted", "length"):
        yield Part("note", {"aborted": "aborted", "length": "cut off at the length limit"}[message.stop_reason])


def _block_parts(block: Block, said: PartKind) -> Iterator[Part]:
    if isinstance(block, Text):
        yield Part(said, "", block.text)
    elif isinstance(block, Thinking):
        yield Part("thinking", "redacted" if block.redacted else "", block.text)
    elif isinstance(block, Image):
        yield Part("image", image_subject(block))
    elif isinstance(block, ToolCall):
        yield from _call_parts(block)
    else:
        yield Part("note", f"block of unknown type {block.type or '(none)'}")


def _call_parts(call: ToolCall) -> Iterator[Part]:
    arguments = call.arguments
    command, content = arguments.get("command"), arguments.get("content")
    path = next((value for name in _PATHS if isinstance(value := arguments.get(name), str)), None)
    subject = call_subject(call)
    if path is not None and not isinstance(command, str):
        # A name to recognise the file by is enough in a line, but here it matters which file it is.
        subject = f"{call.name or 'tool'} {path}"
    text = [command] if isinstance(command, str) and "\n" in command.strip() else []
    text += [f"{name}: {_spelled(value)}" for name, value in arguments.items() if name not in _TOLD]
    yield Part("call", subject, "\n".join(text))
    if isinstance(content, str):
        yield Part("added", "", content)
    for edit in [arguments, *_edits_of(arguments.get("edits"))]:
        for kind, names in _EDITED:
            changed = next((edit[name] for name in names if isinstance(edit.get(name), str)), None)
            if isinstance(changed, str):
                yield Part(kind, "", changed)


def _edits_of(value: object) -> list[dict[str, object]]:
    """Return the edits of a call in every shape that pi took: a list, one, or either as JSON text (pi format 17.1)."""
    if isinstance(value, str):
        try:
            value = parse_json(value.encode("utf-8", "surrogatepass"))
        except NotJson:
            return []
    return [edit for edit in (value if isinstance(value, list) else [value]) if isinstance(edit, dict)]


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _entry_parts(entry: Entry) -> Iterator[Part]:
    if entry.summary:
        yield Part("text", "", entry.summary)
    if entry.type == "context_edit":
        replacement = entry.fields.get("replacement")
        for block in Message(replacement).blocks():
            yield from _block_parts(block, "text")
        return
    for block in entry.blocks():
        yield from _block_parts(block, "text")
