"""Spans over several lines: wrapped without losing what each character is, set side by side, cut with a count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest

from pivcs.ops.word_changes import Piece
from pivcs.render.log_text import Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import visible
from pivcs.render.width import columns_of, wrap

Line = list[Span]
"""Spans of safe text, without a line break."""


def wrapped(spans: Iterable[Span], columns: int | None) -> list[Line]:
    """Return spans of safe text as lines of at most `columns` (None: only broken where the text is)."""
    known = [(role, text.replace("\t", "    ")) for role, text in spans]
    text = "".join(text for _, text in known)
    roles = [role for role, text in known for _ in text]
    lines: list[Line] = []
    at = 0
    for line in text.split("\n") if columns is None else wrap(text, columns):
        found: list[tuple[Role, str]] = []
        for character in line:
            while text[at] != character:  # spaces and breaks that wrapping has dropped
                at += 1
            found.append((roles[at], character))
            at += 1
        runs = groupby(found, key=lambda each: each[0])
        lines.append([(role, "".join(each for _, each in run)) for role, run in runs])
    return lines


def change_spans(pieces: Iterable[Piece], *, side: str | None = None) -> list[Span]:
    """Return changed text as spans, marked as git marks words: `[-old-]{+new+}`. `side` leaves the other one out."""
    spans: list[Span] = []
    for piece in pieces:
        text = visible(piece.text)
        if piece.kind == "same":
            spans.append((Role.PLAIN, text))
        elif piece.kind == "old" and side != "new":
            spans.append((Role.DELETION, f"[-{text}-]"))
        elif piece.kind == "new" and side != "old":
            spans.append((Role.ADDITION, f"{{+{text}+}}"))
    return spans


def folded(lines: Sequence[Line], most: int | None, what: str = "line") -> list[Line]:
    """Return at most `most` lines, and how many more there are."""
    if most is None or len(lines) <= most + 1:
        return list(lines)
    return [*lines[:most], [(Role.DIM, more(len(lines) - most, what))]]


def more(count: int, what: str) -> str:
    """Return what stands for things that are not shown."""
    return f"(+{count:,} {what}{'' if count == 1 else 's'}; --full shows all)"


def indented(lines: Iterable[Line], first: Sequence[Span], rest: str) -> Iterator[Line]:
    """Yield lines behind an indent: spans on the first, spaces on the others."""
    for number, line in enumerate(lines):
        yield [*first, *line] if not number else [(Role.PLAIN, rest), *line]


def beside(left: Sequence[Line], right: Sequence[Line], columns: int) -> Iterator[Line]:
    """Yield lines of two columns of `columns` each, a bar between them."""
    empty: Line = []
    for mine, theirs in zip_longest(left, right, fillvalue=empty):
        cut = fitted(mine, columns)
        gap = " " * max(0, columns - sum(columns_of(text) for _, text in cut))
        yield [*cut, (Role.PLAIN, gap), (Role.DIM, " | "), *fitted(theirs, columns)]


def painted(lines: Iterable[Line], looks: Looks) -> Iterator[str]:
    """Yield lines as text, cut where a terminal is too narrow."""
    for line in lines:
        yield looks.styler.spans(fitted(line, looks.columns)).rstrip(" ")
