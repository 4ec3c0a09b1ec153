"""Tokens, cost and time of entries."""

from __future__ import annotations

import pytest

from pivcs.ops.spent import Spent, spent
from tests.builders import CLOCK, build_session, entry_line, header_line, message_line
from tests.ops.views import view_of

USAGE = {
    "input": 7, "output": 5, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 17,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
}  # fmt: skip


def test_answers_tools_compactions_summaries_and_usage_entries_count():
    result = {"role": "toolResult", "toolCallId": "x", "toolName": "agent", "content": [], "usage": USAGE}
    lines = [
        message_line("00000001", None, "user", "x", ms=CLOCK + 1000),
        message_line("00000002", "00000001", "assistant", "x", ms=CLOCK + 3000, usage=USAGE),
        entry_line("message", "00000003", "00000002", ms=CLOCK + 4000, message=result),
        entry_line("usage", "00000004", "00000003", ms=CLOCK + 5000, kind="cache_warm", usage=USAGE),
        entry_line("compaction", "00000005", "00000004", ms=CLOCK + 6000, summary="", usage=USAGE),
        entry_line("branch_summary", "00000006", "00000005", ms=CLOCK + 9000, summary="", usage=USAGE),
    ]
    view = view_of(header_line() + b"".join(lines))
    found = spent(view, view.table.nodes())
    assert found == Spent(1, 35, 25, 15, 10, 85, pytest.approx(1.5), CLOCK + 1000, CLOCK + 9000)
    assert found.wall == 8000


def test_total_that_is_missing_is_the_sum():
    usage = {key: value for key, value in USAGE.items() if key != "totalTokens"}
    view = view_of(header_line() + message_line("00000001", None, "assistant", "x", usage=usage))
    assert spent(view, [1]).tokens == 17


def test_nothing_costs_nothing():
    assert spent(view_of(build_session("a")), []) == Spent()
    assert Spent().wall is None


@pytest.mark.parametrize("number", ["1e400", "-1e30", "9" * 3000])
def test_numbers_that_cannot_be_meant_count_as_nothing(number: str):
    line = message_line("00000001", None, "assistant", "x", usage=USAGE)
    line = line.replace(b'"input":7', f'"input":{number}'.encode())
    assert spent(view_of(header_line() + line), [1]).input == 0
