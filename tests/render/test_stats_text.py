from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.stats import Asked, Counts, count_sessions
from pivcs.ops.stats_groups import GROUPERS
from pivcs.ops.stats_sums import Sums
from pivcs.render.log_text import Looks
from pivcs.render.stats_text import COLUMNS, bars, count, dollars, share, sum_lines, table_lines
from pivcs.render.style import Styler
from pivcs.render.width import columns_of
from tests.ops.trees import trees
from tests.ops.views import view_of


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"), (999_999, "999,999"), (1_000_000, "1.00 M"), (9_994_999, "9.99 M"), (9_995_000, "10.0 M"),
        (99_950_000, "100 M"), (999_499_999, "999 M"), (999_500_000, "1.00 G"), (2e15, "2,000 T"), (-5, "-5"),
        (-3_000_000, "-3.00 M"),
    ],
)  # fmt: skip
def test_counts_keep_three_digits(number: float, shown: str):
    assert count(number) == shown


@pytest.mark.parametrize(
    ("cost", "shown"), [(0.0, "$0"), (0.02835, "$0.0284"), (1.0, "$1.00"), (2681.118, "$2,681.12"), (-0.5, "-$0.5000")]
)
def test_costs_are_in_cents_from_a_dollar_on(cost: float, shown: str):
    assert dollars(cost) == shown


def test_share_is_that_of_the_cost_else_of_tokens():
    assert share(Counts(Sums(cost=2.0, tokens=10), Sums(cost=0.5, tokens=9))) == "25 %"
    assert share(Counts(Sums(tokens=10), Sums(tokens=9))) == "90 %"
    assert share(Counts(Sums(entries=3), Sums(entries=3))) == "-"


def test_bars_have_eighths_or_whole_signs():
    assert bars([8, 4, 3, 0, -1, 0.001], 2, blocks=True) == ["██", "█", "▊", "", "", "▏"]
    assert bars([8, 4, 0, 0.001], 4, blocks=False) == ["####", "##", "", "#"]
    assert bars([0, 0], 4, blocks=True) == ["", ""]


@given(trees(), st.sampled_from(sorted(GROUPERS)), st.integers(20, 200))
def test_no_line_is_wider_than_the_terminal(data: bytes, by: str, columns: int):
    looks = Looks(Styler(False), columns, utc=True)
    lines = [*table_lines(count_sessions(iter([view_of(data)]), Asked(by)), looks, blocks=True)]
    lines += sum_lines(count_sessions(iter([view_of(data)]), Asked()), looks)
    assert all(columns_of(line) <= columns for line in lines)


@given(trees(), st.sampled_from(sorted(set(GROUPERS) - {"tool"})), st.integers(40, 200))
def test_every_number_is_shown_or_named_or_nothing(data: bytes, by: str, columns: int):
    found = count_sessions(iter([view_of(data)]), Asked(by))
    text = " ".join(line.strip() for line in table_lines(found, Looks(Styler(False), columns, utc=True), blocks=True))
    for column in COLUMNS:
        if column.said(found.counts) not in ("0", "-", "$0"):
            assert column.title in text
