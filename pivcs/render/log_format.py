"""Templates for `log --format` (`docs/log-format.md`): fields in braces, with widths, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Formatter
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.ops.log import LoggedEntry
from pivcs.ops.view import SessionView
from pivcs.render.documents import time_text
from pivcs.render.log_text import Looks, decoration
from pivcs.render.text import one_line, visible
from pivcs.render.width import columns_of, truncate

Maker = Callable[[SessionView, LoggedEntry, Looks], str]

_SPEC: Final = re.compile(r"([<>^]?)([0-9]{0,4})(?:\.([0-9]{1,4}))?\Z")
_ESCAPES: Final = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_IDS: Final = frozenset({"id", "oid", "parent", "parent_oid"})
"""Fields that are cut without an ellipsis, so that what is left can be typed."""


class BadTemplate(InputError):
    """A template that cannot be used; `position` is where, from 0."""

    def __init__(self, why: str, position: int, *, hint: str | None = None) -> None:
        super().__init__(f"cannot use this format: {why}", hint=hint or "docs/log-format.md lists the fields")
        self.position = position


def _message(part: str) -> Maker:
    def make(view: SessionView, entry: LoggedEntry, looks: Looks) -> str:
        message = view.entry(entry.row).message
        return one_line(getattr(message, part) or "") if message is not None else ""

    return make


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(visible(name, keep="") for name in names)


FIELDS: Final[dict[str, Maker]] = {
    "id": lambda view, entry, looks: visible(entry.name, keep=""),
    "oid": lambda view, entry, looks: entry.oid.hex,
    "parent": lambda view, entry, looks: (
        "" if entry.parent is None else visible(view.table.name(entry.parent), keep="")
    ),
    "parent_oid": lambda view, entry, looks: "" if entry.parent is None else view.table.object_id(entry.parent).hex,
    "time": lambda view, entry, looks: looks.when(entry.time),
    "iso": lambda view, entry, looks: time_text(entry.time) or "",
    "role": lambda view, entry, looks: one_line(entry.role or ""),
    "type": lambda view, entry, looks: one_line(entry.type),
    "who": lambda view, entry, looks: one_line(entry.who),
    "model": _message("model"),
    "tool": _message("tool_name"),
    "subject": lambda view, entry, looks: one_line(view.subject(entry.row)),
    "head": lambda view, entry, looks: "HEAD" if entry.is_head else "",
    "branch": lambda view, entry, looks: _names(entry.branches),
    "tag": lambda view, entry, looks: _names(entry.tags),
    "label": lambda view, entry, looks: one_line(entry.label or ""),
    "refs": lambda view, entry, looks: ", ".join(text for _, text in decoration(entry)),
    "state": lambda view, entry, looks: "failed" if entry.failed else "",
    "line": lambda view, entry, looks: str(entry.line),
    "offset": lambda view, entry, looks: str(view.table.offset[entry.row]),
    "length": lambda view, entry, looks: str(view.table.length[entry.row]),
}


class _Piece(NamedTuple):
    """Text, and behind it a field (empty: none) with its alignment, width and longest length."""

    text: str
    field: str = ""
    align: str = ""
    width: int = 0
    longest: int | None = None


class Template:
    """A template, read once and filled in for each entry."""

    def __init__(self, text: str) -> None:
        """Raises `BadTemplate`."""
        self._pieces = list(_pieces(text))

    def fill(self, view: SessionView, entry: LoggedEntry, looks: Looks) -> str:
        """Return the text for an entry. What comes from the session is made visible and in one line."""
        done = []
        for piece in self._pieces:
            done.append(piece.text)
            if piece.field:
                done.append(_set(FIELDS[piece.field](view, entry, looks), piece))
        return "".join(done)


def _pieces(text: str) -> list[_Piece]:
    found = []
    at = 0
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise BadTemplate(str(error).lower(), 0, hint="{{ and }} stand for braces") from error
    for literal, field, spec, conversion in parsed:
        shown = re.sub(r"\\[nt\\]", lambda escape: _ESCAPES[escape[0]], literal)
        if field is None:
            found.append(_Piece(shown))
            continue
        at = max(text.find("{" + field, at), 0)
        if field not in FIELDS:
            raise BadTemplate(f"there is no field '{field}' (character {at + 1})", at, hint=_like(field))
        given = _SPEC.match(spec or "")
        if conversion or given is None:
            wrong = f"!{conversion}" if conversion else f":{spec}"
            hint = "as {subject:40}, {id:>12}, {subject:.60}"
            raise BadTemplate(f"'{wrong}' is no width (character {at + 1})", at, hint=hint)
        longest = int(given[3]) if given[3] is not None else None
        found.append(_Piece(shown, field, given[1], int(given[2] or 0), longest))
        at += 1
    return found


def _set(text: str, piece: _Piece) -> str:
    if piece.longest is not None:
        text = text[: piece.longest] if piece.field in _IDS else truncate(text, piece.longest)
    blank = piece.width - columns_of(text)
    if blank <= 0:
        return text
    if piece.align == ">":
        return " " * blank + text
    if piece.align == "^":
        return " " * (blank // 2) + text + " " * (blank - blank // 2)
    return text + " " * blank


def _like(field: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(field, FIELDS, n=1)
    return f"did you mean '{close[0]}'?" if close else "there are " + ", ".join(FIELDS)
