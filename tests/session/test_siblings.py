from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.siblings import sort_siblings

TIMES = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=100)


# Answers of Node 20, where an unreadable time is NaN; the numbers are places in the list before sorting.
@pytest.mark.parametrize(
    ("times", "order"),
    [
        ([5, None, 3, 2], [0, 1, 3, 2]),
        ([None, 3, 1], [0, 2, 1]),
        ([3, None, 1, None, 2], [0, 1, 2, 3, 4]),
        ([4, 4, None, 2, 1, 3], [0, 1, 2, 4, 3, 5]),
        ([9, None, 7, None, 8, 1, None, 2], [0, 1, 5, 7, 2, 3, 4, 6]),
        ([2, 9, 14, 3, None, 14], [0, 3, 1, 2, 4, 5]),
        ([3, 2, None, 1], [3, 1, 0, 2]),
        ([1, None, 0, None, 5, 4], [0, 1, 2, 3, 5, 4]),
    ],
)
def test_unreadable_times_are_sorted_by_the_engine_s_steps(times: list[int | None], order: list[int]) -> None:
    assert sort_siblings(list(range(len(times))), times.__getitem__) == order


@given(TIMES)
def test_nothing_is_lost(times: list[int | None]) -> None:
    assert sorted(sort_siblings(list(range(len(times))), times.__getitem__)) == list(range(len(times)))


@given(st.lists(st.integers(0, 9), max_size=100))
def test_readable_times_give_a_stable_order(times: list[int]) -> None:
    order = sort_siblings(list(range(len(times))), times.__getitem__)
    assert order == sorted(range(len(times)), key=lambda place: (times[place], place))
