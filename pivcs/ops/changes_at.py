"""What chosen entries of a session did to files, wherever in the tree they stand."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pivcs.ops.replaying import iter_changes
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change


def changes_at(view: SessionView, rows: Collection[int], base: Base | None) -> Iterator[Change]:
    """Yield the changes of files by the entries in `rows`, in file order, each when it is asked for.

    Reads the path to the last of them when all stand on it, else the whole session; nothing that comes later tells
    anything of them.
    """
    wanted = set(rows)
    if not wanted:
        return
    last = max(wanted)
    if wanted <= set(view.table.path(last)):
        changes: Iterator[Change] = iter_changes(view, last, base)
    else:
        changes = _all_changes(view, base)
    for change in changes:
        if change.row > last:
            break
        if change.row in wanted:
            yield change


def _all_changes(view: SessionView, base: Base | None) -> Iterator[Change]:
    for row, replay in walk_tree(view, lambda: Replay(view.header.cwd, base), Replay.fork):
        yield from replay.apply(row, view.entry(row))
