"""Which branches a session has: found from its lines alone, in file order (`docs/format.md`, "Branches").

Branches point at conversation entries. A new one, E, is compared with its nearest conversation ancestor A: where A is
the tip of a branch, that branch moves to E, so branches only ever fast-forward; elsewhere a new branch begins. Labels,
names and other book-keeping move nothing, so what is set while pi runs strands nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple, Protocol

from pivcs.objects.table import DOUBLED, NO_ROW, NODE, Table
from pivcs.session.codes import is_conversation
from pivcs.store.refs import Branch

MAIN: Final = "main"
"""The branch of the first conversation entry."""
PREFIX: Final = "b-"

_CONVERSATION: Final = bytes(is_conversation(code) for code in range(256))
_NOT_IN_NAMES: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\/]|\.\.|@\{|\.(?=$)|\.lock$|[\ud800-\udfff]")


class Known(Protocol):
    """The branches that a stream has had so far."""

    def at(self, row: int) -> list[Branch]:
        """Return the branches whose tip is a row."""
        ...

    def is_taken(self, name: str) -> bool:
        """Whether a name was ever given: to a branch, or to one that was deleted."""
        ...


class NoBranches:
    """A stream that has had no branches yet."""

    def at(self, row: int) -> list[Branch]:
        """See `Known`."""
        return []

    def is_taken(self, name: str) -> bool:
        """See `Known`."""
        return False


@dataclass(slots=True)
class Moves:
    """Branches that began or moved, by name, with the row where they were before (None for a new one)."""

    known: Known = field(default_factory=NoBranches)
    tips: dict[str, Branch] = field(default_factory=dict)
    before: dict[str, int | None] = field(default_factory=dict)
    _by_row: dict[int, list[str]] = field(default_factory=dict)

    def at(self, row: int) -> list[Branch]:
        """Return the branches whose tip is a row now."""
        found = [self.tips[name] for name in self._by_row.get(row, ())]
        return found + [branch for branch in self.known.at(row) if branch.name not in self.tips]

    def move(self, branch: Branch, row: int) -> Branch:
        """Let a branch point at a row."""
        self.before.setdefault(branch.name, branch.row)
        return self._set(Branch(branch.name, row, branch.automatic))

    def begin(self, name: str, row: int) -> Branch:
        """Begin a branch, under another name where this one is taken."""
        free, number = name, 1
        while free in self.tips or self.known.is_taken(free):
            number += 1
            free = f"{name}-{number}"
        self.before[free] = None
        return self._set(Branch(free, row))

    def _set(self, branch: Branch) -> Branch:
        old = self.tips.get(branch.name)
        if old is not None:
            self._by_row[old.row].remove(branch.name)
        self.tips[branch.name] = branch
        self._by_row.setdefault(branch.row, []).append(branch.name)
        return branch


class Position(NamedTuple):
    """Where a stream stands: the row of its last record, and that record's nearest conversation ancestor.

    `begun`: there has been a conversation entry.
    """

    record: int | None = None
    conversation: int | None = None
    begun: bool = False


def follow(
    table: Table,
    moves: Moves,
    ancestor: Callable[[int], int | None],
    start: Position,
    *,
    first_row: int = 0,
    lines_before: int = 0,
) -> Position:
    """Move branches along the rows of `table`, which stand at `first_row` in their stream, from a position on.

    `ancestor` gives the nearest conversation ancestor of any row of the stream, or the row itself; it is asked only
    where a chain breaks. Returns the position after the last row. Time grows with the number of breaks, not of rows.
    """
    record, conversation, begun = start.record, start.conversation, start.begun
    parents, flags = table.parent, table.flags
    mask = bytearray(table.code.tobytes().translate(_CONVERSATION))
    for begin, end in _runs(table, first_row):
        if not flags[begin] & NODE:
            continue
        if flags[begin] & DOUBLED:
            record, conversation = first_row + begin, ancestor(first_row + begin)
            continue
        parent = parents[begin]
        above = None if parent == NO_ROW else conversation if parent == record else ancestor(parent)
        record, first, last = first_row + end - 1, mask.find(1, begin, end), mask.rfind(1, begin, end)
        if first < 0:
            conversation = above
            continue
        conversation = first_row + last
        candidates = moves.at(above) if above is not None else []
        if not begun:
            moves.begin(MAIN, conversation)
        elif candidates:
            moves.move(min(candidates, key=lambda branch: (not branch.automatic, branch.name)), conversation)
        else:
            moves.begin(PREFIX + safe_name(table.name(first, lines_before=lines_before)), conversation)
        begun = True
    return Position(record, conversation, begun)


def _runs(table: Table, first_row: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of rows in which each is the child of the row before."""
    breaks = [row for row, parent in enumerate(table.parent) if parent != first_row + row - 1 or row == 0]
    return pairwise([*breaks, len(table)])


def safe_name(entry_id: str) -> str:
    """Return an entry id with what git does not allow in the name of a ref replaced by dashes."""
    return _NOT_IN_NAMES.sub("-", entry_id) or "-"


