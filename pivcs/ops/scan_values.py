"""What is given to a name that means a secret, such as `password = "..."`, and whether it looks like one."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import Final, NamedTuple

SHORTEST: Final = 8
LONGEST: Final = 200
_SURE_NAMES: Final = ("passw", "passphrase", "pwd")
_ENTROPY: Final = 3.0
"""Bits for each character that a value must have at least: English words have less, random texts of its length more."""

# A name from the word in it that means a secret on, a sign, and a value, in quotes or bare. The quotes may be escaped:
# texts hold code and JSON. Many spaces are what is left of colours.
_ASSIGNMENT = re.compile(
    r"""(?P<name>[\w.-]{2,100})\\{0,3}["'`]?\]?[ \t]{0,32}(?P<sign>:=|=>|===?|=|:)(?P<space>[ \t]{0,32})"""
    r"""(?:(?P<quote>\\{0,3}["'`])(?P<quoted>[^\s"'`\\]{8,200})(?P=quote)"""
    r"""|(?P<bare>[^\s"'`\\,;()\[\]{}<>&|]{8,200})(?P<next>.?))"""
)
_NAME_END = re.compile(r"[\w.-]*")
_BEFORE: Final = 40
"""Characters of a name before the word in it that means a secret."""
_HEADER = re.compile(
    r"""authorization\\{0,3}["'`]?\s{0,32}[:=,]\s{0,32}\\{0,3}["'`]?(?:bearer|basic|token)\s+"""
    r"""(?P<value>[A-Za-z0-9._~+/-]{16,4000}={0,2})""",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"(?i:passw(?:or[dt]|d)|passphrase|pwd)|(?i:secret|token|credentials?|(?:api|access|private|auth|signing|encryption|account)[_.-]?key)(?![a-z])"
)
_NO_SECRET_NAME = re.compile(
    r"(?:name|type|count|limit|ur[il]|path|file|dir|length|len|max|min|size|usage|budget|iz\w+|expir\w*|ttl|ref|arn"
    r"|version|tokens|keys|hash|index|kind|prefix|label|field|env|_?id)$",
    re.IGNORECASE,
)
_MADE_UP = re.compile(
    r"example|sample|change.?me|placeholder|your[_-]|dummy|redacted|xxxx|\*\*\*|\.\.\.|…|<|>|\$[{(A-Za-z]|%[({]|\{"
    r"|process\.env|environ|12345678|abcdef",
    re.IGNORECASE,
)
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://|[.~]{0,2}/|[0-9]{4}-[0-9]{2}-[0-9]{2}|[A-Za-z]:\\", re.IGNORECASE)
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
"""Words in a name; they have four letters and more on average."""
_NAME = re.compile(r"[A-Za-z_.-]+")
_WORDS = re.compile(r"(?:[A-Za-z]+[0-9]{0,2}|[0-9]{1,4})(?:[^A-Za-z0-9]+(?:[A-Za-z]+[0-9]{0,2}|[0-9]{1,4}))*\W*")


_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|.*[:/].*")
"""An attribute of something, or a place, rather than a short password."""
_HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE)


class Assigned(NamedTuple):
    """A value in a text, from `start` to `end`."""

    start: int
    end: int
    value: str


def name_start(text: str, at: int) -> int:
    """Return where the name begins that the character at a place is part of."""
    first = max(0, at - _BEFORE)
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at -= 1
    return at


def name_end(text: str, at: int) -> int:
    """Return where the name ends that the character at a place is part of."""
    found = _NAME_END.match(text, at)
    return at if found is None else found.end()


def assigned_at(text: str, at: int, end: int) -> Assigned | None:
    """Return the secret that the name given at `at` gets; None when there is none. Looks no further than `end`."""
    found = _ASSIGNMENT.match(text, at, end)
    if found is None or not is_secret_name(found["name"]):
        return None
    group = "quoted" if found["quoted"] is not None else "bare"
    value = found[group]
    if group == "bare":
        value = value.rstrip(".:!?")
        if found["next"] in tuple("([{<"):  # a call, an index
            return None
        if found["sign"].startswith("=="):  # a version, or a comparison
            return None
        # What has no quotes is a secret in settings; in code it is mostly a variable.
        setting = found["sign"] == "=" and not found["space"] and text[at : found.start("sign")].isupper()
        if not setting and not _is_random(value):
            return None
    if not is_secret_value(value, found["name"]):
        return None
    return Assigned(found.start(group), found.start(group) + len(value), value)


def header_at(text: str, at: int, end: int) -> Assigned | None:
    """Return the secret in the header that begins at `at`, as `Authorization: Bearer ...`; None when there is none."""
    found = _HEADER.match(text, at, end)
    if found is None or is_made_up(found["value"]) or not is_varied(found["value"], _ENTROPY):
        return None
    return Assigned(*found.span("value"), found["value"])


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether what has this name is a secret: `apiKey`, `DB_PASSWORD`, but not `tokenCount`."""
    return _SECRET_NAME.search(name) is not None and _NO_SECRET_NAME.search(name) is None


def is_secret_value(value: str, name: str) -> bool:
    """Whether the value of something with a secret's name looks like a secret, not like a word, an id or a place.

    Ids of commits (40 hexadecimal digits) and UUIDs never do.
    """
    if not SHORTEST <= len(value) <= LONGEST or is_made_up(value) or any(map(str.isspace, value)):
        return False
    if _ID.fullmatch(value) or _ADDRESS.match(value):
        return False
    if any(each in name.lower() for each in _SURE_NAMES):
        # People choose words, too, but what is words alone is mostly a variable, or says what is wrong with a password.
        return _NAME.fullmatch(value) is None and not value.isdigit() and _entropy(value) >= 2.5
    return is_varied(value, _ENTROPY)


def _is_random(value: str) -> bool:
    """Whether what has no quotes is no variable, but random: it changes often between kinds of characters, the more
    often the shorter it is and the fewer kinds it has."""
    pieces = len(_PIECES.findall(value))
    if len(value) >= 4 * pieces:
        return False
    if len(value) >= 16:
        return True
    if _CODE.fullmatch(value) is not None or not is_varied(value, _ENTROPY):
        return False
    if any(map(str.islower, value)) and any(map(str.isupper, value)):
        return True
    return pieces >= 5 and len(value) >= 10 and _HEX.fullmatch(value) is None


def is_made_up(value: str) -> bool:
    """Whether a text is a placeholder, a variable or an example."""
    return _MADE_UP.search(value) is not None


def is_varied(value: str, entropy: float) -> bool:
    """Whether a text has letters and digits, is no sequence of words, and has so many bits for each character."""
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    return _WORDS.fullmatch(value) is None and _entropy(value) >= entropy


def _entropy(value: str) -> float:
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
