"""Strict reading of JSON text in bytes: what the JavaScript engine under pi would read.

orjson reads nearly every line. It refuses some texts that JavaScript accepts (lone surrogate escapes, invalid UTF-8,
numbers outside the doubles, nesting below level 1024), so a refusal is settled by a parser of our own, which keeps its
stack on the heap: its answer depends neither on the nesting of the data nor on the depth of the caller.
"""

from __future__ import annotations

import json
import re

import orjson


class NotJson(ValueError):
    """The bytes are no JSON text in the strict grammar (pi format 2.3)."""


# The patterns below match as much as they can with nothing behind, so they never give back what they took. They are
# not possessive, which CPython 3.11.0 to 3.11.4 gets wrong for groups. Groups are repeated a bounded number of times,
# because the engine remembers each round; the callers match again where a match ended.

# White space that JavaScript's trim removes, as UTF-8: the JSON ones, VT, FF, the characters of class Zs, U+2028,
# U+2029 and the byte order mark.
_BLANK = re.compile(
    rb"(?:[\t\n\v\f\r ]+|\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf)"
    rb"{0,1000}"
)

_SPACE = re.compile(r"[ \t\n\r]*")
_BODY = re.compile(r'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*){0,1000}')
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_LITERALS: dict[str, tuple[str, object]] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def is_blank(data: bytes) -> bool:
    """Whether nothing is left of a line after JavaScript's trim (pi format 2.3)."""
    return blank_end(data) == len(data)


def blank_end(data: bytes, pos: int = 0) -> int:
    """Return where the run of JavaScript white space that begins at `pos` ends."""
    while (match := _BLANK.match(data, pos)) is not None and match.end() > pos:
        pos = match.end()
    return pos


def parse_json(data: bytes) -> object:
    """Return the value of a JSON text, as JavaScript reads the bytes after decoding them with replacement characters.

    Of a repeated key the last value counts, at the place of the first. Lone surrogate escapes become lone surrogates.
    Integers that do not fit into 64 bits become floats, as all numbers are for JavaScript.
    Raises NotJson for anything else than one value with JSON white space around it.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse(data.decode("utf-8", "replace"))


def _parse(text: str) -> object:
    """Parse without recursion: `outer` holds the containers around the current one, `keys` their open keys."""
    outer: list[dict[str, object] | list[object]] = []
    keys: list[str] = []
    pos = _skip_space(text, 0)
    while True:
        # A value begins at `pos`.
        value: object
        char = text[pos : pos + 1]
        if char == "{":
            inner = _skip_space(text, pos + 1)
            if text[inner : inner + 1] != "}":
                key, pos = _parse_key(text, inner)
                outer.append({})
                keys.append(key)
                continue
            value, pos = {}, inner + 1
        elif char == "[":
            inner = _skip_space(text, pos + 1)
            if text[inner : inner + 1] != "]":
                outer.append([])
                pos = inner
                continue
            value, pos = [], inner + 1
        else:
            value, pos = _parse_scalar(text, pos)
        # A value ended at `pos`: give it to its container, and close those that end here.
        while True:
            pos = _skip_space(text, pos)
            if not outer:
                if pos != len(text):
                    raise NotJson(f"text after the value at character {pos}")
                return value
            container = outer[-1]
            char = text[pos : pos + 1]
            if isinstance(container, dict):
                container[keys[-1]] = value
                if char == ",":
                    keys[-1], pos = _parse_key(text, _skip_space(text, pos + 1))
                    break
                if char != "}":
                    raise NotJson(f"no comma or closing brace at character {pos}")
                keys.pop()
            else:
                container.append(value)
                if char == ",":
                    pos = _skip_space(text, pos + 1)
                    break
                if char != "]":
                    raise NotJson(f"no comma or closing bracket at character {pos}")
            value = outer.pop()
            pos += 1


def _skip_space(text: str, pos: int) -> int:
    match = _SPACE.match(text, pos)
    return match.end() if match else pos


def _parse_key(text: str, pos: int) -> tuple[str, int]:
    """Return a key and where its value begins."""
    key, pos = _parse_string(text, pos)
    pos = _skip_space(text, pos)
    if text[pos : pos + 1] != ":":
        raise NotJson(f"no colon at character {pos}")
    return key, _skip_space(text, pos + 1)


def _parse_string(text: str, pos: int) -> tuple[str, int]:
    if not text.startswith('"', pos):
        raise NotJson(f"no string at character {pos}")
    end = pos + 1
    while (match := _BODY.match(text, end)) is not None and match.end() > end:
        end = match.end()
    if not text.startswith('"', end):
        raise NotJson(f"no string at character {pos}")
    token = text[pos : end + 1]
    if "\\" not in token:
        return token[1:-1], end + 1
    # The token is checked; json joins surrogate pairs and keeps lone ones.
    return str(json.loads(token)), end + 1


def _parse_scalar(text: str, pos: int) -> tuple[object, int]:
    char = text[pos : pos + 1]
    if char == '"':
        return _parse_string(text, pos)
    if char in _LITERALS:
        word, value = _LITERALS[char]
        if text.startswith(word, pos):
            return value, pos + len(word)
    elif (match := _NUMBER.match(text, pos)) is not None:
        return _number(match[1], match[2]), match.end()
    raise NotJson(f"no value at character {pos}")


def _number(digits: str, rest: str) -> int | float:
    # Twenty characters hold every 64 bit integer; int() refuses very long texts, float() does not.
    if not rest and len(digits) <= 20:
        number = int(digits)
        if -(2**63) <= number < 2**64:
            return number
    return float(digits + rest)
