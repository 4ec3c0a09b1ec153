"""Summaries of a path that is left, as pi writes them (pi format 11 and 15).

The text for whoever sums up, the files that were touched, and the entry.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pivcs.errors import StateError
from pivcs.ops.merge_base import merge_base
from pivcs.ops.view import SessionView
from pivcs.session.blocks import Text, ToolCall, blocks_of
from pivcs.session.context import edited_messages, entry_messages
from pivcs.session.entries import Entry
from pivcs.session.jsonwrite import UNDEFINED, dump_json
from pivcs.session.newentries import branch_summary_fields
from pivcs.session.replay import convert_to_llm
from pivcs.session.values import is_falsy

Object = dict[str, object]

INTRODUCTION: Final = (
    "The user explored a different conversation branch before returning here.\nSummary of that exploration:\n\n"
)
"""What pi puts before the text of every summary of a branch."""

NOTHING: Final = "No content to summarize"
"""The summary that pi writes of a path without messages."""

_READING: Final = ("read",)
_WRITING: Final = ("write", "edit")


class SummaryFailed(StateError):
    """The command that was to sum up failed, or said nothing."""


@dataclass(frozen=True, slots=True)
class Left:
    """A path that is left: its entries from below the common ancestor on, and the id of the position that is left."""

    from_id: str | None
    entries: tuple[object, ...]


def left_behind(view: SessionView, row: int) -> Left:
    """Return what is left by moving from HEAD to an entry: the path from HEAD up to the deepest common ancestor."""
    head = view.head
    if head is None:
        return Left(None, ())
    base = merge_base(view, head, row)
    rows = []
    at: int | None = head
    while at is not None and at != base:
        rows.append(at)
        at = view.table.parent_of(at)
    return Left(view.table.name(head), tuple(view.value(each) for each in reversed(rows)))


def summary_entry(left: Left, text: str | None) -> Object:
    """Return the entry that sums up what is left, without id, parent and time: pi's introduction, the text, and the
    files that were read and changed. None stands for a path without anything to sum up."""
    read, modified = touched_files(left.entries) if text is not None else ([], [])
    summary = NOTHING if text is None else INTRODUCTION + text + _file_sections(read, modified)
    details = {"readFiles": read, "modifiedFiles": modified}
    from_id = "root" if left.from_id is None else left.from_id
    return {"type": "branch_summary", **branch_summary_fields(from_id, summary, details, UNDEFINED, from_hook=False)}


def touched_files(entries: Sequence[object]) -> tuple[list[str], list[str]]:
    """Return the files that a path read only, and those that it changed, both in JavaScript's order (15).

    They come from the tool calls of answers, as edits of the context leave them, and from pi's own summaries.
    """
    read: set[str] = set()
    modified: set[str] = set()
    for value in entries:
        entry = Entry(value)
        details = entry.fields.get("details")
        if entry.type == "branch_summary" and is_falsy(entry.fields.get("fromHook")) and isinstance(details, dict):
            read |= _texts(details.get("readFiles"))
            modified |= _texts(details.get("modifiedFiles"))
    for message in _messages(entries):
        for call in _calls(message):
            path = call.arguments.get("path")
            if isinstance(path, str) and path:
                if call.name in _READING:
                    read.add(path)
                elif call.name in _WRITING:
                    modified.add(path)
    return sorted(read - modified, key=_utf16), sorted(modified, key=_utf16)


def conversation_text(entries: Sequence[object]) -> str:
    """Return a path as the text that pi gives to the model that sums it up: no reasoning, no tool results."""
    parts = []
    for message in convert_to_llm(_messages(entries)):
        blocks = blocks_of(message.get("content"))
        texts = [block.text for block in blocks if isinstance(block, Text)]
        if message.get("role") == "user" and any(texts):
            parts.append(f"[User]: {''.join(texts)}")
        elif message.get("role") == "assistant":
            if texts:
                parts.append("[Assistant]: " + "\n".join(texts))
            calls = [f"{call.name}({_arguments(call)})" for call in blocks if isinstance(call, ToolCall)]
            if calls:
                parts.append("[Assistant tool calls]: " + "; ".join(calls))
    return "\n\n".join(parts)


def ask_command(command: str, entries: Sequence[object]) -> str | None:
    """Give the text of a path to a shell command, and return what it writes as the summary.

    None for a path without text, which needs no command. Raises SummaryFailed.
    """
    text = conversation_text(entries)
    if not text:
        return None
    given = text.encode("utf-8", "replace")
    done = subprocess.run(command, shell=True, input=given, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SummaryFailed(
            f"'{command}' failed with exit code {done.returncode}", hint="nothing was written; try again"
        )
    said = done.stdout.decode("utf-8", "replace").strip()
    if not said:
        raise SummaryFailed(f"'{command}' wrote no summary", hint="the summary is what it writes to standard output")
    return said


def _messages(entries: Iterable[object]) -> list[object]:
    """Return the messages that are summed up: of each entry the first, as the latest edit on the path leaves it."""
    values = [Entry(value) for value in entries]
    edits = {each.target_id: each.value for each in values if each.type == "context_edit"}
    found: list[object] = []
    for entry in values:
        message = entry.message
        if entry.type == "message" and (message is None or message.role == "toolResult"):
            continue
        spoken = entry_messages(entry.value)
        if entry.type == "branch_summary" and not spoken:  # an empty one is no message of a context, but counts here
            spoken = ({"role": "branchSummary", "summary": entry.summary or ""},)
        edit = edits.get(entry.id) if entry.type in ("message", "custom_message") else None
        if edit is not None:
            spoken = edited_messages(spoken, edit)
        found += spoken[-1:] if entry.type == "compaction" else spoken[:1]
    return found


def _calls(message: object) -> list[ToolCall]:
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return []
    return [block for block in blocks_of(message.get("content")) if isinstance(block, ToolCall)]


def _arguments(call: ToolCall) -> str:
    return ", ".join(f"{key}={dump_json(value).decode()}" for key, value in call.arguments.items())


def _file_sections(read: list[str], modified: list[str]) -> str:
    sections = [
        f"<{name}>\n" + "\n".join(files) + f"\n</{name}>"
        for name, files in (("read-files", read), ("modified-files", modified))
        if files
    ]
    return "".join("\n\n" + section for section in sections)


def _texts(value: object) -> set[str]:
    return {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()


def _utf16(text: str) -> bytes:
    """Return a key by which texts sort as in JavaScript, by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")
