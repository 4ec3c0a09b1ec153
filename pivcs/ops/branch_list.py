"""What there is to say of each branch: how much it has that others have not, and what it was about."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pivcs.objects.table import NO_ROW, Table
from pivcs.ops.view import SessionView
from pivcs.session.codes import USER
from pivcs.store.refs import Branch


class ListedBranch(NamedTuple):
    """A branch as a list shows it. Rows are rows of the view.

    `entries` are those from its tip down to where it parted from another branch, which is `parted` (None for the
    whole path). `about` is the row that tells what it was about: its first prompt since then, or the first entry.
    `ahead` counts the entries that are on its path and not on that of HEAD's conversation, `behind` the other way
    round.
    """

    name: str
    row: int
    automatic: bool
    current: bool
    entries: int
    parted: int | None
    about: int
    ahead: int
    behind: int


def list_branches(view: SessionView, *, containing: int | None = None) -> list[ListedBranch]:
    """Return the branches of a session by name, `main` first; with a row only those whose path it is on.

    Takes time for each row of the session, and a few bytes of memory for it.
    """
    refs = view.refs
    head = view.table.conversation_ancestor(refs.head) if refs.head is not None else None
    depth, meeting = _depths(view.table, head)
    parted = own_entries(view.table, refs.branches)
    wanted: Iterable[Branch] = refs.branches
    if containing is not None:
        below = rows_below(view.table, containing)
        wanted = [branch for branch in wanted if below[branch.row]]
    head_depth = depth[head] if head is not None else 0
    found = []
    for branch in wanted:
        entries, fork, about = parted[branch.row]
        met = depth[meeting[branch.row]] if meeting[branch.row] != NO_ROW else 0
        current = branch.name == refs.head_branch
        ahead, behind = depth[branch.row] - met, head_depth - met
        found.append(
            ListedBranch(branch.name, branch.row, branch.automatic, current, entries, fork, about, ahead, behind)
        )
    return sorted(found, key=lambda each: (each.name != "main", each.name))


def rows_below(table: Table, row: int) -> bytearray:
    """Return for each row whether it is `row` or below it."""
    below = bytearray(len(table))
    below[row] = 1
    parents = table.parent
    for at in range(row + 1, len(table)):
        above = parents[at]
        if above != NO_ROW and below[above]:
            below[at] = 1
    return below


def _depths(table: Table, head: int | None) -> tuple[array[int], array[int]]:
    """Return for each row how many entries its path has, and the last of them that is on HEAD's path (or `NO_ROW`)."""
    on_head = bytearray(len(table))
    if head is not None:
        for row in table.path(head):
            on_head[row] = 1
    depth, meeting = array("I"), array("I")
    for row, above in enumerate(table.parent):
        if above == NO_ROW:
            depth.append(1)
            meeting.append(row if on_head[row] else NO_ROW)
        else:
            depth.append(depth[above] + 1)
            meeting.append(row if on_head[row] else meeting[above])
    return depth, meeting


def own_entries(table: Table, branches: Sequence[Branch]) -> dict[int, tuple[int, int | None, int]]:
    """Return for each tip the entries down to where its branch parted, that place, and what tells what it was about.

    A path parts where the paths of two branches meet; a branch that only ends on the way parts nothing. Each entry is
    visited twice.
    """
    tips = sorted({branch.row for branch in branches})
    seen, has_child, forks = bytearray(len(table)), bytearray(len(table)), set()
    for at in tips:
        while not seen[at]:
            seen[at] = 1
            above = table.parent[at]
            if above == NO_ROW:
                break
            if has_child[above]:
                forks.add(above)
            has_child[above] = 1
            at = above
    found: dict[int, tuple[int, int | None, int]] = {}
    for tip in tips:  # a branch that ends on the path of another comes before it
        entries, at, first = 1, table.parent[tip], tip
        prompt = tip if table.code[tip] == USER else None
        while at != NO_ROW and at not in forks and at not in found:
            entries, first = entries + 1, at
            if table.code[at] == USER:
                prompt = at
            at = table.parent[at]
        if at in found and at not in forks:
            more, parted, about = found[at]
            if table.code[about] != USER and prompt is not None:
                about = prompt
            found[tip] = entries + more, parted, about
        else:
            found[tip] = entries, None if at == NO_ROW else at, prompt if prompt is not None else first
    return found
