"""What a branch or a tag may be called: git's rules for refs, so that every name can be exported."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

from pivcs.errors import InputError

_BAD: Final = (
    (re.compile(r"[\x00-\x1f\x7f]"), "has a control character"),
    (re.compile(r"[ ~^:?*\[\\]"), "has one of the characters space ~ ^ : ? * [ \\"),
    (re.compile(r"\.\."), "has two dots in a row"),
    (re.compile(r"@\{"), "has '@{'"),
    (re.compile(r"//|^/|/$"), "begins or ends with a slash, or has two in a row"),
    (re.compile(r"(?:^|/)\."), "has a part that begins with a dot"),
    (re.compile(r"\.$"), "ends with a dot"),
    (re.compile(r"\.lock(?:/|$)"), "has a part that ends with '.lock'"),
    (re.compile(r"^-"), "begins with a dash"),
    (re.compile(r"[()\",&|]"), "has one of the characters ( ) \" , & | of set expressions"),
    (re.compile(r"^L\d+(?:\.\d+)?$"), "means a line"),
    (re.compile(r"[\ud800-\udfff]"), "is no valid text"),
)
_RESERVED: Final = {"HEAD": "means the current position", "@": "means the current position", "not": "means 'not'"}
_JOINER: Final = "\u200d"
_OTHER_STREAM: Final = re.compile(r"(?:g?\d+)/")
_EXPLICIT: Final = ("heads/", "tags/", "entry/", "label/")


class BadRefName(InputError):
    """A name that a branch or tag cannot have."""


def check_ref_name(name: str) -> None:
    """Raise `BadRefName` unless a branch or tag may have this name."""
    reason = _reason(name)
    if reason is not None:
        hint = "letters, digits, - . _ and / do"
        raise BadRefName(f"'{name}' is no name for a branch or tag: it {reason}", hint=hint)


def _reason(name: str) -> str | None:
    if not name:
        return "is empty"
    if name in _RESERVED:
        return _RESERVED[name]
    if _OTHER_STREAM.match(name):
        return "looks like a name of another source or generation"
    if name.startswith(_EXPLICIT):
        return f"begins with '{name.split('/')[0]}/', which says what kind of name follows"
    if any(category(character) in ("Cf", "Zl", "Zp") and character != _JOINER for character in name):
        return "has a character that cannot be seen"
    return next((why for pattern, why in _BAD if pattern.search(name)), None)
