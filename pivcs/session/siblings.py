"""The order of children in pi's tree: by time, in file order where times are equal or cannot be compared (7.4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

_ONE_RUN = 64  # from here on the engine sorts in several runs and merges them


def sort_siblings(items: list[T], time_of: Callable[[T], int | None]) -> list[T]:
    """Return the items as pi's engine sorts them by time; None is an unreadable time, equal to every other.

    With unreadable times the comparison is no order, and the result depends on the steps of the sorting. So these steps
    are done here as V8 does them. Long lists go through Python's own sorting, which has the same origin and until
    Python 3.12 the same steps.
    """
    times = [(time_of(item), item) for item in items]
    if all(time is not None for time, _ in times):
        return [item for _, item in sorted(times, key=lambda pair: pair[0] or 0)]
    key = cmp_to_key(_compare)
    if len(times) >= _ONE_RUN:
        return [item for _, item in sorted(times, key=key)]
    keys = [(key(pair), pair) for pair in times]
    length = 1
    descending = len(keys) > 1 and keys[1][0] < keys[0][0]
    for before, after in pairwise(keys):
        if (after[0] < before[0]) is not descending:
            break
        length += 1
    run = keys[:length]
    if descending:
        run.reverse()
    for pair in keys[length:]:
        run.insert(bisect_right(run, pair[0], key=lambda other: other[0]), pair)
    return [item for _, (_, item) in run]


def _compare(a: tuple[int | None, T], b: tuple[int | None, T]) -> int:
    return 0 if a[0] is None or b[0] is None else a[0] - b[0]
