"""What the model sees at a point of a session: which entries, which messages, which settings (pi format 13 and 14).

Everything here is a function of a path: the values of its entries, root first. The rules are those of pi 1.6.0.
Messages are JSON values as they stand in the file; a key that JavaScript would hold as `undefined` is absent, and a
time that cannot be read is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pivcs.errors import DataError
from pivcs.session.settings import Settings, settings_of
from pivcs.session.times import time_of
from pivcs.session.tree import EntryId
from pivcs.session.values import is_falsy

Object = dict[str, object]

_EDITABLE = frozenset(("user", "assistant", "toolResult", "custom"))
_BLOCKS_ONLY = frozenset(("assistant", "toolResult"))


class BrokenEntry(DataError):
    """No context can be built, because an entry lacks what its type promises; pi itself fails there."""

    def __init__(self, entry_id: EntryId, reason: str) -> None:
        super().__init__(
            f"entry '{entry_id or 'without id'}' {reason}: no context can be built",
            hint="move to an entry whose path does not contain it",
        )
        self.entry_id = entry_id
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Projected:
    """An entry of the context and the messages that it gives, possibly none."""

    entry: object
    messages: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """The entries of the context with their messages, and the settings."""

    entries: tuple[Projected, ...]
    settings: Settings

    @property
    def messages(self) -> tuple[object, ...]:
        """All messages in order."""
        return tuple(message for part in self.entries for message in part.messages)


@dataclass(frozen=True, slots=True)
class Context:
    """What pi would send to the model: messages before they become a provider's request, and the settings."""

    messages: tuple[object, ...]
    settings: Settings


def build_context_entries(path: Sequence[object]) -> tuple[object, ...]:
    """Return the entries that stand in the context (13.1): after a compaction, it and what it keeps.

    Raises BrokenEntry for a message entry without a message among the kept ones.
    """
    at = next((place for place in reversed(range(len(path))) if _type(path[place]) == "compaction"), None)
    if at is None:
        return tuple(path)
    compaction = path[at]
    assert isinstance(compaction, dict)
    first_kept = compaction.get("firstKeptEntryId")
    kept: list[object] = []
    keeping = False
    for value in path[:at]:
        # As in pi a missing id equals a missing firstKeptEntryId; a path has no id-less entries before its end.
        keeping = keeping or (isinstance(value, dict) and isinstance(first_kept, str) and value.get("id") == first_kept)
        if keeping and not (_type(value) == "message" and _role(_message(value)) == "system"):
            kept.append(value)
    return (compaction, *kept, *path[at + 1 :])


def build_projection(path: Sequence[object]) -> Projection:
    """Return the entries of the context, what each gives to the model, and the settings (13.2, 14).

    Raises BrokenEntry where pi throws: a message entry without a message anywhere on the path, and an edit of a
    message without a replacement.
    """
    for value in path:
        if _type(value) == "message":
            _message(value)
    entries = build_context_entries(path)
    edits = {_id(value, "targetId"): value for value in entries if _type(value) == "context_edit"}
    projected = []
    for place, value in enumerate(entries):
        # An older compaction can lie inside the kept range; only the newest one, which is first, speaks.
        spoken = () if place and _type(value) == "compaction" else entry_messages(value)
        edit = edits.get(_id(value, "id")) if spoken else None
        projected.append(Projected(value, spoken if edit is None else edited_messages(spoken, edit)))
    return Projection(tuple(projected), settings_of(path))


def build_context(path: Sequence[object]) -> Context:
    """Return the messages and the settings at the end of a path; raise BrokenEntry as `build_projection` does."""
    projection = build_projection(path)
    return Context(projection.messages, projection.settings)


def entry_messages(value: object) -> tuple[object, ...]:
    """Return the messages that an entry gives by itself, without edits (13.2)."""
    if not isinstance(value, dict):
        return ()
    kind = value.get("type")
    if kind == "message":
        message = _message(value)
        if isinstance(message, dict) and message.get("content") is None:
            if _role(message) == "system":
                return ({**message, "content": ""},)
            if _role(message) in ("user", "assistant", "toolResult"):
                return ({**message, "content": []},)
        return (message,)
    if kind == "custom_message":
        content = value.get("content")
        given: Object = {**value, "content": [] if content is None else content}
        return (_made("custom", given, "customType", "content", "display", "details"),)
    if kind == "branch_summary" and not is_falsy(value.get("summary")):
        return (_made("branchSummary", value, "summary", "fromId"),)
    if kind == "compaction":
        summary = _made("compactionSummary", value, "summary", "tokensBefore")
        system = value.get("systemMessage")
        return (summary,) if is_falsy(system) else (system, summary)
    return ()


def _made(role: str, entry: Object, *keys: str) -> Object:
    """Return a message made of keys of an entry and the entry's time."""
    message: Object = {"role": role, **{key: entry[key] for key in keys if key in entry}}
    message["timestamp"] = time_of(entry["timestamp"]) if "timestamp" in entry else None
    return message


def edited_messages(messages: tuple[object, ...], edit: object) -> tuple[object, ...]:
    """Return the messages of an entry as an edit of it leaves them. Raises BrokenEntry for one without replacement."""
    fields = edit if isinstance(edit, dict) else {}
    if "replacement" in fields and fields["replacement"] is None:
        return ()
    return tuple(_replaced(message, fields) for message in messages)


def _replaced(message: object, edit: Object) -> object:
    role = _role(message)
    if not isinstance(message, dict) or not isinstance(role, str) or role not in _EDITABLE:
        return message
    if "replacement" not in edit:
        raise BrokenEntry(_id(edit, "id"), "edits an entry but has no replacement")
    replacement = edit["replacement"]
    if not isinstance(replacement, dict) or "content" not in replacement:
        return {key: item for key, item in message.items() if key != "content"}
    content = replacement["content"]
    if isinstance(content, str) and role in _BLOCKS_ONLY:
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def _type(value: object) -> object:
    return value.get("type") if isinstance(value, dict) else None


def _id(value: object, key: str) -> EntryId:
    ident = value.get(key) if isinstance(value, dict) else None
    return ident if isinstance(ident, str) else None


def _message(entry: object) -> object:
    """Return the message of a message entry, of any type but null."""
    message = entry.get("message") if isinstance(entry, dict) else None
    if message is None:
        raise BrokenEntry(_id(entry, "id"), "has no message")
    return message


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, dict) else None
