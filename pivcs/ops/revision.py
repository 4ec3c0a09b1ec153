"""What users type to name an entry, resolved to a row: the one place that reads revisions.

Kinds of name, tried in this order: `HEAD` or `@`, a label, an entry id, a line (`L7`), the beginning of an entry id or
an object id (four characters and more). Explicit forms: `label:"any text"`, `entry/<id>`. Behind any of them `~n` and
`^` go to ancestors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pivcs.errors import InputError
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind

_STEP: Final = re.compile(r"(?:~([0-9]{0,18})|\^)\Z")
_HEX: Final = re.compile(r"[0-9a-f]{4,64}\Z")
_LINE: Final = re.compile(r"L([0-9]{1,18})(?:\.([0-9]{1,18}))?\Z")
_LABEL: Final = re.compile(r'label:(?:"(.*)"|(.*))\Z', re.DOTALL)
SHOWN_CANDIDATES: Final = 8


class UnknownRevision(InputError):
    """A name that nothing in the session has."""

    def __init__(self, text: str, where: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"no entry, label or object id '{text}' in '{where}'",
            hint=hint or "`pivcs log` shows the ids that can be typed here",
        )
        self.text = text


class AmbiguousRevision(InputError):
    """A name that several entries have; `candidates` are their rows."""

    def __init__(self, text: str, kind: str, names: Sequence[str], candidates: Sequence[int]) -> None:
        shown = ", ".join(names[:SHOWN_CANDIDATES]) + (", …" if len(names) > SHOWN_CANDIDATES else "")
        super().__init__(f"'{text}' is the {kind} of {len(candidates)} entries: {shown}", hint="type more of the id")
        self.text = text
        self.candidates = tuple(candidates)


class NoSuchAncestor(InputError):
    """`~n` or `^` goes beyond the root."""


class NoEntryThere(InputError):
    """A line was named that holds no entry."""


def resolve(view: SessionView, text: str) -> int:
    """Return the node's row that a revision names.

    Raises `UnknownRevision`, `AmbiguousRevision`, `NoSuchAncestor`, `NoEntryThere`.
    """
    row = resolve_row(view, text)
    if not view.table.is_node(row):
        kind = LineKind(view.table.kind[row]).name.lower()
        article = "an" if kind[0] in "aeiou" else "a"
        what = "the header" if kind == "header" else f"{article} {kind} line"
        raise NoEntryThere(f"line {view.table.line_number(row)} of '{view.where}' is {what}, no entry")
    return view.table.first_row(row)


def resolve_row(view: SessionView, text: str) -> int:
    """Return the row that a revision names, which for `L7` may be a line that is no entry. Raises as `resolve`."""
    # A label may itself end in `~2`, so the longest name wins.
    name, steps = text, 0
    while (row := _find(view, name)) is None:
        step = _STEP.search(name)
        if step is None or not step.start():
            raise UnknownRevision(text, view.where, hint=_suggestion(view, name))
        name = name[: step.start()]
        steps += int(step[1] or 1) if step[0][0] == "~" else 1
    for above in range(steps):
        parent = view.table.parent_of(row)
        if parent is None:
            raise NoSuchAncestor(
                f"'{text}' goes beyond the root: only {above} {'entry is' if above == 1 else 'entries are'} above it"
            )
        row = parent
    return row


def _find(view: SessionView, text: str) -> int | None:
    for find in (_by_head, _by_label, _by_entry, _by_line, _by_prefix):
        row = find(view, text)
        if row is not None:
            return row
    return None


def _by_head(view: SessionView, text: str) -> int | None:
    if text not in ("HEAD", "@"):
        return None
    if view.head is None:
        raise UnknownRevision(text, view.where, hint="the session has no entry yet")
    return view.head


def _by_label(view: SessionView, text: str) -> int | None:
    explicit = _LABEL.match(text)
    wanted = text if explicit is None else explicit[1] if explicit[1] is not None else explicit[2]
    rows = [row for row, label in view.labels.items() if label == wanted]
    if len(rows) > 1:
        raise AmbiguousRevision(text, "label", [view.table.name(row) for row in rows], rows)
    return rows[0] if rows else None


def _by_entry(view: SessionView, text: str) -> int | None:
    return view.table.row_named(text.removeprefix("entry/"))


def _by_line(view: SessionView, text: str) -> int | None:
    match = _LINE.match(text.removeprefix("entry/"))
    if match is None:
        return None
    line, place = int(match[1]), int(match[2] or 1)
    table = view.table
    # Rows are lines but for what was salvaged, so the row is at or shortly after the line's number.
    for row in range(max(0, line - 1), min(len(table), line + len(table.salvaged) + 1)):
        if table.line_number(row) == line and table.place_in_line(row) == place:
            glued = table.kind[row] == LineKind.GLUED and row + 1 < len(table) and table.is_node(row + 1)
            return row + 1 if glued else row
    return None


def _by_prefix(view: SessionView, text: str) -> int | None:
    if not _HEX.match(text):
        return None
    table = view.table
    even = bytes.fromhex(text[: len(text) // 2 * 2])
    rows = table.rows_with_digest_prefix(even, int(text[-1], 16) if len(text) % 2 else None)
    names = {table.digest(row): row for row in rows}
    if len(text) < 8:
        for row in _rows_with_id_prefix(view, text):
            names[table.digest(row)] = row
    if len(names) > 1:
        rows = list(names.values())
        raise AmbiguousRevision(text, "beginning of the id", [table.name(row) for row in rows], rows)
    return next(iter(names.values()), None)


def _rows_with_id_prefix(view: SessionView, text: str) -> list[int]:
    table = view.table
    shift = 4 * (8 - len(text))
    wanted = int(text, 16)
    return [
        row
        for row, number in enumerate(table.entry_id)
        if number >> shift == wanted and table.is_node(row) and table.name(row).startswith(text)
    ]


def _suggestion(view: SessionView, text: str) -> str | None:
    from difflib import get_close_matches


    known = [*view.labels.values(), *(view.table.name(row) for row in view.tips()[-1000:])]
    close = get_close_matches(text, known, n=1)
    return f"did you mean '{close[0]}'?" if close else None

