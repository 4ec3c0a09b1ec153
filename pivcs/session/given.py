"""Entries that come from outside, checked and completed before any of them is written (pi format 4 and 5).

What pi would stumble over is refused: a message without a role, a parent or a target that is not there, an id that is
taken. Types that pi does not know are let through, as pi reads over them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pivcs.session.jsonwrite import UNDEFINED, dump_json
from pivcs.session.newentries import InvalidEntry, make_entry, message_fields
from pivcs.session.reading import EntryNotFound
from pivcs.session.state import Leaf, SessionState
from pivcs.session.times import parse_time
from pivcs.session.world import World, new_entry_id

Object = dict[str, object]

_COMMON = ("type", "id", "parentId", "timestamp")
_TEXTS = {
    "model_change": ("provider", "modelId"),
    "thinking_level_change": ("thinkingLevel",),
    "compaction": ("summary", "firstKeptEntryId"),
    "branch_summary": ("fromId", "summary"),
    "custom": ("customType",),
    "custom_message": ("customType",),
    "session_info": ("name",),
    "usage": ("kind", "provider", "model"),
}
"""Keys that an entry of a type must have, and that must be texts."""

_TARGETED = ("label", "context_edit")
_LISTS = ("assistant", "toolResult")


def as_entry(value: object, time: int) -> Object:
    """Return a value that is an entry, or a message without its entry, as an entry; a message gets its time.

    Raises InvalidEntry for anything else.
    """
    if not isinstance(value, dict):
        raise InvalidEntry("an entry or a message must be a JSON object")
    if "type" in value or "role" not in value:
        return value
    return {"type": "message", "message": value if "timestamp" in value else {**value, "timestamp": time}}


def complete_entries(entries: Sequence[Mapping[str, object]], state: SessionState, world: World) -> list[Object]:
    """Return the entries with ids, parents and times where they have none: each is a child of the one before it, the
    first a child of the state's position. An entry that has all of them keeps the order of its keys.

    Raises InvalidEntry and EntryNotFound.
    """
    taken = _Taken(state)
    completed: list[Object] = []
    parent: Leaf = state.leaf
    for place, entry in enumerate(entries):
        try:
            completed.append(_completed(entry, parent, taken, world))
        except (InvalidEntry, EntryNotFound) as error:
            error.place = place
            raise
        parent = str(completed[-1]["id"])
    for entry in completed:
        dump_json(entry)  # says what is no JSON value before the first one is written
    return completed


def _completed(entry: Mapping[str, object], parent: Leaf, taken: _Taken, world: World) -> Object:
    kind = _checked_type(entry)
    ident = _checked_id(entry, taken) if "id" in entry else new_entry_id(taken, world.random)
    if "parentId" in entry:
        parent = _checked_parent(entry, taken)
    _check_shape(kind, entry, taken)
    taken.new.add(ident)
    if all(key in entry for key in _COMMON):
        return dict(entry)
    own = {key: value for key, value in entry.items() if key not in _COMMON}
    return make_entry(kind, ident, parent, entry.get("timestamp", world.timestamp()), own)


class _Taken:
    """The ids of a session and of entries that are to be appended."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self.new: set[object] = set()

    def __contains__(self, ident: object) -> bool:
        return ident in self.new or ident in self._state


def _checked_type(entry: Mapping[str, object]) -> str:
    kind = entry.get("type")
    if not isinstance(kind, str) or not kind:
        raise InvalidEntry("an entry must have a type, and a message a role")
    if kind == "session":
        raise InvalidEntry("a header is no entry", hint="a session has one already")
    if "timestamp" in entry and parse_time(entry["timestamp"]) is None:
        raise InvalidEntry(f"the timestamp of a '{kind}' entry is no ISO time", hint="leave it out: now is filled in")
    return kind


def _checked_id(entry: Mapping[str, object], taken: _Taken) -> str:
    ident = entry["id"]
    if not isinstance(ident, str) or not ident:
        raise InvalidEntry("an entry's id must be a text that is not empty")
    if ident in taken:
        raise InvalidEntry(f"the id '{ident}' is taken", hint="leave it out: a free one is filled in")
    return ident


def _checked_parent(entry: Mapping[str, object], taken: _Taken) -> str | None:
    parent = entry["parentId"]
    if parent is None:
        return None
    if not isinstance(parent, str) or parent not in taken:
        raise EntryNotFound(parent, "that could be the parent of a new one")
    return parent


def _check_shape(kind: str, entry: Mapping[str, object], taken: _Taken) -> None:
    for key in _TEXTS.get(kind, ()):
        if not isinstance(entry.get(key), str):
            raise InvalidEntry(f"a '{kind}' entry must have a text as '{key}'")
    if kind in _TARGETED and entry.get("targetId") not in taken:
        raise EntryNotFound(entry.get("targetId"), f"that a '{kind}' entry could be about")
    if kind == "label" and not isinstance(entry.get("label", ""), str) and entry["label"] is not UNDEFINED:
        raise InvalidEntry("a label must be a text")
    if kind == "context_edit" and "replacement" not in entry:
        raise InvalidEntry("a 'context_edit' entry must have a replacement, which may be null")
    if kind == "message":
        message = entry.get("message")
        message_fields(message if isinstance(message, Mapping) else {})
        assert isinstance(message, Mapping)
        content = message.get("content")
        if message["role"] in _LISTS and not isinstance(content, list):
            raise InvalidEntry(f"the content of a message of role '{message['role']}' must be a list")
        if message["role"] in ("user", "system") and not isinstance(content, (str, list)):
            raise InvalidEntry(f"the content of a message of role '{message['role']}' must be a text or a list")
