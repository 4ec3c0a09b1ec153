"""Which entries belong to a branch alone: those since it parted from what was there before it.

Of several conversation entries that follow the same one, the first in the file goes on with the line, and each other
one begins a line of its own; so `pivcs.ops.branching` gives out branches, and the answer is found from the tree alone.
"""

from __future__ import annotations

from array import array

from pivcs.objects.table import NO_ROW
from pivcs.ops.view import SessionView
from pivcs.session.codes import is_conversation


class BranchLines:
    """The lines of a session's tree. Making it takes time that grows with the session, asking for one does not."""

    def __init__(self, view: SessionView) -> None:
        table = view.table
        self._parents = table.parent
        self._conversation = bytes(is_conversation(code) for code in range(256))
        self._codes = table.code
        self._above = array("I", (NO_ROW,)) * len(table)
        """The nearest conversation entry above each row."""
        self._first = array("I", (NO_ROW,)) * (len(table) + 1)
        """The first conversation entry that follows each row."""
        for row in table.nodes():
            parent = self._parents[row]
            if parent == NO_ROW:
                continue
            above = parent if self._conversation[self._codes[parent]] else self._above[parent]
            self._above[row] = above
            if above != NO_ROW and self._conversation[self._codes[row]] and self._first[above] == NO_ROW:
                self._first[above] = row

    def rows(self, row: int) -> list[int]:
        """Return the rows from `row` up to where its line begins, newest first."""
        rows = [row]
        while not self._begins(row):
            row = self._parents[row]
            if row == NO_ROW:
                return rows
            rows.append(row)
        # Between the first entry of the line and the entry that it parted from there may be book-keeping of its own.
        shared = self._book_keeping(self._first[self._above[row]])
        return rows + [each for each in self._book_keeping(row) if each not in shared]

    def conversation(self, row: int) -> list[int]:
        """Return the conversation entries of the line, newest first."""
        return [each for each in self.rows(row) if self._conversation[self._codes[each]]]

    def _begins(self, row: int) -> bool:
        above = self._above[row]
        return bool(self._conversation[self._codes[row]]) and above != NO_ROW and self._first[above] != row

    def _book_keeping(self, row: int) -> list[int]:
        rows, at = [], self._parents[row]
        while not self._conversation[self._codes[at]]:
            rows.append(at)
            at = self._parents[at]
        return rows
