"""What the details of an edit's result say of the file before and after it (pi format 17.2).

`details.patch` is a unified diff; `details.diff`, which is all that versions before 0.75.5 give, is a display text.
Both show the changed lines with up to four lines around them. Whether the last line ends with a line break is not
compared: the display text does not say it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from pivcs.workspace.edits import Edited

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_SHOWN: Final = re.compile(r"([-+ ]) *(\d{1,9}) (.*)", re.DOTALL)
_SKIP: Final = re.compile(r" *\.\.\.")


class Verdict(Enum):
    """How details agree with what an edit should have made."""

    AGREES = "agrees"
    OTHER_BEFORE = "before"
    """The file was not what it should have been before the edit."""
    OTHER_AFTER = "after"
    """The file was as it should be before the edit, but not after it."""
    SILENT = "silent"
    """The details say nothing that can be compared."""


class Hunk(NamedTuple):
    """Consecutive lines before and after; `start` counts lines of the old text from 0, None if it is not told."""

    start: int | None
    old: list[str]
    new: list[str]


def judge(edited: Edited, details: dict[str, object]) -> Verdict:
    """Return whether the details of a result agree with an edit. Costs one pass over the lines of the file."""
    hunks = hunks_of(details)
    if not hunks:
        return Verdict.SILENT
    return _judge(_lines(edited.before), _lines(edited.after), hunks)


def hunks_of(details: dict[str, object]) -> list[Hunk] | None:
    """Return the hunks of the patch, or where it is missing of the display diff; None when neither can be read."""
    patch, diff = details.get("patch"), details.get("diff")
    hunks = parse_patch(patch) if isinstance(patch, str) else None
    return hunks or (parse_display(diff) if isinstance(diff, str) else None)


def _judge(before: list[str], after: list[str], hunks: list[Hunk]) -> Verdict:
    at, after_at = 0, 0
    verdict = Verdict.AGREES
    for hunk in hunks:
        start = hunk.start if hunk.start is not None else _find(before, after, hunk, at, after_at)
        if start is None or start < at or before[start : start + len(hunk.old)] != hunk.old:
            return Verdict.OTHER_BEFORE
        after_start = after_at + start - at
        if before[at:start] != after[after_at:after_start] or (
            after[after_start : after_start + len(hunk.new)] != hunk.new
        ):
            # A later hunk may still show that the file was another one.
            verdict = Verdict.OTHER_AFTER
        at, after_at = start + len(hunk.old), after_start + len(hunk.new)
    return verdict if verdict is not Verdict.AGREES or before[at:] == after[after_at:] else Verdict.OTHER_AFTER


def _find(before: list[str], after: list[str], hunk: Hunk, at: int, after_at: int) -> int | None:
    """Return where a hunk without a number fits, with nothing but equal lines before it."""
    start = at
    while start + len(hunk.old) <= len(before):
        after_start = after_at + start - at
        if before[start : start + len(hunk.old)] == hunk.old and (
            after[after_start : after_start + len(hunk.new)] == hunk.new
        ):
            return start
        if before[start : start + 1] != after[after_start : after_start + 1]:
            return None
        start += 1
    return None


def parse_patch(patch: str) -> list[Hunk] | None:
    """Return the hunks of a unified diff, None when it is none."""
    lines = patch.split("\n")
    hunks = []
    at = 0
    while at < len(lines):
        match = _HUNK.match(lines[at])
        at += 1
        if match is None:
            continue
        left, right = _number(match[2]), _number(match[4])
        first = int(match[1])
        # A hunk without old lines names the line that it stands behind.
        hunk = Hunk(first - 1 if left else first, [], [])
        while left > 0 or right > 0:
            line = lines[at] if at < len(lines) else "?"
            at += 1
            sign = line[:1] or " "
            if sign == "\\":
                continue
            if sign not in "-+ ":
                return None
            if sign != "+":
                left -= 1
                hunk.old.append(line[1:])
            if sign != "-":
                right -= 1
                hunk.new.append(line[1:])
        hunks.append(hunk)
    return hunks or None


def _number(text: str | None) -> int:
    return 1 if text is None else int(text)


def parse_display(diff: str) -> list[Hunk] | None:
    """Return the hunks of a display diff, None when it is none.

    Early versions did not count the lines that they skipped; then a line behind a mark of skipped lines says that it is
    the first, and the numbers of all lines are of no use.
    """
    hunks: list[Hunk] = []
    grown = 0
    skipped = True
    counted = True
    for at, line in enumerate(diff.split("\n")):
        match = _SHOWN.fullmatch(line)
        if match is None:
            if not _SKIP.fullmatch(line):
                return None
            skipped = True
            continue
        sign, number, text = match[1], int(match[2]), match[3].removesuffix("\r")
        if skipped:
            if at and number == 1 and not hunks:
                counted = False
            # Old lines carry old numbers, new ones new numbers.
            hunks.append(Hunk(number - 1 - (grown if sign == "+" else 0), [], []))
            skipped = False
        if sign != "+":
            hunks[-1].old.append(text)
        if sign != "-":
            hunks[-1].new.append(text)
        grown += (sign == "+") - (sign == "-")
    return [hunk if counted else hunk._replace(start=None) for hunk in hunks] or None


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
