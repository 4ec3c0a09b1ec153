"""What chosen entries of a session did to files, wherever in the tree they stand."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator

from pivcs.ops.replaying import iter_changes
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT
from pivcs.workspace.base import Base
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change


def owners_of(view: SessionView, rows: Collection[int], within: Container[int] | None = None) -> dict[int, int]:
    """Return, for each row whose changes are to be shown, the row among `rows` under which they are.

    That is the row itself; the changes of a result that is not among them are shown under the answer that called. Only
    results in `within` count, None for all of the session.
    """
    owners = {row: row for row in rows}
    for row in rows:
        if view.table.code[row] != ASSISTANT:
            continue
        below = list(view.children.get(row, ()))
        while below:
            at = below.pop()
            if view.table.code[at] == TOOL_RESULT and (within is None or at in within):
                owners.setdefault(at, row)
                below += view.children.get(at, ())
    return owners


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
