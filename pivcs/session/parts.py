"""What an entry says, in parts that a person reads one after the other.

Like `describe`, this gives raw text: whoever shows it makes control characters visible. Images are named by type and
size. Nothing is cut here: how much of a part is shown is for the renderer to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pivcs.session.blocks import Block, Image, Text, Thinking, ToolCall
from pivcs.session.describe import call_subject, image_subject
from pivcs.session.entries import Entry, Message

PartKind = Literal["text", "thinking", "call", "output", "error", "image", "note", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Part:
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
    if isinstance(command, str):
        yield Part("call", call_subject(call), command if "\n" in command.strip() else "")
        return
    yield Part("call", call_subject(call))
    if isinstance(content, str):
        yield Part("added", "", content)
    edits = arguments.get("edits")
    for edit in [arguments, *(edits if isinstance(edits, list) else [edits])]:
        if isinstance(edit, dict):
            for kind, names in (("removed", ("oldText", "old_string")), ("added", ("newText", "new_string"))):
                text = next((edit[name] for name in names if isinstance(edit.get(name), str)), None)
                if text is not None:
                    yield Part("removed" if kind == "removed" else "added", "", text)


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
