"""Where paths part, against a naive search."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.ops.merge_base import Parting, is_ancestor, merge_base, parting, range_rows, symmetric_rows
from pivcs.ops.relatives import are_relatives
from pivcs.ops.view import SessionView
from pivcs.session.codes import LABEL
from tests.builders import build_session, entry_line, header_line, message_line
from tests.ops.syncing import many_lines
from tests.ops.trees import naive_path, trees, views
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


@st.composite
def related(draw: st.DrawFn) -> tuple[SessionView, SessionView]:
    """Two sessions, of which the second is like the first but for some lines: changed, left out, added."""
    data = draw(trees())
    changed = []
    for line in data.splitlines(keepends=True):
        what = draw(st.integers(0, 9))
        if what == 0:
            line = line.replace(b'"timestamp":1', b'"timestamp": 1')
        elif what == 1:
            line = line.replace(b"2026", b"2025")
        if what != 2:
            changed.append(line)
    return view_of(data), view_of(b"".join(changed))


def naive_parting(view: SessionView, row: int, other: SessionView, other_row: int) -> tuple[int | None, int | None]:
    """Return the last pair of entries that are the same, the beginnings of both paths being so, too."""
    firsts, seconds = naive_path(view, row)[::-1], naive_path(other, other_row)[::-1]
    found: tuple[int | None, int | None] = (None, None)
    while firsts and seconds and view.table.digest(firsts[0]) == other.table.digest(seconds[0]):
        found = (firsts.pop(0), seconds.pop(0))
    firsts = [each for each in firsts if view.table.code[each] != LABEL]
    seconds = [each for each in seconds if other.table.code[each] != LABEL]
    while firsts and seconds and are_relatives(view, firsts[0], other, seconds[0]):
        found = (firsts.pop(0), seconds.pop(0))
    return found


@given(related(), st.data())
def test_parting_of_two_sessions_equals_a_naive_search_and_is_symmetric(
    both: tuple[SessionView, SessionView], data: st.DataObject
):
    view, other = both
    rows, others = list(view.table.nodes()), list(other.table.nodes())
    assume(rows and others)
    row, other_row = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(others))
    found = parting(view, row, other, other_row)
    assert (found.first, found.second) == naive_parting(view, row, other, other_row)
    assert parting(other, other_row, view, row) == found.mirrored()
    shared = [] if found.first is None else view.table.path(found.first)
    assert [*shared, *found.only_first] == view.table.path(row)


@given(views(), st.data())
def test_parting_in_one_session_is_its_merge_base(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    first, second = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(rows))
    found = parting(view, first, view, second)
    assert found.first == found.second == merge_base(view, first, second)
    assert [*found.only_first] == range_rows(view, second, first)
    assert parting(view, second, view, first) == found.mirrored()


def test_fork_shares_by_object_id():
    assert parting(view_of(build_session("a-b-c")), 3, view_of(build_session("a-b-d")), 3) == (2, 2, "oid", (3,), (3,))


def test_label_that_a_fork_leaves_out_is_passed_over():
    label = entry_line("label", "00000001", "aaaaaaaa", targetId="aaaaaaaa", label="x")
    after = message_line("bbbbbbbb", "00000001", "user", "b")
    parent = view_of(header_line() + message_line("aaaaaaaa") + label + after)
    fork = view_of(header_line() + message_line("aaaaaaaa") + after.replace(b'"00000001"', b'"aaaaaaaa"'))
    assert parting(parent, 3, fork, 2) == Parting(3, 2, "relative", (), ())


def test_migrated_version_1_is_recognised_by_place_and_message():
    lines = [message_line("aaaaaaaa", None, "user", "one"), message_line("bbbbbbbb", "aaaaaaaa", "assistant", "two")]
    old = [line.replace(b'"id":"aaaaaaaa",', b"").replace(b'"id":"bbbbbbbb",', b"") for line in lines]
    old = [line.replace(b'"parentId":null,', b"").replace(b'"parentId":"aaaaaaaa",', b"") for line in old]
    first, second = view_of(header_line(version=None) + b"".join(old)), view_of(header_line() + b"".join(lines))
    assert parting(first, 2, second, 2) == Parting(2, 2, "relative", (), ())
    other = view_of(header_line() + lines[0] + lines[1].replace(b"two", b"six"))
    assert parting(first, 2, other, 2) == Parting(1, 1, "relative", (2,), (2,))


def test_sessions_without_a_common_beginning_share_nothing():
    assert parting(view_of(build_session("a-b")), 2, view_of(build_session("c-d")), 2).by is None


def test_long_paths_of_two_sessions_part_at_their_end():
    data = many_lines(20_000)
    first, second = view_of(data), view_of(data.replace(b'"timestamp":1', b'"timestamp": 1'))
    last = len(first.table) - 1
    for other in (view_of(data), second):
        assert parting(first, last, other, last)[:2] == (last, last)
