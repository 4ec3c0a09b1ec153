"""A graph of some rows of a tree that still shows how they hang together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from pivcs.render.graph import ELIDED, HIDDEN, Row

K = TypeVar("K")


def keep_only(rows: Iterable[Row[K]], wanted: Callable[[Row[K]], bool]) -> list[Row[K]]:
    """Return the wanted rows, and a row with glyph `ELIDED` for what was between them.

    Rows come children before parents. An unwanted row at which paths to several wanted ones meet begins an elision of
    its own, so they meet in the drawing, too. What leads to no wanted row is left out. Where a path goes on to its root
    without meeting another wanted row, it ends in a stub. Takes time and memory for each row once.
    """
    listed = list(rows)
    place = {row.key: index for index, row in enumerate(listed)}
    above = [-1 if row.parent is None else place.get(row.parent, -1) for row in listed]
    kept = bytearray(len(listed))
    ways = [0] * len(listed)  # children that are or lead to wanted rows
    start = [-1] * len(listed)  # of an unwanted row: where the elision that it belongs to begins
    hidden: dict[int, int] = {}
    end: dict[int, int] = {}
    child = [-1] * len(listed)
    for index, row in enumerate(listed):
        kept[index] = wanted(row)
        if not kept[index]:
            if not ways[index]:
                continue
            below = child[index]
            start[index] = index if ways[index] > 1 or kept[below] else start[below]
            hidden[start[index]] = hidden.get(start[index], 0) + 1
            end[start[index]] = index
        if above[index] >= 0:
            ways[above[index]] += 1
            child[above[index]] = index
    result: list[Row[K]] = []
    for index, row in enumerate(listed):
        if kept[index]:
            parent = above[index]
            cut = parent >= 0 and not kept[parent] and _leads_nowhere(parent, ways, end, listed)
            result.append(row._replace(parent=None, stub=HIDDEN) if cut else row)
        elif index in hidden and not _leads_nowhere(index, ways, end, listed):
            result.append(Row(row.key, listed[end[index]].parent, ELIDED, "", hidden[index]))
    return result


def _leads_nowhere(begin: int, ways: list[int], end: dict[int, int], listed: list[Row[K]]) -> bool:
    """Whether an elision only leads from one row to the root."""
    return ways[begin] == 1 and listed[end[begin]].parent is None
