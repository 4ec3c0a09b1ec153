"""What pi's edit tool makes of a file, to the byte (pi format 17.2).

No session records which version of the rules was at work. `Rules` are listed newest first; what a result says of the
change tells them apart (`evidence.py`), where they differ at all: for matches that are not exact, and for files with
CR.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from typing import Final, NamedTuple

from pivcs.session.jsstring import JS_SPACE
from pivcs.workspace.calls import Replacement
from pivcs.workspace.texts import decode, encode

BOM: Final = "\ufeff"


class Rules(Enum):
    """How an edit is written back, newest first."""

    LINE_ENDS_STAY = "1.5.1"
    LINES_STAY = "0.79.9"
    ALL_REWRITTEN = "older"


class EditRefused(ValueError):
    """The edit does not fit the file: pi would have answered with an error."""


class Edited(NamedTuple):
    """The file after the edit, and the two texts that pi compares for the result's details."""

    content: bytes
    before: str
    after: str


class _Range(NamedTuple):
    """A piece of a text and what takes its place."""

    start: int
    end: int
    new: str


def apply_edit(
    content: bytes, replacements: Sequence[Replacement], rules: Rules = Rules.LINE_ENDS_STAY, *,
    everywhere: bool = False,
) -> Edited:  # fmt: skip
    """Return what an edit makes of a file. Raises `EditRefused`.

    With `everywhere`, which pi does not have, each exact occurrence is replaced. Costs a few passes over the file.
    """
    raw = decode(content)
    mark, raw = (BOM, raw[1:]) if raw.startswith(BOM) else ("", raw)
    text = _with_lf(raw)
    wanted = [Replacement(_with_lf(old), _with_lf(new)) for old, new in replacements]
    if not wanted or not all(old for old, _ in wanted):
        raise EditRefused("there is nothing to look for")
    before, ranges = _everywhere(text, wanted) if everywhere else _ranges(text, wanted, rules)
    after = _replaced(before, ranges)
    if after == before:
        raise EditRefused("the edit changes nothing")
    if "\r" not in raw:
        written = after
    elif rules is Rules.LINE_ENDS_STAY:
        written = _replaced_keeping_line_ends(raw, ranges)
    else:
        first = raw.find("\n")
        written = after.replace("\n", "\r\n") if first > 0 and raw[first - 1] == "\r" else after
    return Edited(encode(mark + written), before, after)


def _ranges(text: str, wanted: Sequence[Replacement], rules: Rules) -> tuple[str, list[_Range]]:
    """Return the text that is changed, and the ranges of it that are, in order."""
    exact = all(old in text for old, _ in wanted)
    loose_text = normalised(text)
    base = text if exact else loose_text
    found = []
    for old, new in wanted:
        loose_old = normalised(old)
        at, size = base.find(old), len(old)
        if at < 0:
            at, size = loose_text.find(loose_old), len(loose_old)
        if at < 0:
            raise EditRefused("the text is not in the file")
        if _count(loose_text, loose_old) > 1:
            raise EditRefused("the text is in the file more than once")
        found.append(_Range(at, at + size, new))
    found.sort(key=lambda each: each.start)
    if any(one.end > other.start for one, other in pairwise(found)):
        raise EditRefused("two replacements overlap")
    if not exact and rules is not Rules.ALL_REWRITTEN:
        return text, _whole_lines(text, loose_text, found)
    return base, found


def _everywhere(text: str, wanted: Sequence[Replacement]) -> tuple[str, list[_Range]]:
    found = []
    for old, new in wanted:
        at = text.find(old)
        if at < 0:
            raise EditRefused("the text is not in the file")
        while at >= 0:
            found.append(_Range(at, at + len(old), new))
            at = text.find(old, at + len(old))
    found.sort(key=lambda each: each.start)
    if any(one.end > other.start for one, other in pairwise(found)):
        raise EditRefused("two replacements overlap")
    return text, found


def normalised(text: str) -> str:
    """Return the form in which texts are compared that do not match exactly."""
    # Most files have nothing to be normalised; looking for one character is much faster than for two.
    if text.isascii() and text[-1:] not in _ENDS and not any(
        space in text and space + "\n" in text for space in _ASCII_SPACE
    ):  # fmt: skip
        return text
    lines = unicodedata.normalize("NFKC", text).split("\n")
    return "\n".join(line.rstrip(JS_SPACE) for line in lines).translate(_PLAIN)


_ASCII_SPACE: Final = ("\t", "\v", "\f", "\r", " ")
_ENDS: Final = frozenset(_ASCII_SPACE)
_PLAIN: Final = (
    dict.fromkeys(range(0x2018, 0x201C), "'")
    | dict.fromkeys(range(0x201C, 0x2020), '"')
    | dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-")
    | dict.fromkeys((0xA0, *range(0x2002, 0x200B), 0x202F, 0x205F, 0x3000), " ")
)


def _count(text: str, part: str) -> int:
    """Return how often pi finds a part: an empty one, which only white space normalises to, between all units."""
    if part:
        return text.count(part)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 - 1


def _whole_lines(text: str, loose_text: str, found: Sequence[_Range]) -> list[_Range]:
    """Turn ranges of the normalised text into ranges of the text itself that are widened to whole lines.

    Lines that a range touches are written from the normalised text, all others are left as they are.
    """
    starts, loose_starts = _line_starts(text), _line_starts(loose_text)
    if len(starts) != len(loose_starts):
        raise EditRefused("a last line of white space is in the way")
    groups: list[tuple[int, int, list[_Range]]] = []
    line = 0
    for each in found:
        while line + 1 < len(loose_starts) and loose_starts[line + 1] <= each.start:
            line += 1
        last = line
        while last + 1 < len(loose_starts) and loose_starts[last + 1] < each.end:
            last += 1
        if line + 1 >= len(loose_starts) or last + 1 >= len(loose_starts):
            raise EditRefused("the text is behind the last line")
        if groups and line < groups[-1][1]:
            first, end, inside = groups[-1]
            groups[-1] = (first, max(end, last + 1), [*inside, each])
        else:
            groups.append((line, last + 1, [each]))
    result = []
    for first, end, inside in groups:
        offset = loose_starts[first]
        moved = [_Range(each.start - offset, each.end - offset, each.new) for each in inside]
        result.append(_Range(starts[first], starts[end], _replaced(loose_text[offset : loose_starts[end]], moved)))
    return result


def _line_starts(text: str) -> list[int]:
    """Return where each line starts, and where the last one ends."""
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _replaced(text: str, ranges: Sequence[_Range]) -> str:
    parts: list[str] = []
    at = 0
    for each in ranges:
        parts += (text[at : each.start], each.new)
        at = each.end
    parts.append(text[at:])
    return "".join(parts)


def _replaced_keeping_line_ends(raw: str, ranges: Sequence[_Range]) -> str:
    """Replace ranges, which are places in the text with LF, in the text as it is.

    Line breaks of the new text get the line end of the line where the range starts. Where a CR that stays would meet
    the LF of the next piece and become one line break with it, another LF keeps the two apart.
    """
    parts: list[str] = []
    ends_with_cr = False
    pairs, next_pair = 0, raw.find("\r\n")

    def place(at: int) -> int:
        """Each CRLF before a place makes it one character further in the raw text. Asked in ascending order."""
        nonlocal pairs, next_pair
        while next_pair >= 0 and next_pair - pairs < at:
            pairs += 1
            next_pair = raw.find("\r\n", next_pair + 2)
        return at + pairs

    def add(part: str) -> None:
        nonlocal ends_with_cr
        if part:
            if ends_with_cr and part.startswith("\n"):
                parts.append("\n")
            parts.append(part)
            ends_with_cr = part.endswith("\r")

    at = 0
    for each in ranges:
        start = place(each.start)
        add(raw[at:start])
        add(each.new.replace("\n", _line_end(raw, start)))
        at = place(each.end)
    add(raw[at:])
    return "".join(parts)


def _line_end(raw: str, at: int) -> str:
    """Return the line end of the line at a place, of the line before when it has none."""
    end = raw.find("\n", at)
    if end < 0:
        end = raw.rfind("\n", 0, at + 1)
    if end < 0:
        return "\r" if "\r" in raw else "\n"
    return "\r\n" if end > 0 and raw[end - 1] == "\r" else "\n"


def _with_lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
