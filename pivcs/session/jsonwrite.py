"""JSON text as the JavaScript engine under pi writes it, byte for byte (pi format 2.2).

The writer keeps its stack on the heap: neither the nesting of the data nor the depth of the caller matters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from json.encoder import encode_basestring
from typing import Final


class Undefined(Enum):
    """The type of `UNDEFINED`, so that checkers of types know the one value that it has."""

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined.UNDEFINED
"""JavaScript's `undefined`: a key with it is left out, in a list it is written `null`."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_LAST_INDEX: Final = 2**32 - 2
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPR = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?", re.ASCII)
_EXACT: Final = 2**53
"""Integers of this size and beyond are not all doubles."""

_END: Final = object()
_CONTAINERS: Final = (dict, list, tuple)
_SCALARS: Final = (str, int, float, type(None), Undefined)

_Frame = tuple[object, Iterator[object], str]


def dump_json(value: object) -> bytes:
    """Return a value as `JSON.stringify` writes it, in UTF-8.

    Takes dicts with string keys (any mapping), lists, tuples, strings, numbers, booleans, None and `UNDEFINED`.
    Numbers are doubles, as for JavaScript: large integers lose digits, and NaN and the infinities become `null`.
    Raises TypeError for other values, for a key that is no string and for `UNDEFINED` alone, and ValueError for a value
    that contains itself.
    """
    if value is UNDEFINED:
        raise TypeError("undefined alone has no JSON text")
    parts: list[str] = []
    write = parts.append
    stack: list[_Frame] = []
    inside: set[int] = set()
    current = value
    while True:
        # Asking for Mapping is slow, and rarely needed.
        if isinstance(current, _CONTAINERS) or (not isinstance(current, _SCALARS) and isinstance(current, Mapping)):
            if id(current) in inside:
                raise ValueError("a value contains itself")
            inside.add(id(current))
            if isinstance(current, (list, tuple)):
                write("[")
                stack.append((current, iter(current), "]"))
            else:
                write("{")
                stack.append((current, iter(_members(current)), "}"))
            comma = ""
        else:
            write(_scalar(current))
            comma = ","
        # What comes next: the next value of the innermost container, after closing those that end here.
        while stack:
            container, values, closing = stack[-1]
            current = next(values, _END)
            if current is not _END:
                break
            write(closing)
            inside.discard(id(container))
            stack.pop()
            comma = ","
        else:
            return "".join(parts).encode()
        write(comma)
        if closing == "}":
            assert isinstance(current, tuple)
            write(_string(current[0]))
            write(":")
            current = current[1]




def _members(value: Mapping[object, object]) -> list[tuple[str, object]]:
    """Return the members in the order in which JavaScript keeps them: keys that are array indices first."""
    indices: list[tuple[str, object]] = []
    others: list[tuple[str, object]] = []
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"a key must be a string, not {type(key).__name__}")
        if item is not UNDEFINED:
            is_index = _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX
            (indices if is_index else others).append((key, item))
    if indices:
        indices.sort(key=lambda member: int(member[0]))
    return indices + others


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None or value is UNDEFINED:
        return "null"
    if isinstance(value, int):
        if -_EXACT < value < _EXACT:
            return int.__repr__(value)
        try:
            return _number(float(value))
        except OverflowError:
            return "null"
    if isinstance(value, float):
        return _number(value)
    raise TypeError(f"no JSON value: {type(value).__name__}")


def _string(text: str) -> str:
    quoted = encode_basestring(text)
    if not quoted.isascii() and _SURROGATE.search(quoted):
        # Two halves that belong together are one character for JavaScript; only lone ones are escaped.
        joined = quoted.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", joined)
    return quoted


def _number(value: float) -> str:
    """Return a double with the fewest digits that read back the same, in JavaScript's notation."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    match = _REPR.fullmatch(float.__repr__(value))
    assert match is not None
    sign, whole, fraction, exponent = match[1], match[2], match[3] or "", int(match[4] or 0)
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power `point`.
    point = len(digits) - len(fraction) + exponent
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"
