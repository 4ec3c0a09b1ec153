"""Statistics of sessions: what entries come to, as a whole and in groups; copies of an entry count once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import tzinfo
from typing import NamedTuple

from pivcs.objects.table import FAILED, TOOL_USE
from pivcs.ops.spent import used
from pivcs.ops.stats_copies import Copies
from pivcs.ops.stats_groups import GROUPERS, Grouper, Key
from pivcs.ops.stats_read import iter_read
from pivcs.ops.stats_sums import Adding, Piece, Sums, joined, time_taken
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, USER
from pivcs.session.entries import Entry, Message


class Asked(NamedTuple):
    """What is counted. `by` is a key of `GROUPERS`, None for no groups; entries count from `since` on and before
    `until` (milliseconds since 1970; those without a time only where neither is given). `zone` is what days are told
    in, None for the machine's."""

    by: str | None = None
    since: int | None = None
    until: int | None = None
    zone: tzinfo | None = None

    def has(self, time: int | None) -> bool:
        """Whether an entry of this time counts."""
        if self.since is None and self.until is None:
            return True
        if time is None:
            return False
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)


class Counts(NamedTuple):
    """`total` is what all entries come to, `abandoned` those of them that HEAD does not contain."""

    total: Sums
    abandoned: Sums


class Group(NamedTuple):
    """The entries of one session, branch, project, day, model or tool. `copies` is how many entries of it count for an
    earlier session: only of sessions, which have all of their entries here."""

    key: Key
    counts: Counts
    copies: int = 0


class Statistics(NamedTuple):
    """What was counted. Groups are in the order of their kind (`GROUPERS`). `copies` is how many entries of the
    `sessions` were left out of the total, since they are copies."""

    by: str | None
    counts: Counts
    groups: tuple[Group, ...]
    sessions: int
    copies: int


class _Two:
    """Adds up what HEAD contains, and what it does not."""

    __slots__ = ("abandoned", "kept")

    def __init__(self) -> None:
        self.kept = Adding()
        self.abandoned = Adding()

    def add(self, piece: Piece, *, abandoned: bool) -> None:
        (self.abandoned if abandoned else self.kept).add(piece)

    def counts(self) -> Counts:
        abandoned = self.abandoned.total()
        return Counts(joined(self.kept.total(), abandoned), abandoned)


class Counting:
    """Counts sessions one after the other, holding no more than one. Those that others were forked from come first."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._grouper = GROUPERS[asked.by] if asked.by is not None else None
        self._all = _Two()
        self._groups: dict[Key, _Two] = {}
        self._copied: dict[Key, int] = {}
        self._seen = Copies()
        self._sessions = 0
        self._left_out = 0

    def add(self, view: SessionView) -> None:
        """Count a session. Raises as reading from the store does."""
        self._sessions += 1
        where = Whereabouts(view)
        copied = self._seen.of(view)
        grouper = self._grouper
        key_of = grouper.keys(view, where, self._asked.zone) if grouper is not None else None
        whole = grouper is not None and grouper.whole
        if grouper is not None and whole:
            self._two(grouper.of_session(view))
        table, asked = view.table, self._asked
        rows = [row for row in table.nodes() if asked.has(table.time_of(row))]
        left_out = sum(copied[row] for row in rows)
        self._left_out += left_out
        if grouper is not None and whole:
            self._copied[grouper.of_session(view)] = left_out
        if not whole:
            rows = [row for row in rows if not copied[row]]
        reads_results = grouper is not None and grouper.reads_results
        for row, entry in iter_read(view, rows, results=reads_results):
            abandoned = where.is_abandoned(row)
            piece = piece_of(view, row, entry)
            if not copied[row]:
                self._all.add(piece, abandoned=abandoned)
            if key_of is not None:
                for key, part in key_of(row, entry, piece):
                    self._two(key).add(part, abandoned=abandoned)

    def _two(self, key: Key) -> _Two:
        two = self._groups.get(key)
        if two is None:
            two = self._groups[key] = _Two()
        return two

    def result(self) -> Statistics:
        """Return what was counted so far."""
        groups = [Group(key, two.counts(), self._copied.get(key, 0)) for key, two in self._groups.items()]
        if self._grouper is not None:
            groups = self._sorted(groups, self._grouper)
        return Statistics(self._asked.by, self._all.counts(), tuple(groups), self._sessions, self._left_out)

    @staticmethod
    def _sorted(groups: Collection[Group], grouper: Grouper) -> list[Group]:
        if grouper.in_order:
            return sorted(groups, key=lambda group: (group.key.name is None, group.key.name or ""))

        def most(group: Group) -> tuple[float, float, int, int, bool, str]:
            sums = group.counts.total
            return -sums.cost, -sums.tokens, -sums.tool_calls, -sums.entries, group.key.name is None, str(group.key)

        return sorted(groups, key=most)


def piece_of(view: SessionView, row: int, entry: Entry | None) -> Piece:
    """Return what an entry adds to the whole."""
    table = view.table
    code = table.code[row]
    flags = table.flags[row]
    failed = 1 if flags & FAILED else 0
    if code == ASSISTANT:
        message = entry.message if entry is not None else None
        if entry is None or message is None:
            return Piece(code, table.time_of(row), None, 1, 0, not flags & TOOL_USE, 0, failed, time_taken(table, row))
        took = time_taken(table, row, message.duration_ms)
        calls = call_count(message)
        return Piece(code, table.time_of(row), used(code, entry), 1, 0, not flags & TOOL_USE, calls, failed, took)
    usage = used(code, entry) if entry is not None else None
    errors = failed if code == TOOL_RESULT else 0
    return Piece(code, table.time_of(row), usage, 1, 1 if code == USER else 0, 0, 0, errors)


def call_count(message: Message) -> int:
    """Return how many tools an answer calls."""
    content = message.fields.get("content")
    if not isinstance(content, list):
        return 0
    return sum(1 for block in content if isinstance(block, dict) and block.get("type") == "toolCall")


def count_sessions(views: Iterator[SessionView], asked: Asked) -> Statistics:
    """Return the statistics of sessions, each of which is closed when it is counted."""
    counting = Counting(asked)
    for view in views:
        with view:
            counting.add(view)
    return counting.result()
