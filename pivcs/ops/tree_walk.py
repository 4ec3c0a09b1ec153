"""Carrying a state along every path of a session at once: in file order, copied where paths part."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from pivcs.objects.table import NO_ROW
from pivcs.ops.view import SessionView

State = TypeVar("State")


def walk_tree(
    view: SessionView,
    root: Callable[[], State],
    fork: Callable[[State], State],
    rows: Sequence[int] | None = None,
    start: Mapping[int, State] | None = None,
) -> Iterator[tuple[int, State]]:
    """Yield each node in file order, with the state of the path above it, which the caller brings up to the node.

    The state is handed on to the node's children when the next node is asked for: `fork` copies it for all of them but
    the last. As many states live as there are nodes that still have children to come. With `rows`, ascending, only
    these are walked; `start` has the states at their parents that are not among them, and is left as it is.
    """
    parents = view.table.parent
    walked: Sequence[int] = list(view.table.nodes()) if rows is None else rows
    to_come = array("I", bytes(4 * len(view.table)))
    for row in walked:
        if parents[row] != NO_ROW:
            to_come[parents[row]] += 1
    states: dict[int, State] = {}
    known = start or {}
    for row in walked:
        above = parents[row]
        if above == NO_ROW:
            state = root()
        elif above in known:
            state = fork(known[above])  # made anew maybe, when it is asked for
        else:
            to_come[above] -= 1
            state = fork(states[above]) if to_come[above] else states.pop(above)
        yield row, state
        if to_come[row]:
            states[row] = state
