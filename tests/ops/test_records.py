"""Entries that are read together are those that are read one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops import records
from pivcs.ops.records import iter_entries
from pivcs.ops.view import SessionView
from tests.ops.trees import views


@given(views(), st.data(), st.sampled_from([1, 200, 1000, 1 << 18]))
def test_entries_are_those_of_the_view(view: SessionView, data: st.DataObject, together: int):
    rows = data.draw(st.lists(st.sampled_from(range(len(view.table))))) if len(view.table) else []
    before, records.TOGETHER = records.TOGETHER, together  # type: ignore[misc]
    try:
        assert list(iter_entries(view, rows)) == [view.entry(row) for row in rows]
        assert list(iter_entries(view, sorted(rows))) == [view.entry(row) for row in sorted(rows)]
    finally:
        records.TOGETHER = before  # type: ignore[misc]


def test_record_that_is_too_long_is_not_read(monkeypatch):
    from tests.builders import build_session
    from tests.ops.views import view_of

    monkeypatch.setattr(records, "SHOWN_WHOLE", 10)
    assert [entry.value for entry in iter_entries(view_of(build_session("a")), [1])] == [None]
