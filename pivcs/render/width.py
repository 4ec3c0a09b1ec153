"""Columns that text takes in a terminal; cutting, filling and wrapping to columns.

All functions expect text that went through `pivcs.render.text.visible`. Controls that were kept (tab, line break)
count as one column; `wrap` replaces tabs by spaces. Nothing here cuts inside a character made of several code points.
`wcwidth` is imported only for text that needs it: importing it takes longer than a short `log`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from pivcs.render.text import PICTOGRAPH, pattern

TAB_COLUMNS = 8

_ZERO_WIDTH_JOINER = "\u200d"
# Latin, Greek and Cyrillic letters, dashes, quotes, arrows, box drawing: one column each, nothing that combines.
_NARROW = re.compile(
    "[\x00-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03c9\u0400-\u0482\u048a-\u052f"
    "\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f]*"
)


def columns_of(text: str) -> int:
    """Return how many columns `text` takes."""
    if _is_narrow(text):
        return len(text)
    return sum(width for _, width in _clusters(text))


def truncate(text: str, columns: int, ellipsis: str = "…") -> str:
    """Return `text` if it fits in `columns`, else its beginning and `ellipsis`, together at most `columns` wide.

    Where not even the ellipsis fits, as much of it as does. Only the part that can fit is looked at.
    """
    if columns <= 0:
        return ""
    if _is_narrow(text[: columns + 1]) and len(text) <= columns:
        return text
    head = _head(text, columns)
    if len(head) == len(text):
        return text
    room = columns - columns_of(ellipsis)
    if room < 0:
        return _head(ellipsis, columns)
    return _head(head, room) + ellipsis


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Return `text` filled with spaces to `columns`, after it or (`right`: aligned right) before it.

    Wider text is returned as it is.
    """
    fill = " " * (columns - columns_of(text))
    return fill + text if right else text + fill


def wrap(text: str, columns: int) -> list[str]:
    """Return `text` as lines of at most `columns`: its own lines, the long ones broken at spaces.

    Words longer than a line are cut; text without spaces of wide characters (Chinese, Japanese) breaks between any
    two. Spaces at a break are dropped, indentation stays. `columns` below 1 counts as 1; a wide character on a line
    of one column stands alone on it and is wider.
    """
    columns = max(1, columns)
    lines: list[str] = []
    for line in text.split("\n"):
        _wrap_line(_without_tabs(line) if "\t" in line else line, columns, lines)
    return lines


def _wrap_line(line: str, columns: int, lines: list[str]) -> None:
    if len(line) <= columns and columns_of(line) <= columns:
        lines.append(line)
        return
    done: list[str] = []
    used = 0
    gap = ""  # spaces not yet written: dropped when the next word starts a line
    for token, width in _tokens(line):
        if token[0] == " ":
            gap = token
            continue
        if used + len(gap) + width <= columns:
            done.append(gap + token)
            used += len(gap) + width
            gap = ""
            continue
        indent = gap if not done else ""
        if done:
            lines.append("".join(done))
            done = []
        gap = ""
        if indent and len(indent) + width <= columns:
            token, width = indent + token, len(indent) + width
        if width > columns:
            *full, token = _cut(token, columns)
            lines += full
            width = columns_of(token)
        done = [token]
        used = width
    if done or not line.strip(" "):
        lines.append("".join(done))


def _cut(word: str, columns: int) -> list[str]:
    """A word in pieces of at most `columns`, a wide character alone where it is wider than that."""
    if _is_narrow(word):
        return [word[start : start + columns] for start in range(0, len(word), columns)]
    pieces: list[str] = []
    piece: list[str] = []
    used = 0
    for cluster, width in _clusters(word):
        if piece and used + width > columns:
            pieces.append("".join(piece))
            piece = []
            used = 0
        piece.append(cluster)
        used += width
    pieces.append("".join(piece))
    return pieces


def _tokens(line: str) -> Iterator[tuple[str, int]]:
    """Yield runs of spaces, words, and wide characters one by one, each with its width."""
    for run in re.findall(" +|[^ ]+", line):
        if run[0] == " " or _is_narrow(run):
            yield run, len(run)
            continue
        word: list[str] = []
        word_width = 0
        for cluster, width in _clusters(run):
            if width < 2:
                word.append(cluster)
                word_width += width
                continue
            if word:
                yield "".join(word), word_width
                word, word_width = [], 0
            yield cluster, width
        if word:
            yield "".join(word), word_width


def _without_tabs(line: str) -> str:
    parts = line.split("\t")
    done = [parts[0]]
    used = columns_of(parts[0])
    for part in parts[1:]:
        fill = TAB_COLUMNS - used % TAB_COLUMNS
        done.append(" " * fill + part)
        used += fill + columns_of(part)
    return "".join(done)


def _is_narrow(text: str) -> bool:
    return text.isascii() or _NARROW.fullmatch(text) is not None


def _head(text: str, columns: int) -> str:
    """The longest beginning of `text` that takes at most `columns`."""
    # One character more: it might combine with the last one that fits.
    if _is_narrow(text[: columns + 1]):
        return text[:columns]
    used = 0
    end = 0
    for cluster, width in _clusters(text):
        if used + width > columns:
            break
        used += width
        end += len(cluster)
    return text[:end]


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of `text` as people count them (code points that belong together), with their widths."""
    wcwidth, wcswidth = _measures()
    start = 0
    length = len(text)
    while start < length:
        first = text[start]
        end = start + 1
        while end < length and _belongs(text, start, end, wcwidth):
            end += 1
        cluster = text[start:end]
        width = wcwidth(first) if first >= " " else 1
        if end - start > 1:
            width = max(width, wcswidth(cluster))
        yield cluster, max(0, width)
        start = end


def _belongs(text: str, start: int, at: int, wcwidth: Callable[[str], int]) -> bool:
    """Whether the code point `at` continues the character that begins at `start`."""
    character = text[at]
    if character < "\u0300":
        return False
    if text[at - 1] == _ZERO_WIDTH_JOINER and pattern(PICTOGRAPH).match(character):
        return True
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # a skin tone
        return pattern(PICTOGRAPH).match(text[start]) is not None
    if "\U0001f1e6" <= character <= "\U0001f1ff":  # two regional indicators are a flag
        return at == start + 1 and "\U0001f1e6" <= text[start] <= "\U0001f1ff"
    if text[start] < " ":
        return False
    return wcwidth(character) == 0


@cache
def _measures() -> tuple[Callable[[str], int], Callable[[str], int]]:
    from wcwidth import wcswidth, wcwidth

    return wcwidth, wcswidth
