"""New headers and entries with pi's keys in pi's order (pi format 3 and 4).

Each function returns the keys that follow or stand between the common ones; `make_entry` puts them together. Optional
keys are absent when their value is `UNDEFINED`, and null when it is None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pivcs.errors import InputError
from pivcs.session.entries import CURRENT_VERSION
from pivcs.session.jsonwrite import UNDEFINED, Undefined
from pivcs.session.jsstring import js_trim
from pivcs.session.layout import is_session_id
from pivcs.session.state import Leaf

Object = dict[str, object]
Optional = object | Undefined
"""A JSON value, or UNDEFINED for an absent key."""

COMMON_KEYS_LAST = frozenset(("custom", "custom_message"))
"""Types whose id, parentId and timestamp follow their own keys (4.2)."""

_SUMMARY_ROLES = {"compactionSummary": "append_compaction", "branchSummary": "branch_with_summary"}


class InvalidSessionId(InputError):
    """The id that was asked for a new session is none that pi would take (1.4)."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"'{session_id}' is not a valid session id",
            hint="use letters, digits, '.', '_' and '-', with a letter or digit at both ends",
        )
        self.session_id = session_id


class InvalidEntry(InputError):
    """What was asked to be appended is nothing that pi would write.

    `place` is that of the entry, from 0, among several.
    """

    place: int | None = None


def check_session_id(session_id: str) -> str:
    """Return an id for a new session if pi would take it, else raise InvalidSessionId."""
    if not is_session_id(session_id):
        raise InvalidSessionId(session_id)
    return session_id


def make_header(session_id: str, timestamp: str, cwd: str, parent_session: str | None = None) -> Object:
    """Return a new header."""
    header: Object = {
        "type": "session", "version": CURRENT_VERSION, "id": session_id, "timestamp": timestamp, "cwd": cwd,
    }  # fmt: skip
    return header if parent_session is None else header | {"parentSession": parent_session}


def make_entry(kind: str, ident: str, parent: Leaf, timestamp: Optional, fields: Mapping[str, object]) -> Object:
    """Return an entry of any type; after an entry without id it has no `parentId`, as pi writes it (7.6)."""
    common: Object = {"id": ident, "parentId": parent, "timestamp": timestamp}
    entry = {"type": kind, **fields, **common} if kind in COMMON_KEYS_LAST else {"type": kind, **common, **fields}
    return {key: value for key, value in entry.items() if value is not UNDEFINED}


def message_fields(message: Mapping[str, object]) -> Object:
    """Return the keys of a message entry.

    Raises InvalidEntry for what is no object with a role, and for summaries, which are entries of their own types.
    """
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InvalidEntry("a message must be an object with a role")
    method = _SUMMARY_ROLES.get(str(message["role"]))
    if method is not None:
        raise InvalidEntry(f"a message of role '{message['role']}' is never stored", hint=f"use {method}")
    return {"message": message}


def compaction_fields(
    summary: str, first_kept: str, tokens: int | float, details: Optional, usage: Optional, from_hook: Optional,
    system_message: Optional,
) -> Object:  # fmt: skip
    """Return the keys of a compaction."""
    return {
        "summary": summary, "firstKeptEntryId": first_kept, "tokensBefore": tokens, "details": details,
        "usage": usage, "fromHook": from_hook, "systemMessage": system_message,
    }  # fmt: skip


def branch_summary_fields(
    from_id: str, summary: str, details: Optional, usage: Optional, from_hook: Optional
) -> Object:
    """Return the keys of a branch summary; `from_id` is the position that was left, or "root"."""
    return {"fromId": from_id, "summary": summary, "details": details, "usage": usage, "fromHook": from_hook}


def session_info_fields(name: str) -> Object:
    """Return the keys of a session_info: line breaks become spaces, the name is trimmed."""
    return {"name": js_trim(re.sub(r"[\r\n]+", " ", name))}


def replacement_for(target: object, replacement: Mapping[str, object] | None) -> Object | None:
    """Return what a context edit stores as replacement of an entry (4.3).

    Raises InvalidEntry if the target is no user, assistant, toolResult or custom message, and if the replacement is
    neither None nor an object with text or a list as content.
    """
    fields = target if isinstance(target, dict) else {}
    message = fields.get("message")
    role = message.get("role") if fields.get("type") == "message" and isinstance(message, dict) else None
    if fields.get("type") != "custom_message" and role not in ("user", "assistant", "toolResult"):
        raise InvalidEntry(f"entry '{fields.get('id')}' has no content that could be edited")
    if replacement is None:
        return None
    content = replacement.get("content") if isinstance(replacement, Mapping) else None
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        return {"content": [{"type": "text", "text": content}]}
    if not isinstance(content, (str, list, tuple)):
        raise InvalidEntry("a replacement must be null, or an object with a text or a list as content")
    return dict(replacement)
