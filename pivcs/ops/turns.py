"""The turn that an entry belongs to."""

from __future__ import annotations

from pivcs.ops.log import Turn, ends_turn, iter_path, turns_of
from pivcs.ops.view import SessionView


def turn_around(view: SessionView, row: int) -> Turn | None:
    """Return the turn that has a row in it; None when there is no conversation in what would be one.

    Where the turn was tried more than once below the row, it is followed towards HEAD, else the way that was begun
    first.
    """
    towards_head = set(iter_path(view, view.head))
    end = row
    while not ends_turn(view, end):
        children = view.children.get(end)
        if not children:
            break
        end = next((child for child in children if child in towards_head), children[0])
    rows = [end]
    at = view.table.parent_of(end)
    while at is not None and not ends_turn(view, at):
        rows.append(at)
        at = view.table.parent_of(at)
    turns = turns_of(view, rows)
    return turns[0] if turns else None
