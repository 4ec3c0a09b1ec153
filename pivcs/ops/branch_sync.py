"""Branches brought up to date by a sync, in the sync's own transaction, and carried over to a new generation."""

from __future__ import annotations

from collections.abc import Callable

from pivcs.objects.table import Table
from pivcs.ops.branching import Moves, Position, follow
from pivcs.ops.relatives import find_relative
from pivcs.ops.summary import decode_summary
from pivcs.ops.view import SessionView
from pivcs.store.records import Stream
from pivcs.store.refs import Branch, RefChange, RefStore
from pivcs.store.store import Store


class StoredBranches:
    """The branches of a stream in the store, as `pivcs.ops.branching` asks for them."""

    def __init__(self, refs: RefStore, stream: Stream) -> None:
        self._refs = refs
        self._stream = stream

    def at(self, row: int) -> list[Branch]:
        """Return the branches whose tip is a row."""
        return self._refs.branches_at(self._stream, row)

    def is_taken(self, name: str) -> bool:
        """Whether a name was ever given."""
        return self._refs.branch(self._stream, name) is not None


def follow_new(rows: Table) -> tuple[Moves, Position]:
    """Return the branches of a whole stream."""
    moves = Moves()
    position = follow(rows, moves, lambda row: rows.conversation_ancestor(rows.first_row(row)), Position())
    return moves, position


def follow_growth(
    store: Store, stream: Stream, rows: Table, ancestor: Callable[[int], int | None]
) -> tuple[Moves, Position]:
    """Return what new rows do to the branches of a stream; `ancestor` is asked where a chain breaks."""
    moves = Moves(StoredBranches(store.refs, stream))
    start = Position(
        stream.last_record[0] if stream.last_record is not None else None,
        stream.conversation,
        store.refs.has_branches(stream),
    )
    lines = decode_summary(stream.summary).lines
    return moves, follow(rows, moves, ancestor, start, first_row=stream.row_count, lines_before=lines)


def write_branches(
    store: Store, stream: Stream, moves: Moves, digest: Callable[[int], bytes], now: int, command: str
) -> None:
    """Write branches that a sync began or moved, and the operation that says so; inside the caller's transaction."""
    if not moves.tips or stream.session is None:
        return
    store.refs.put_branches(stream.id, moves.tips.values())
    changes = []
    for name, branch in moves.tips.items():
        before = moves.before[name]
        old = digest(before) if before is not None else None
        changes.append(
            RefChange(stream.session, stream.id, "branch", name, old, digest(branch.row), branch.automatic)
        )
    store.refs.add_operation(now, "sync", command, changes)


def carry_over(
    store: Store, old: Stream, old_view: SessionView, new_view: SessionView, moves: Moves
) -> list[Branch]:
    """Return what the user's names become in the next generation of a source.

    A name that the user made follows its node's relative; where an automatic branch has the same tip there, it gives
    way. An automatic branch that the user deleted stays deleted while its tip is the same. What has no relative stays
    with the old generation.
    """
    carried: list[Branch] = []
    automatic = {branch.row: branch for branch in moves.tips.values()}
    for branch in store.refs.branches(old):
        if branch.automatic and not branch.deleted:
            continue
        row = find_relative(old_view, branch.row, new_view)
        if row is None:
            continue
        if branch.deleted:
            same = moves.tips.get(branch.name)
            if same is not None and same.row == row:
                carried.append(Branch(branch.name, row, same.automatic, deleted=True))
            continue
        giving_way = automatic.get(row)
        if giving_way is not None and giving_way.name != branch.name:
            del moves.tips[giving_way.name]
            moves.before.pop(giving_way.name, None)
            del automatic[row]
        carried.append(Branch(branch.name, row, automatic=False))
    return carried
