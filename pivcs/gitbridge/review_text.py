"""The message of a review commit: a function of the entry alone, and of the call that a result answers.

What is written here is part of the mapping (`MAPPING`): another text is another commit id. So nothing of it comes from
the renderers, which may change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from pivcs.objects.oid import ObjectId
from pivcs.session.blocks import ToolCall
from pivcs.session.describe import subject
from pivcs.session.entries import Entry
from pivcs.session.parts import Part, parts_of

MAPPING: Final = 1
"""Version of the mapping from entries to commits."""
LONGEST_SUBJECT: Final = 100
BODY_LINES: Final = 200
"""Lines of one part of an entry that a message has; the page of the turn has more."""
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_WHO: Final = {
    "user": "user: ", "assistant": "assistant: ", "toolResult": "tool ", "bashExecution": "shell ",
    "compaction": "compaction: ", "branch_summary": "summary: ", "custom_message": "custom: ",
    "model_change": "model ", "label": "label ", "session_info": "", "system": "", "thinking_level_change": "",
}  # fmt: skip
_TRAILER: Final = re.compile(r"^(?=\s*Pivcs-)", re.MULTILINE | re.IGNORECASE)


def plain(text: str) -> str:
    """Return text without what a terminal would obey or not show: such characters are written out, as `<U+001B>`, line
    ends become LF, lone surrogates U+FFFD."""
    text = text.replace("\r\n", "\n").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def subject_line(value: object, call: ToolCall | None) -> str:
    """Return the subject of an entry's commit: who, and what in one line of at most `LONGEST_SUBJECT` characters."""
    entry = Entry(value)
    message = entry.message
    who = (message.role if message is not None else None) or entry.type or "entry"
    text = subject(value, call)
    before = "" if text.startswith(who) and who not in _WHO else _WHO.get(who, f"{who}: ")
    return _short(plain(before + text))


def message_of(value: object, call: ToolCall | None, oid: ObjectId, name: str, base: str | None) -> bytes:
    """Return the message of an entry's commit, in UTF-8: subject, what the entry says, trailers.

    Nothing that an entry says is taken for a trailer: these are the last paragraph, which is ours alone, and a line
    that begins as one of them is indented.
    """
    first, body = subject_line(value, call), _body(value)
    if first.endswith(body) and "\n" not in body:  # a short text need not be said twice
        body = ""
    paragraphs = [first, body, _trailers(oid, name, base)]
    return ("\n\n".join(filter(None, paragraphs)) + "\n").encode()


class Said(NamedTuple):
    """What the message of a turn says of one of its entries: all of a prompt, a line of anything else."""

    is_prompt: bool
    text: str


def said_of(value: object, call: ToolCall | None) -> Said:
    """Return what the message of a turn says of one of its entries."""
    message = Entry(value).message
    if message is not None and message.role == "user":
        return Said(True, _body(value))
    return Said(False, subject_line(value, call))


def turn_message(said: Sequence[Said], value: object, oid: ObjectId, name: str, base: str | None) -> bytes:
    """Return the message of a turn's commit, in UTF-8: prompts quoted, a line for each step between them, and what the
    answer says, which is the last entry."""
    prompt = next((each.text for each in said if each.is_prompt and each.text.strip()), "")
    first = " ".join(prompt.split()) or subject_line(value, None)
    answer = _body(value)
    told = said[:-1] if answer else said
    paragraphs = [_short(first)]
    for is_prompt, run in groupby(told[:BODY_LINES], key=lambda each: each.is_prompt):
        texts = [each.text for each in run if each.text != first]
        if not texts:
            continue
        quoted = [f"> {line}".rstrip() for line in "\n\n".join(texts).split("\n")]
        paragraphs.append("\n".join(quoted if is_prompt else [f"- {text}" for text in texts]))
    if len(told) > BODY_LINES:
        paragraphs.append(f"(+{len(told) - BODY_LINES} entries)")
    paragraphs += [answer, _trailers(oid, name, base)]
    return ("\n\n".join(filter(None, paragraphs)) + "\n").encode()


def _body(value: object) -> str:
    body = "\n\n".join(filter(None, (_part_text(part) for part in parts_of(value))))
    return _TRAILER.sub("    ", body).strip("\n")


def _trailers(oid: ObjectId, name: str, base: str | None) -> str:
    trailers = [f"Pivcs-Node: {oid.hex}", f"Pivcs-Entry: {plain(name)}"]
    if base is not None:
        trailers.append(f"Pivcs-Base: {base}")
    return "\n".join(trailers)


def _short(text: str) -> str:
    text = text.replace("\n", " ").strip()
    return text if len(text) <= LONGEST_SUBJECT else text[: LONGEST_SUBJECT - 1].rstrip() + "…"


def _part_text(part: Part) -> str:
    lines = plain(part.text).rstrip("\n").split("\n") if part.text.strip() else []
    mark = {"thinking": "| ", "removed": "- ", "added": "+ "}.get(part.kind, "")
    shown = [(mark + line).rstrip() for line in lines[:BODY_LINES]]
    if len(lines) > BODY_LINES:
        shown.append(f"(+{len(lines) - BODY_LINES} lines)")
    title = plain(part.title).replace("\n", " ")
    if part.kind == "call":
        title = f"> {title}"
    return "\n".join([title, *shown] if title and part.kind != "thinking" else shown)
