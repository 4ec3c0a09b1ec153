"""Carrying a state along every path of a session at once: in file order, copied where paths part."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TypeVar

from pivcs.objects.table import NO_ROW
from pivcs.ops.view import SessionView

State = TypeVar("State")


def walk_tree(
    view: SessionView, root: Callable[[], State], fork: Callable[[State], State]
) -> Iterator[tuple[int, State]]:
    """Yield each node in file order, with the state of the path above it, which the caller brings up to the node.

    The state is handed on to the node's children when the next node is asked for: `fork` copies it for all of them but
    the last. As many states live as there are nodes that still have children to come.
    """
    parents = view.table.parent
    to_come = array("I", bytes(4 * len(view.table)))
    for row in view.table.nodes():
        if parents[row] != NO_ROW:
            to_come[parents[row]] += 1
    states: dict[int, State] = {}
    for row in view.table.nodes():
        above = parents[row]
        if above == NO_ROW:
            state = root()
        else:
            to_come[above] -= 1
            state = fork(states[above]) if to_come[above] else states.pop(above)
        yield row, state
        if to_come[row]:
            states[row] = state
