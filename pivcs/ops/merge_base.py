"""Where two paths part, and what lies between entries: in one session, and across sessions that share a beginning.

A parent always stands above its children in the file, so the lower of two rows is never an ancestor of the other.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pivcs.errors import InputError
from pivcs.objects.table import NO_ROW
from pivcs.ops.relatives import are_relatives
from pivcs.ops.view import SessionView
from pivcs.session.codes import LABEL


class NothingShared(InputError):
    """Two entries whose paths have no entry in common."""


class Parting(NamedTuple):
    """Where two paths part. `first` and `second` are the rows of the last entry that they share, each in the view of
    its path; None when they share none.

    `by` says how it was recognised: by its object id, or as a relative (`docs/format.md`, "Relatives"). `only_first`
    and `only_second` are what follows it on each path, oldest first.
    """

    first: int | None
    second: int | None
    by: Literal["oid", "relative"] | None
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]

    def mirrored(self) -> Parting:
        """Return the same with the paths the other way round."""
        return Parting(self.second, self.first, self.by, self.only_second, self.only_first)


def merge_base(view: SessionView, first: int, second: int) -> int | None:
    """Return the last entry that the paths to two rows share, or None when they have different roots."""
    parents = view.table.parent
    while first != second:
        if first < second:
            first, second = second, first
        first = parents[first]
        if first == NO_ROW:
            return None
    return first


def is_ancestor(view: SessionView, ancestor: int, row: int) -> bool:
    """Whether a row lies on the path to another, or is it."""
    return merge_base(view, ancestor, row) == ancestor


def range_rows(view: SessionView, exclude: int, include: int) -> list[int]:
    """Return what is on the path to `include` and not on the path to `exclude`, as in `A..B`, in file order."""
    return _above(view, include, merge_base(view, exclude, include))[::-1]


def symmetric_rows(view: SessionView, first: int, second: int) -> list[int]:
    """Return what is on only one of two paths, as in `A...B`, in file order."""
    base = merge_base(view, first, second)
    return sorted(_above(view, first, base) + _above(view, second, base))


def parting(view: SessionView, row: int, other: SessionView, other_row: int) -> Parting:
    """Return where the paths to two rows part, which may be of different sessions, generations or files.

    An object id names a whole path, so the paths are first compared by these. From where they differ on (an entry was
    migrated or changed in one of the files), they are followed as long as their entries are relatives. Labels are
    passed over then: pi leaves them out of what it forks.
    """
    if view is other:
        base = merge_base(view, row, other_row)
        firsts, seconds = _above(view, row, base)[::-1], _above(view, other_row, base)[::-1]
        return Parting(base, base, None if base is None else "oid", tuple(firsts), tuple(seconds))
    firsts, seconds = view.table.path(row), other.table.path(other_row)
    same = same_beginning(view, firsts, other, seconds)
    ends = (same, same)
    by: Literal["oid", "relative"] | None = "oid" if same else None
    for mine, theirs in zip(_unlabelled(view, firsts, same), _unlabelled(other, seconds, same), strict=False):
        if not are_relatives(view, firsts[mine], other, seconds[theirs]):
            break
        ends, by = (mine + 1, theirs + 1), "relative"
    return Parting(
        firsts[ends[0] - 1] if by else None,
        seconds[ends[1] - 1] if by else None,
        by,
        tuple(firsts[ends[0] :]),
        tuple(seconds[ends[1] :]),
    )


def same_beginning(view: SessionView, rows: list[int], other: SessionView, others: list[int]) -> int:
    """Return how many entries two paths share by object id, which is found by halving: an id says all above it."""
    low, high = 0, min(len(rows), len(others))
    while low < high:
        middle = (low + high + 1) // 2
        if view.table.digest(rows[middle - 1]) == other.table.digest(others[middle - 1]):
            low = middle
        else:
            high = middle - 1
    return low


def _unlabelled(view: SessionView, rows: list[int], start: int) -> list[int]:
    """Return the places from `start` on of entries that are no labels."""
    codes = view.table.code
    return [place for place in range(start, len(rows)) if codes[rows[place]] != LABEL]


def _above(view: SessionView, row: int, end: int | None) -> list[int]:
    """Return the rows from `row` up to `end`, which is not among them."""
    parents, stop = view.table.parent, NO_ROW if end is None else end
    rows = []
    while row != stop:
        rows.append(row)
        row = parents[row]
    return rows
