"""What entries cost: tokens, dollars, time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, BRANCH_SUMMARY, COMPACTION, TOOL_RESULT, TYPES
from pivcs.session.entries import Entry

LARGEST: Final = 1e18
TOGETHER: Final = 4096
"""Costs that are held, to be added up without a rounding between them."""
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


class Used(NamedTuple):
    """What one usage says; what cannot be added up counts as nothing. `unreadable`: something else stands where a
    number belongs, or a number that cannot be meant."""

    input: int | float
    output: int | float
    cache_read: int | float
    cache_write: int | float
    tokens: int | float
    cost: float
    unreadable: bool


_NOTHING: Final = Used(0, 0, 0, 0, 0, 0.0, unreadable=True)


def used(code: int, entry: Entry) -> Used | None:
    """Return what the usage of an entry says; None where it has none."""
    message = entry.message if code in _IN_MESSAGE else None
    usage = message.usage if message is not None else entry.usage
    fields = usage.fields
    if not fields:
        return None if usage.value in (None, {}) else _NOTHING
    counts = [fields.get("input"), fields.get("output"), fields.get("cacheRead"), fields.get("cacheWrite")]
    total, cost = fields.get("totalTokens"), fields.get("cost")
    amount = cost.get("total") if isinstance(cost, dict) else None
    for number in counts:
        if type(number) is not int or not 0 <= number < 1 << 53:
            break
    else:  # as nearly all are
        if type(total) is int and type(amount) is float and 0 <= total < 1 << 53 and 0 <= amount < 1e15:
            given, output, read, written = counts
            return Used(given, output, read, written, total, amount, unreadable=False)  # type: ignore[arg-type]
    numbers = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens, usage.cost)
    odd = any(number is None or not -LARGEST < number < LARGEST for number in numbers)
    given, output, read, written, tokens, dollars = map(_finite, numbers)
    return Used(given, output, read, written, tokens, float(dollars), unreadable=odd)


class Counted:
    """Adds up entries one by one, for those who read them anyway."""

    def __init__(self) -> None:
        self._began: int | None = None
        self._ended: int | None = None
        self._answers = 0
        self._input: int | float = 0
        self._output: int | float = 0
        self._cache_read: int | float = 0
        self._cache_write: int | float = 0
        self._tokens: int | float = 0
        self._costs: list[float] = []

    def add(self, time: int | None, code: int, entry: Entry | None) -> None:
        """Add an entry; without one only its time counts."""
        self.add_used(time, entry is not None and code == ASSISTANT, used(code, entry) if entry is not None else None)

    def add_used(self, time: int | None, is_answer: bool, used: Used | None) -> None:
        """Add what was read of an entry."""
        if time is not None:
            if self._began is None or time < self._began:
                self._began = time
            if self._ended is None or time > self._ended:
                self._ended = time
        self._answers += is_answer
        if used is None:
            return
        self._input += used.input
        self._output += used.output
        self._cache_read += used.cache_read
        self._cache_write += used.cache_write
        self._tokens += used.tokens
        if used.cost:
            self._costs.append(used.cost)
            if len(self._costs) >= TOGETHER:  # a million answers need no more memory than a thousand
                self._costs = [math.fsum(self._costs)]

    def total(self) -> Spent:
        """Return the sum."""
        counts = (self._answers, self._input, self._output, self._cache_read, self._cache_write, self._tokens)
        return Spent(*counts, math.fsum(self._costs), self._began, self._ended)


def _finite(number: int | float | None) -> int | float:
    """Return a number that can be added up: a session may say anything, also 1e999 or a thousand digits."""
    return number if number is not None and -LARGEST < number < LARGEST else 0
