"""What entries cost: tokens, dollars, time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, BRANCH_SUMMARY, COMPACTION, TOOL_RESULT, TYPES
from pivcs.session.entries import Entry, Usage

_OWN: Final = (COMPACTION, BRANCH_SUMMARY, TYPES["usage"])
_IN_MESSAGE: Final = (ASSISTANT, TOOL_RESULT)


class Spent(NamedTuple):
    """What some entries cost. Tokens are counts, `cost` is in dollars; `began` and `ended` are the times of the first
    and the last entry in milliseconds since 1970, None where no entry has a time that can be read.

    As in pi's totals, answers, tool results with usage, `usage` entries, compactions and branch summaries count (pi
    format 5.3). `tokens` is the total that each usage names, or where it names none the sum of its four counts.
    """

    answers: int = 0
    input: int | float = 0
    output: int | float = 0
    cache_read: int | float = 0
    cache_write: int | float = 0
    tokens: int | float = 0
    cost: float = 0.0
    began: int | None = None
    ended: int | None = None

    @property
    def wall(self) -> int | None:
        """The milliseconds between the first and the last entry."""
        return None if self.began is None or self.ended is None else self.ended - self.began


def spent(view: SessionView, rows: Iterable[int]) -> Spent:
    """Return what the entries of some rows cost."""
    counted = Counted()
    for row in rows:
        code = view.table.code[row]
        counted.add(view.table.time_of(row), code, view.entry(row) if has_usage(code) else None)
    return counted.total()


def has_usage(code: int) -> bool:
    """Whether entries with a code may have usage."""
    return code in _OWN or code in _IN_MESSAGE


class Counted:
    """Adds up entries one by one, for those who read them anyway."""

    def __init__(self) -> None:
        self._times: tuple[int | None, int | None] = (None, None)
        self._answers = 0
        self._tokens: list[int | float] = [0, 0, 0, 0, 0]
        self._costs: list[float] = []

    def add(self, time: int | None, code: int, entry: Entry | None) -> None:
        """Add an entry; without one only its time counts."""
        if time is not None:
            began, ended = self._times
            self._times = (
                time if began is None else min(began, time),
                time if ended is None else max(ended, time),
            )
        if entry is None:
            return
        if code == ASSISTANT:
            self._answers += 1
        message = entry.message
        usage = message.usage if message is not None and code in _IN_MESSAGE else entry.usage
        self._add_usage(usage)

    def _add_usage(self, usage: Usage) -> None:
        if not usage.fields:
            return
        counts = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens)
        self._tokens = [total + _finite(count) for total, count in zip(self._tokens, counts, strict=True)]
        cost = _finite(usage.cost)
        if cost:
            self._costs.append(float(cost))

    def total(self) -> Spent:
        """Return the sum."""
        given, output, cache_read, cache_write, tokens = self._tokens
        cost = math.fsum(self._costs)
        return Spent(self._answers, given, output, cache_read, cache_write, tokens, cost, *self._times)


def _finite(number: int | float | None) -> int | float:
    """Return a number that can be added up: a session may say anything, also 1e999 or a thousand digits."""
    return number if number is not None and -1e18 < number < 1e18 else 0
