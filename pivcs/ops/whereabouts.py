"""Where in a session an entry stands: on which branch, after which prompt, by which model."""

from __future__ import annotations

from array import array

from pivcs.objects.table import NO_ROW
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, USER

_NONE = 0xFFFF


class Whereabouts:
    """Answers for one session. Making it takes time for each row, asking does not."""

    def __init__(self, view: SessionView) -> None:
        self._view = view
        head = view.refs.head_branch
        branches = sorted(view.refs.branches, key=lambda each: (each.name != head, each.name != "main", each.row))
        self._names = [branch.name for branch in branches[:_NONE]]
        self._branch = array("H", (_NONE,)) * len(view.table)
        self._current = bytearray(len(view.table))
        parents = view.table.parent
        for number, branch in enumerate(branches[:_NONE]):
            at = branch.row
            while at != NO_ROW and self._branch[at] == _NONE:
                self._branch[at] = number
                at = parents[at]
        at = view.head if view.head is not None else NO_ROW
        while at != NO_ROW:
            self._current[at] = 1
            at = parents[at]

    def branch(self, row: int) -> str | None:
        """Return a branch whose path has the row: HEAD's, else `main`, else the one that was begun first."""
        number = self._branch[row]
        return None if number == _NONE else self._names[number]

    def is_abandoned(self, row: int) -> bool:
        """Whether the row is on another path than HEAD's."""
        return not self._current[row]

    def prompt(self, row: int) -> int | None:
        """Return the nearest user message on the path to a row."""
        at: int | None = row
        while at is not None and self._view.table.code[at] != USER:
            at = self._view.table.parent_of(at)
        return at

    def model(self, row: int) -> str | None:
        """Return the model of the answer at, or else above, a row."""
        at: int | None = row
        while at is not None and self._view.table.code[at] != ASSISTANT:
            at = self._view.table.parent_of(at)
        message = self._view.entry(at).message if at is not None else None
        return message.model if message is not None else None
