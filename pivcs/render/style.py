"""What a piece of text is (its role), and how a role looks on a terminal that shows colour.

Renderers name roles, never colours. Colour is never the only carrier of a meaning: with it taken away, the same words
and glyphs are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal

ColourWhen = Literal["auto", "always", "never"]


class Role(StrEnum):
    """What a piece of text is."""

    PLAIN = "plain"
    ID = "id"
    NODE = "node"
    CURRENT = "current"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    ERROR = "error"
    LABEL = "label"
    BRANCH = "branch"
    DIM = "dim"
    HEADING = "heading"
    WARNING = "warning"
    ADDITION = "addition"
    DELETION = "deletion"


Span = tuple[Role, str]

# Parameters of "select graphic rendition". Only the eight basic colours: they follow the user's palette, light or dark.
_SGR = {
    Role.ID: "33",
    Role.NODE: "33",
    Role.CURRENT: "1;32",
    Role.USER: "1;36",
    Role.ASSISTANT: "35",
    Role.TOOL: "34",
    Role.ERROR: "1;31",
    Role.LABEL: "1;33",
    Role.BRANCH: "1;32",
    Role.DIM: "2",
    Role.HEADING: "1",
    Role.WARNING: "33",
    Role.ADDITION: "32",
    Role.DELETION: "31",
}
_LANES = ("31", "32", "33", "34", "35", "36")


class Styler:
    """Paints text for a terminal, or leaves it plain."""

    __slots__ = ("colour",)

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, role: Role, text: str) -> str:
        """Return `text` as its role looks. `text` must be visible text: this is where escape sequences begin."""
        return self._paint(_SGR.get(role), text)

    def spans(self, spans: Iterable[Span]) -> str:
        """Return spans, painted each by its role, as one text."""
        return "".join([self._paint(_SGR.get(role), text) for role, text in spans])

    def lane(self, number: int, text: str) -> str:
        """Return part of a graph in the colour of its lane; numbers below 0 belong to no lane."""
        return self._paint(_LANES[number % len(_LANES)] if number >= 0 else None, text)

    def graph(self, text: str, lanes: Iterable[int]) -> str:
        """Return a line of a graph with each run of one lane in its colour; `lanes` has one number a character."""
        if not self.colour:
            return text
        done: list[str] = []
        run: list[str] = []
        current = -1
        for character, number in zip(text, lanes, strict=True):
            if number != current and character != " ":
                done.append(self.lane(current, "".join(run)))
                run = []
                current = number
            run.append(character)
        done.append(self.lane(current, "".join(run)))
        return "".join(done)

    def _paint(self, sgr: str | None, text: str) -> str:
        if not self.colour or sgr is None or not text:
            return text
        # Line by line: pagers forget the colour at a line's end, and scroll backwards.
        return "\n".join([f"\x1b[{sgr}m{line}\x1b[m" if line else line for line in text.split("\n")])


def should_colour(when: ColourWhen, environ: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether to use colour on an output.

    `always` and `never`, which the user gave, decide alone. `auto`: no with `NO_COLOR` (not empty); yes with
    `CLICOLOR_FORCE` or `FORCE_COLOR` (neither empty nor `0`); else on a terminal that is not `dumb`, unless `CLICOLOR`
    is `0`.
    """
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "") not in ("", "0", "false") for name in ("CLICOLOR_FORCE", "FORCE_COLOR")):
        return True
    return is_terminal and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"
