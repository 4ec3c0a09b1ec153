"""One line that says what an entry is, for listings.

The text is raw: control characters and terminal sequences of the session are still in it, and whoever shows it makes
them visible. It has no line breaks, and images are named by type and size, never by their data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from pivcs.session.blocks import Image, ToolCall
from pivcs.session.entries import Entry, Header, Message
from pivcs.session.jsstring import js_trim

LONGEST = 1000
"""The most characters that `subject` returns."""

_PEEK = 4000  # characters looked at for a first line before the whole text is
_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_EXIT = re.compile(r"Command exited with code (-?[0-9]+)\s*\Z")

_FIXED = ("#", "The user explored a different conversation branch", "Summary of that exploration:")
_TELLING = ("command", "path", "file_path", "filePath", "pattern", "query", "url", "name")


def subject(entry_value: object, call: ToolCall | None = None) -> str:
    """Return what an entry (or a header, or any other JSON value) is, in one line of at most `LONGEST` characters.

    `call` is the tool call that a tool result answers, where the caller knows it: the result alone has only the tool's
    name. Never raises.
    """
    if not isinstance(entry_value, dict):
        return f"no entry: {_scalar(entry_value)}"[:LONGEST]
    entry = Entry(entry_value)
    if entry.type == "message":
        return _message_subject(entry, call)[:LONGEST]
    describe = _BY_TYPE.get(entry.type or "", _unknown)
    return describe(entry)[:LONGEST]


def call_subject(call: ToolCall) -> str:
    """Return a tool call as its name and its most telling argument: `edit auth.py`, `bash pytest -q`."""
    argument = _telling_argument(call)
    return f"{_line(call.name) or 'tool'} {argument}"[:LONGEST].rstrip()


def exit_code(result: Message) -> str | None:
    """Return the exit code that a failed tool's result ends with, None if it tells none."""
    texts = result.text_blocks()
    found = _EXIT.search(texts[-1], max(len(texts[-1]) - 200, 0)) if texts else None
    return found[1] if found is not None else None


def image_subject(image: Image) -> str:
    """Return an image as `[image/png 12 kB]`."""
    size = f"{image.size} bytes" if image.size < 1000 else f"{(image.size + 500) // 1000:,} kB"
    return f"[{_line(image.mime_type) or 'image'} {size}]"


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank, without the white space around it."""
    start = text[:_PEEK].lstrip()
    if not start:
        start = text.lstrip()[:_PEEK]
    return _BREAK.split(start, maxsplit=1)[0].rstrip()


def _message_subject(entry: Entry, call: ToolCall | None) -> str:
    message = entry.message
    if message is None:
        return "message without content"
    describe = _BY_ROLE.get(message.role or "")
    if describe is not None:
        return describe(message)
    if message.role == "toolResult":
        return _tool_result(message, call)
    return f"{_line(message.role) or 'message'}: {_content(message)}"


def _content(content: Message | Entry) -> str:
    """Return the first line of the first text that has one, and the images."""
    text = _first_of(content.text_blocks())
    return " ".join([*([text] if text else []), *map(image_subject, content.images())]) or "(empty)"


def _assistant(message: Message) -> str:
    text = _first_of(message.text_blocks()) or ", ".join(map(call_subject, message.tool_calls()[:50]))
    if message.stop_reason == "error":
        return f"error: {_line(message.error_message) or text or 'no message'}"
    if message.stop_reason == "aborted":
        return f"{text} (aborted)" if text else "aborted"
    return text or _first_of([block.text for block in message.thinking()]) or "(empty)"


def _tool_result(message: Message, call: ToolCall | None) -> str:
    name = call_subject(call) if call is not None else _line(message.tool_name) or "tool"
    if not message.is_error:
        return f"{name}: {_content(message)}"
    code = exit_code(message)
    if code is not None:
        return f"{name}: exit {code}"
    return f"{name} failed: {_content(message)}"


def _bash_execution(message: Message) -> str:
    if message.cancelled:
        return f"$ {_line(message.command)} (cancelled)"
    code = message.exit_code
    return f"$ {_line(message.command)}" + (f" (exit {_scalar(code)})" if code else "")


def _system(message: Message) -> str:
    """Return the text, else what the message changes: prompts are kept as named sections (format 5.1)."""
    text = _first_of(message.text_blocks())
    parts = [f"{key} {count}" for key, count in (
        ("sections", _count(message.fields.get("sections"))),
        ("tools added", _count(message.fields.get("toolsAdded"))),
        ("tools removed", _count(message.fields.get("toolsRemoved"))),
    ) if count]
    return f"system: {text or ', '.join(parts) or '(empty)'}"


def _custom(content: Message | Entry) -> str:
    return f"{_line(content.custom_type) or 'custom'}: {_content(content)}"


def _compaction(entry: Entry) -> str:
    tokens = entry.tokens_before
    count = f" {round(tokens):,} tokens" if tokens is not None and _is_plain(tokens) else ""
    return f"compacted{count}: {_summary_line(entry.summary) or '(no summary)'}"


def _branch_summary(entry: Entry) -> str:
    return f"branch summary: {_summary_line(entry.summary) or '(empty)'}"


def _model_change(entry: Entry) -> str:
    return f"{_line(entry.provider) or '?'}/{_line(entry.model_id) or '?'}"


def _thinking_level_change(entry: Entry) -> str:
    return f"thinking {_line(entry.thinking_level) or '?'}"


def _label(entry: Entry) -> str:
    target = _line(entry.target_id) or "?"
    return f'"{_line(entry.label)}" on {target}' if entry.label else f"cleared on {target}"


def _session_info(entry: Entry) -> str:
    return f'name "{_line(entry.name)}"' if js_trim(entry.name or "") else "name cleared"


def _custom_entry(entry: Entry) -> str:
    keys = _keys(entry.fields.get("data"))
    return _line(entry.custom_type) or "custom" if not keys else f"{_line(entry.custom_type) or 'custom'}: {keys}"


def _usage(entry: Entry) -> str:
    cost = entry.usage.cost
    price = f" ${cost:.4f}" if cost is not None and _is_plain(cost) else ""
    note = f": {_line(entry.note)}" if entry.note else ""
    return f"{_line(entry.kind) or 'usage'}{price}{note}"


def _context_edit(entry: Entry) -> str:
    target = _line(entry.target_id) or "?"
    replacement = entry.fields.get("replacement")
    if replacement is None:
        return f"omits {target}"
    return f"replaces {target}: {_content(Message(replacement))}"


def _forgotten(_: Entry) -> str:
    return "(forgotten)"


def _session(entry: Entry) -> str:
    header = Header(entry.value)
    return f"session {_line(header.id) or '?'} in {_line(header.cwd) or '?'}"


def _unknown(entry: Entry) -> str:
    common = ("type", "id", "parentId", "timestamp")
    rest = {key: value for key, value in entry.fields.items() if key not in common}
    return " ".join(filter(None, [_line(entry.type) or "entry without type", _keys(rest)]))


_BY_ROLE: dict[str, Callable[[Message], str]] = {
    "user": _content,
    "assistant": _assistant,
    "system": _system,
    "bashExecution": _bash_execution,
    "custom": _custom,
    "hookMessage": _custom,
}

_BY_TYPE: dict[str, Callable[[Entry], str]] = {
    "session": _session,
    "compaction": _compaction,
    "branch_summary": _branch_summary,
    "model_change": _model_change,
    "thinking_level_change": _thinking_level_change,
    "label": _label,
    "session_info": _session_info,
    "custom": _custom_entry,
    "custom_message": _custom,
    "usage": _usage,
    "context_edit": _context_edit,
    "pivcs.forgotten": _forgotten,
    "pivcs.gone": _forgotten,
}


def _telling_argument(call: ToolCall) -> str:
    """Return the argument that a person would name: a file's base name, a command, a pattern, else any text."""
    arguments = call.arguments
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            is_path = key in ("path", "file_path", "filePath")
            if is_path and call.name in ("grep", "find"):
                continue  # where they searched says less than what for
            return _base_name(value) if is_path else _line(value)
    return next((_line(value) for value in arguments.values() if isinstance(value, str) and value), "")


def _base_name(path: str) -> str:
    line = _line(path).removeprefix("@")
    return re.split(r"[/\\]", line.rstrip("/\\"))[-1] or line


def _keys(value: object) -> str:
    """Return the keys of an object with the values that are short; a scalar as it is."""
    if not isinstance(value, dict):
        return "" if value is None else _scalar(value)
    shown = []
    for key, item in list(value.items())[:20]:
        text = "" if isinstance(item, (dict, list)) else _scalar(item)
        shown.append(f"{_line(key)}={text}" if text and len(text) <= 40 else _line(key))
    return " ".join(shown)


def _count(value: object) -> int:
    return len(value) if isinstance(value, (dict, list)) else 0


def _scalar(value: object) -> str:
    """Return a JSON value without its insides, which may be nested to any depth."""
    if isinstance(value, str):
        return _line(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value) if _is_plain(value) else "a large number"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a value"


def _is_plain(number: int | float) -> bool:
    """Whether a number can be written with its digits: Python refuses to print integers of thousands of digits."""
    return math.isfinite(number) if isinstance(number, float) else abs(number) < 10**21


def _first_of(texts: Sequence[str]) -> str:
    return next(filter(None, map(first_line, texts)), "")


def _summary_line(text: str | None) -> str:
    """Return the first line that tells something: pi's summaries begin with fixed words and headings (format 15)."""
    lines = _BREAK.split((text or "")[:_PEEK])
    telling = (line.strip() for line in lines if not line.lstrip().startswith(_FIXED))
    return next(filter(None, telling), "") or _line(text)


def _line(text: str | None) -> str:
    return first_line(text) if text else ""
