"""Adding up what entries are: how many, what they cost, how long they took."""

from __future__ import annotations

from typing import Final, NamedTuple

from pivcs.objects.table import NO_TIME, Table
from pivcs.ops.spent import Counted, Used
from pivcs.session.codes import ASSISTANT

_TIMES: Final = ("began", "ended")
LONGEST: Final = 1e15
"""Milliseconds that an answer may say it took."""


class Sums(NamedTuple):
    """What some entries come to. Tokens are counts, `cost` is in dollars, `time` in milliseconds.

    `prompts` are user messages, `turns` answers that called no tool, `errors` tool results with an error and answers
    that failed or were aborted. `tokens` is the sum of the four kinds, as in pi's totals. `time` is that of answers:
    what each says it took, else from the entry above it to the answer. `began` and `ended` are the times of the first
    and the last entry in milliseconds since 1970. `unreadable` counts entries whose usage has something else where a
    number belongs, which counts as nothing.
    """

    entries: int = 0
    prompts: int = 0
    answers: int = 0
    turns: int = 0
    tool_calls: int = 0
    errors: int = 0
    input: int | float = 0
    output: int | float = 0
    cache_read: int | float = 0
    cache_write: int | float = 0
    tokens: int | float = 0
    cost: float = 0.0
    time: int = 0
    began: int | None = None
    ended: int | None = None
    unreadable: int = 0


class Piece(NamedTuple):
    """What one entry adds. `counted` is 0 for what only adds calls, `used` what its usage says."""

    code: int
    at: int | None
    used: Used | None = None
    counted: int = 1
    prompts: int = 0
    turns: int = 0
    tool_calls: int = 0
    errors: int = 0
    time: int = 0


class Adding:
    """Adds up pieces one by one."""

    __slots__ = ("_calls", "_counted", "_entries", "_errors", "_prompts", "_time", "_turns", "_unreadable")

    def __init__(self) -> None:
        self._counted = Counted()
        self._entries = self._prompts = self._turns = self._calls = self._errors = self._time = self._unreadable = 0

    def add(self, piece: Piece) -> None:
        """Add a piece."""
        code, at, used, counted, prompts, turns, calls, errors, time = piece
        self._counted.add_used(at, code == ASSISTANT and counted > 0, used)
        self._entries += counted
        self._prompts += prompts
        self._turns += turns
        self._calls += calls
        self._errors += errors
        self._time += time
        if used is not None and used.unreadable:
            self._unreadable += 1

    def total(self) -> Sums:
        """Return the sums."""
        spent = self._counted.total()
        kinds = (spent.input, spent.output, spent.cache_read, spent.cache_write)
        counts = (self._entries, self._prompts, spent.answers, self._turns, self._calls, self._errors)
        return Sums(*counts, *kinds, sum(kinds), spent.cost, self._time, spent.began, spent.ended, self._unreadable)


def joined(first: Sums, second: Sums) -> Sums:
    """Return the sums of two sets of entries that have none in common."""
    counts = {name: getattr(first, name) + getattr(second, name) for name in Sums._fields if name not in _TIMES}
    began = [time for time in (first.began, second.began) if time is not None]
    ended = [time for time in (first.ended, second.ended) if time is not None]
    return Sums(**counts, began=min(began, default=None), ended=max(ended, default=None))


def time_taken(table: Table, row: int, said: int | float | None = None) -> int:
    """Return how long an answer, or a tool's run, took in milliseconds: what it says, else the time since the entry
    above it; 0 where neither can be told."""
    if said is not None and 0 <= said < LONGEST:
        return round(said)
    above = table.parent_of(row)
    if above is None or NO_TIME in (table.time[row], table.time[above]):
        return 0
    return max(0, table.time[row] - table.time[above])
