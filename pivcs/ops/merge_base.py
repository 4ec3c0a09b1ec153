"""Where two paths part, and what lies between entries. A parent always stands above its children in the file, so the
lower of two rows is never an ancestor of the other."""

from __future__ import annotations

from pivcs.objects.table import NO_ROW
from pivcs.ops.view import SessionView


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


def _above(view: SessionView, row: int, end: int | None) -> list[int]:
    """Return the rows from `row` up to `end`, which is not among them."""
    parents, stop = view.table.parent, NO_ROW if end is None else end
    rows = []
    while row != stop:
        rows.append(row)
        row = parents[row]
    return rows
