"""The history of a position as text, and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pivcs.ops.names import Names
from pivcs.ops.reflog import Move
from pivcs.ops.view import SessionView
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line

_TELLS_FROM = frozenset({"branched", "moved", "undo", "redo", "deleted"})
"""Moves whose beginning is not the entry above: it is said where they come from."""


def move_lines(view: SessionView, ref: str, moves: Iterable[Move], looks: Looks) -> Iterator[str]:
    """Yield a line for each move: the entry, what can be typed for the position, when, why, and what was there."""
    names = Names(view)
    for number, move in enumerate(moves):
        name = one_line(names.name_of(move.row, branches=False)) if move.row is not None else "-"
        spans: list[Span] = [
            (Role.CURRENT if number == 0 else Role.ID, name),
            (Role.PLAIN, f" {one_line(ref)}@{{{number}}} "),
            (Role.DIM, f"{looks.when(move.time)} "),
            (Role.HEADING if move.why != "appended" else Role.PLAIN, move.why),
        ]
        if move.before is not None and move.why in _TELLS_FROM:
            spans.append((Role.DIM, f" (from {one_line(names.name_of(move.before, branches=False))})"))
        said = move.command or (view.subject(move.row) if move.row is not None else "")
        spans.append((Role.PLAIN, f": {one_line(said)}" if said else ""))
        yield looks.styler.spans(fitted(spans, looks.columns)).rstrip(" ")


def move_document(view: SessionView, number: int, move: Move) -> Document:
    """Return a move as a JSON object."""
    table = view.table
    return {
        "number": number,
        "entry": table.name(move.row) if move.row is not None else None,
        "oid": table.object_id(move.row).hex if move.row is not None else None,
        "from": table.name(move.before) if move.before is not None else None,
        "from_oid": table.object_id(move.before).hex if move.before is not None else None,
        "why": move.why,
        "time": time_text(move.time),
        "command": move.command,
        "subject": view.subject(move.row) if move.row is not None else None,
    }
