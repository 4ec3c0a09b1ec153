"""Small numbers for entry types and message roles, as the columns of an index hold them.

A code is one byte. Codes are part of the store's format: never renumber, only add. Types and roles without a code of
their own are `OTHER` and `MESSAGE_OTHER`; their true names are read from the line when they are shown.
"""

from __future__ import annotations

from typing import Final

OTHER: Final = 0
HEADER: Final = 1
MESSAGE_OTHER: Final = 16

TYPES: Final[dict[str, int]] = {
    "session": HEADER,
    "model_change": 2,
    "thinking_level_change": 3,
    "compaction": 4,
    "branch_summary": 5,
    "custom": 6,
    "custom_message": 7,
    "label": 8,
    "session_info": 9,
    "usage": 10,
    "context_edit": 11,
    "leaf": 12,
    "active_tools_change": 13,
}
ROLES: Final[dict[str, int]] = {
    "user": 17,
    "assistant": 18,
    "toolResult": 19,
    "system": 20,
    "bashExecution": 21,
    "custom": 22,
    "hookMessage": 23,
    "branchSummary": 24,
    "compactionSummary": 25,
}

GONE: Final = 14
"""Stands for a forgotten record of book-keeping, and `FORGOTTEN` for one of the conversation; no others have them."""
FORGOTTEN: Final = 26
FORGOTTEN_TYPES: Final[dict[str, int]] = {"pivcs.gone": GONE, "pivcs.forgotten": FORGOTTEN}

COMPACTION: Final = TYPES["compaction"]
BRANCH_SUMMARY: Final = TYPES["branch_summary"]
CUSTOM_MESSAGE: Final = TYPES["custom_message"]
LABEL: Final = TYPES["label"]
SESSION_INFO: Final = TYPES["session_info"]
USER: Final = ROLES["user"]
ASSISTANT: Final = ROLES["assistant"]
TOOL_RESULT: Final = ROLES["toolResult"]

_BY_TYPE: Final = TYPES | FORGOTTEN_TYPES
TYPE_NAMES: Final[dict[int, str]] = {code: name for name, code in TYPES.items()}
ROLE_NAMES: Final[dict[int, str]] = {code: name for name, code in ROLES.items()}


def code_of(entry_type: str | None, role: str | None) -> int:
    """Return the code of an entry of type `entry_type` whose message, if it has one, has the role `role`.

    An entry that only calls itself forgotten is told from one that is by its bytes (`pivcs.objects.placeholder`).
    """
    if entry_type == "message":
        return ROLES.get(role or "", MESSAGE_OTHER)
    return _BY_TYPE.get(entry_type or "", OTHER)


def is_message(code: int) -> bool:
    """Whether a code stands for an entry of type `message`."""
    return code >= MESSAGE_OTHER


def is_conversation(code: int) -> bool:
    """Whether an entry is part of the conversation; every other type is book-keeping (`docs/glossary.md`)."""
    return code >= MESSAGE_OTHER or code in (COMPACTION, BRANCH_SUMMARY, CUSTOM_MESSAGE)
