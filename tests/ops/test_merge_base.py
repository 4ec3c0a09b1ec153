"""Where paths part, against a naive search."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.ops.merge_base import is_ancestor, merge_base, range_rows, symmetric_rows
from pivcs.ops.view import SessionView
from tests.builders import build_session
from tests.ops.syncing import many_lines
from tests.ops.trees import naive_path, views
from tests.ops.views import name_of, view_of


@given(views(), st.data())
def test_answers_equal_a_naive_search(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    first, second = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(rows))
    above, below = naive_path(view, first), naive_path(view, second)
    shared = [row for row in above if row in below]
    assert merge_base(view, first, second) == (shared[0] if shared else None)
    assert is_ancestor(view, first, second) == (first in below)
    assert range_rows(view, first, second) == sorted(set(below) - set(above))
    assert symmetric_rows(view, first, second) == sorted(set(below) ^ set(above))


def test_paths_with_different_roots_share_nothing():
    view = view_of(build_session("a-b, c-d"))
    assert merge_base(view, 2, 4) is None
    assert not is_ancestor(view, 1, 4)
    assert [name_of(view, row) for row in range_rows(view, 2, 4)] == ["cccccccc", "dddddddd"]
    assert symmetric_rows(view, 2, 4) == [1, 2, 3, 4]


def test_long_chain_needs_no_deep_stack():
    view = view_of(many_lines(20_000))
    assert merge_base(view, 0, 19_999) == 0
    assert len(range_rows(view, 0, 19_999)) == 19_999
