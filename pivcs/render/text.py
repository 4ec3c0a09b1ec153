"""Text from sessions made safe for a terminal: nothing hidden, nothing that moves the cursor.

Text of entries comes from models, tools and web pages. What a terminal would act on or not show at all (control
characters, escape sequences, direction overrides, zero-width characters, lone surrogates) is written out instead.
"""

from __future__ import annotations

import re
from functools import cache

# Characters that join into one picture. Wider than Unicode's Extended_Pictographic in places where nothing else lives.
PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
SKIN_TONES = "\U0001f3fb-\U0001f3ff"

# Scripts in which a joiner between two letters changes how these are written (Persian, Hindi, Sinhala, Khmer ...).
_JOINING = "\u0600-\u0605\u0610-\u061b\u061d-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\ua840-\ua877"
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fffd\U00030000-\U0003fffd"

# First and last code points; C0 controls are added but for those that the caller keeps.
_UNSAFE_RANGES = (
    (0x7F, 0x9F),
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),
    (0x61C, 0x61C),  # a direction mark
    (0x115F, 0x1160),  # fillers, blank in all fonts, as are 3164 and FFA0
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),  # zero width, direction marks
    (0x2028, 0x202E),  # line separators, direction overrides
    (0x2060, 0x206F),  # zero width, direction isolates
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF),
)
_UNSAFE_BEYOND = (
    "[\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # the last holds tag characters
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
)

# Patterns are compiled on first use: few texts need them, and it takes as long as importing the rest.
# Surroundings in which a joiner or selector does something, matched at its place (a picture's: or right behind it).
_AFTER_PICTURE = f"(?<=[{PICTOGRAPHS}])|(?<=[{PICTOGRAPHS}][{SKIN_TONES}\ufe0e\ufe0f])"
_AFTER_PICTOGRAPH = f"(?<=[{PICTOGRAPHS}])"
PICTOGRAPH = f"[{PICTOGRAPHS}]"
_IN_KEYCAP = "(?<=[0-9#*])\ufe0f\u20e3"
_IN_WORD = f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
_AFTER_IDEOGRAPH = f"(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe0d\U000e0100-\U000e01ef]"

_LINE_BREAKS = re.compile("[\n\r\v\f\x85\u2028\u2029]")
_BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_BLANK_RUN = re.compile(f"[{_BLANKS}]+")
_NOT_BLANK = re.compile(f"[^{_BLANKS}\n\r\v\f\x85\u2028\u2029]")


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """Return one of this module's expressions compiled, once."""
    return re.compile(expression)


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Return `text` with everything that a terminal would obey or not show written out.

    C0 controls and DEL are in caret notation (`^[`), all else by code point (`<U+202E>`): C1 controls, direction marks,
    overrides and isolates, zero-width and other invisible characters, line and paragraph separators, tag characters,
    lone surrogates, noncharacters. Kept are the C0 controls in `keep`, joiners and variation selectors inside an emoji,
    one variation selector after an ideograph, and joiners between letters of scripts that are written with them.
    The result can always be encoded as UTF-8, and making it visible again changes nothing.
    """
    # Most texts need no large pattern, which takes 5 ms to compile. Below U+034F what hides is not printable either.
    if text.isprintable() and (text.isascii() or max(text) < "\u034f"):
        return text
    if text.isascii():
        return _controls(keep).sub(_written_out, text)
    return _unsafe(keep).sub(_written_out, text)


@cache
def _controls(keep: str) -> re.Pattern[str]:
    controls = [chr(code) for code in range(0x20) if chr(code) not in keep] + ["\x7f"]
    return re.compile(f"[{re.escape(''.join(controls))}]")


@cache
def _unsafe(keep: str) -> re.Pattern[str]:
    """Finds what may be unsafe: all beyond U+FFFF may, since a set that goes there is searched 20 times slower."""
    controls = [(code, code) for code in range(0x20) if chr(code) not in keep]
    safe: list[str] = []
    begin = 0
    for first, last in (*controls, *_UNSAFE_RANGES):
        if begin < first:
            safe.append(f"{re.escape(chr(begin))}-{re.escape(chr(first - 1))}")
        begin = last + 1
    return re.compile(f"[^{''.join(safe)}]")


def _written_out(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return "^" + chr(code ^ 0x40)
    if code > 0xFFFF and pattern(_UNSAFE_BEYOND).match(character) is None:
        return character
    if _does_something(found.string, found.start(), character):
        return character
    return f"<U+{code:04X}>"


def _does_something(text: str, at: int, character: str) -> bool:
    """Whether a joiner or variation selector stands where it changes how its neighbours are written."""
    if character in "\u200c\u200d" and pattern(_IN_WORD).match(text, at):
        return True
    if character == "\u200d":
        return (
            pattern(_AFTER_PICTURE).match(text, at) is not None and pattern(PICTOGRAPH).match(text, at + 1) is not None
        )
    if character in "\ufe0e\ufe0f":
        return pattern(_AFTER_PICTOGRAPH).match(text, at) is not None or pattern(_IN_KEYCAP).match(text, at) is not None
    return pattern(_AFTER_IDEOGRAPH).match(text, at) is not None


def one_line(text: str, *, limit: int = 1000) -> str:
    """Return the first line of `text` that is not blank, made visible, with each run of blanks as one space.

    At most `limit` characters of the line are taken, then `…` follows: the cost does not depend on a long line's
    length. Text without such a line gives the empty string.
    """
    start = _NOT_BLANK.search(text)
    if start is None:
        return ""
    line = text[start.start() : start.start() + limit + 1]
    end = _LINE_BREAKS.search(line)
    if end is not None:
        line = line[: end.start()]
    cut = len(line) > limit
    shown = visible(_BLANK_RUN.sub(" ", line[:limit]).rstrip(" "), keep="")
    return shown + "…" if cut else shown


def can_encode(text: str, encoding: str) -> bool:
    """Whether `encoding` (a codec's name; an unknown one counts as ASCII) has all characters of `text`."""
    try:
        text.encode(_known(encoding))
    except UnicodeError:
        return False
    return True


def encodable(text: str, encoding: str) -> str:
    r"""Return `text` with every character that `encoding` lacks written as `\u{1f600}`; never raises.

    An unknown encoding counts as ASCII. For output to a terminal or pipe that is not UTF-8 (`LC_ALL=C`).
    """
    if text.isascii() or can_encode(text, encoding):
        return text
    codec = _known(encoding)
    spelled = {character: _spelled(character, codec) for character in set(text)}
    return "".join([spelled[character] for character in text])


def _spelled(character: str, codec: str) -> str:
    return character if can_encode(character, codec) else f"\\u{{{ord(character):x}}}"


def _known(encoding: str) -> str:
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        return "ascii"
    return encoding
