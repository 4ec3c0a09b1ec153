"""The lines that an edit took out and put in, of the diff in its result (pi format 17.2) or of what its call says."""

from __future__ import annotations

import re
from typing import Final

from pivcs.workspace.texts import encode

_NUMBERED: Final = re.compile(r" *[0-9]+ (.*)", re.DOTALL)


def lines_of_patch(patch: str) -> tuple[list[bytes], list[bytes]]:
    """Return the lines that a diff takes out and those that it puts in, without line ends.

    A unified diff has `@@` before its hunks and two lines for the names; the display form has a line number behind the
    sign; what a call says has neither.
    """
    lines = patch.split("\n")
    if any(line.startswith("@@ ") for line in lines):
        return _of_hunks(lines)
    signed = [line for line in lines if line[:1] in ("+", "-")]
    numbered = [_NUMBERED.match(line[1:]) for line in signed]
    if signed and all(numbered):
        texts = [found[1] for found in numbered if found is not None]
    else:
        texts = [line[1:] for line in signed]
    taken = [_bare(text) for line, text in zip(signed, texts, strict=True) if line[0] == "-"]
    written = [_bare(text) for line, text in zip(signed, texts, strict=True) if line[0] == "+"]
    return taken, written


def _of_hunks(lines: list[str]) -> tuple[list[bytes], list[bytes]]:
    taken, written = [], []
    inside = False
    for place, line in enumerate(lines):
        if line.startswith("@@ "):
            inside = True
        elif line.startswith("--- ") and lines[place + 1 : place + 2] and lines[place + 1].startswith("+++ "):
            inside = False  # the names of another file; a line of a hunk that looks so stands before no such line
        elif inside and line.startswith("-"):
            taken.append(_bare(line[1:]))
        elif inside and line.startswith("+"):
            written.append(_bare(line[1:]))
    return taken, written


def _bare(text: str) -> bytes:
    return encode(text.removesuffix("\r"))
