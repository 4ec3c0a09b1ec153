"""What the result of a tool call says: whether something happened, and what a file has in it (pi format 17)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pivcs.session.blocks import Image, Text
from pivcs.session.entries import Message
from pivcs.workspace.calls import Read
from pivcs.workspace.texts import encode

_FAILED: Final = frozenset({"error", "failed", "failure", "denied", "rejected", "cancelled", "canceled", "aborted"})
_ABORTED: Final = "Operation aborted"
_ABSENT: Final = re.compile(r"(?:Error: )?ENOENT\b|Could not edit file: .*\bENOENT\b|(?:Error: )?File not found: ")
_NOT_FOUND: Final = re.compile(r"Could not find (?:the exact text|edits\[\d+\]) in ")
# Notes that a read puts behind the text, in the words of any version.
_NOTE: Final = re.compile(
    r"(?:\A|\n\n)(?:\[[^\n]*(?:offset=|Showing lines|more lines|truncated|exceeds)[^\n]*\]|\.\.\. \([^\n]*\))\n?\Z"
)
_IMAGE: Final = re.compile(r"Read image file \[image/")


class Outcome(NamedTuple):
    """A result, in short. `text` is None when it has no text or an image. `aborted`: it was stopped, maybe too late."""

    ok: bool
    aborted: bool
    text: str | None
    details: dict[str, object]

    @property
    def says_absent(self) -> bool:
        """Whether the call failed because there is no such file."""
        return not self.ok and self.text is not None and _ABSENT.match(self.text) is not None

    @property
    def says_not_found(self) -> bool:
        """Whether an edit failed because its text is not in the file."""
        return not self.ok and self.text is not None and _NOT_FOUND.match(self.text) is not None


class Shown(NamedTuple):
    """What a read shows: lines of a file from `first` (counted from 0), all of it when `whole`.

    `exact` is False where the text may stand for other bytes, because it has U+FFFD in it.
    """

    text: str
    first: int
    whole: bool
    exact: bool

    @property
    def content(self) -> bytes:
        """The bytes that the text stands for."""
        return encode(self.text)


def outcome_of(message: Message) -> Outcome:
    """Return what a tool result says. Never raises."""
    details = message.fields.get("details")
    details = details if isinstance(details, dict) else {}
    blocks = message.blocks()
    texts = [block.text for block in blocks if isinstance(block, Text)]
    text = texts[0] if len(texts) == 1 and not any(isinstance(block, Image) for block in blocks) else None
    status = details.get("status")
    failed = message.is_error or (isinstance(status, str) and status in _FAILED)
    return Outcome(not failed, failed and text == _ABORTED, text, details)


def shown_by(read: Read, outcome: Outcome) -> Shown | None:
    """Return what a successful read shows of the file; None when that cannot be told from the text.

    A text is the whole file only without offset and limit, and when nothing says that it was cut.
    """
    text = outcome.text
    if not outcome.ok or text is None or _IMAGE.match(text):
        return None
    truncation = outcome.details.get("truncation")
    cut = isinstance(truncation, dict) and truncation.get("truncated") is not False
    note = _NOTE.search(text)
    whole = read.offset is None and read.limit is None and not cut and note is None
    if not whole and note is not None:
        text = text[: note.start()]
        if not text:
            return None
    elif cut:
        return None
    first = 1 if read.offset is None else read.offset
    if not isinstance(first, int):
        return None
    return Shown(text, max(0, first - 1), whole, "\ufffd" not in text)
