"""The few fields of an entry that the index needs, and the kinds of line.

`Fields` is what the careful reader makes one line at a time; `pivcs.session.bulk` decodes the same attributes for many
lines at once. Both spell the attributes as pi spells the keys.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple, Protocol


class LineKind(IntEnum):
    """What a complete line is. Every line is exactly one of these (`docs/format.md`, "Lines")."""

    HEADER = 0
    ENTRY = 1
    GLUED = 2
    FOREIGN = 3
    DAMAGED = 4
    BLANK = 5


SALVAGED: Final = 6
"""Kind of a row of an index that is no line but an object salvaged from the glued line before it."""


class MessageLike(Protocol):
    """What is read of the `message` object of a message entry; a value of another type reads as the default."""

    @property
    def role(self) -> str: ...
    @property
    def stopReason(self) -> str: ...
    @property
    def isError(self) -> bool: ...


class FieldsLike(Protocol):
    """What is read of any object. `id` is None when absent or no string; `parentId` is None when absent or null, and
    the empty string (which names no entry) when it is of another type."""

    @property
    def type(self) -> str | None: ...
    @property
    def id(self) -> str | None: ...
    @property
    def parentId(self) -> str | None: ...
    @property
    def timestamp(self) -> str: ...
    @property
    def message(self) -> MessageLike | None: ...


class Message(NamedTuple):
    """Fields of a `message` object; defaults stand for absent keys and for values of another type."""

    role: str = ""
    stopReason: str = ""
    isError: bool = False


class Fields(NamedTuple):
    """Fields of one object, see `FieldsLike`. `message` is None unless the value is an object."""

    type: str | None = None
    id: str | None = None
    parentId: str | None = None
    timestamp: str = ""
    message: Message | None = None


class Record(NamedTuple):
    """One whole object inside a line: bytes `start` to `end` of the line, and its fields."""

    start: int
    end: int
    fields: Fields


class Verdict(NamedTuple):
    """What one line is.

    `records` holds for an entry and for a header the one object with the bounds of the whole line (white space and CR
    included), for a glued line every object that was salvaged with the object's own bounds, else nothing.
    `utf8` is False when the bytes are not valid UTF-8 (pi reads them with replacement characters).
    """

    kind: LineKind
    records: tuple[Record, ...] = ()
    utf8: bool = True


def fields_of(value: dict[str, object]) -> Fields:
    """Return the `Fields` of a parsed object."""
    kind, entry_id, stamp = value.get("type"), value.get("id"), value.get("timestamp")
    parent: object = value.get("parentId")
    message = value.get("message")
    return Fields(
        kind if isinstance(kind, str) else None,
        entry_id if isinstance(entry_id, str) else None,
        parent if parent is None or isinstance(parent, str) else "",
        stamp if isinstance(stamp, str) else "",
        _message_of(message) if isinstance(message, dict) else None,
    )


def _message_of(value: dict[str, object]) -> Message:
    role, stop_reason = value.get("role"), value.get("stopReason")
    return Message(
        role if isinstance(role, str) else "",
        stop_reason if isinstance(stop_reason, str) else "",
        value.get("isError") is True,
    )


def is_header(fields: FieldsLike) -> bool:
    """Whether an object is a header: `type` is "session" (format 3)."""
    return fields.type == "session"


def is_entry(fields: FieldsLike, *, version1: bool) -> bool:
    """Whether an object is an entry: string `id` and `type`; in version 1 every object but headers (format 8)."""
    if fields.type == "session":
        return False
    return version1 or (fields.type is not None and fields.id is not None)
