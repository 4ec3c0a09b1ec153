"""Comparisons of paths: laws, and what a side tells."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.ops.comparison import Comparison, answer_of, compare, prompt_of, since_parting
from pivcs.ops.revision import Target
from pivcs.ops.view import SessionView
from pivcs.session.codes import LABEL
from tests.builders import build_session, entry_id
from tests.ops.test_merge_base import related
from tests.ops.trees import naive_path, views
from tests.ops.views import name_of, view_of

TREE = "a-b-c-d, b-e-f-g"
KINDS = {"d": "assistant", "c": "user", "e": "user", "f": "tool", "g": "error"}


def compared(view: SessionView, *names: str) -> Comparison:
    return compare([Target(view, row) for name in names if (row := view.table.row_named(entry_id(name))) is not None])


@given(views(), st.data())
def test_entry_is_like_itself(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    row = data.draw(st.sampled_from(rows))
    found = compare([Target(view, row), Target(view, row)])
    assert not found.differs
    assert found.pairs == ()
    assert found.sides[0].base == found.sides[1].base == row


@given(views(), st.data())
def test_other_way_round_the_sides_are_the_same(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    targets = [Target(view, data.draw(st.sampled_from(rows))) for _ in range(2)]
    there, back = compare(targets), compare(targets[::-1])
    assert there.sides == back.sides[::-1]
    assert {pair.mirrored() for pair in there.pairs} == set(back.pairs)
    assert (there.by, there.differs) == (back.by, back.differs)


@given(views(), st.data())
def test_entry_lists_make_one_path_of_the_other(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    targets = [Target(view, data.draw(st.sampled_from(rows))) for _ in range(data.draw(st.integers(2, 4)))]
    found = compare(targets)
    for first, target in zip(found.sides, targets, strict=True):
        path = naive_path(view, target.row)[::-1]
        shared = path[: len(path) - len(first.rows)]
        assert [*shared, *first.rows] == path
        for second, other in zip(found.sides, targets, strict=True):
            assert [*shared, *second.rows] == naive_path(view, other.row)[::-1]
    if len(targets) == 2:
        assert not set(found.sides[0].rows) & set(found.sides[1].rows)


@given(related(), st.data())
def test_entry_lists_make_one_path_of_the_other_across_sessions(
    both: tuple[SessionView, SessionView], data: st.DataObject
):
    nodes = [list(view.table.nodes()) for view in both]
    assume(all(nodes))
    targets = [Target(view, data.draw(st.sampled_from(rows))) for view, rows in zip(both, nodes, strict=True)]
    first, second = compare(targets).sides
    paths = [naive_path(target.view, target.row)[::-1] for target in targets]
    shared = [path[: len(path) - len(side.rows)] for path, side in zip(paths, (first, second), strict=True)]
    # What both share is the same but for labels, which forks leave out.
    named = [
        [name_of(view, row) for row in rows if view.table.code[row] != LABEL]
        for view, rows in zip(both, shared, strict=True)
    ]
    assert named[0] == named[1]


@given(views(), st.data())
def test_every_turn_since_the_parting_is_told_once(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    targets = [Target(view, data.draw(st.sampled_from(rows))) for _ in range(2)]
    for side in compare(targets).sides:
        told = [row for turn in side.turns for row in turn.rows]
        assert told == list(side.rows)[: len(told)]
        assert len(side.asked) == len(side.turns)


def test_sides_tell_what_was_asked_done_and_answered():
    view = view_of(build_session(TREE, kinds=KINDS, texts={"c": "Use Decimal.", "d": "Done.", "f": "pytest"}))
    found = compared(view, "d", "g")
    first, second = found.sides
    assert name_of(view, first.base or 0) == name_of(view, second.base or 0) == "bbbbbbbb"
    assert [prompt_of(view, turn) for turn in first.turns] == ["Use Decimal."]
    assert [answer_of(view, turn) for turn in first.turns] == ["Done."]
    assert [(turn.finished, answer_of(view, turn)) for turn in second.turns] == [(False, "")]
    assert [(deed.what, deed.outcome) for deed in second.deeds] == [("bash pytest", "failed")]
    assert (first.failures, second.failures) == (0, 1)
    assert first.models[0].text == "anthropic/claude-sonnet-4-5"


def test_settings_and_compactions_of_a_side_are_told():
    kinds = {"c": "model", "d": "thinking", "e": "compaction", "f": "assistant"}
    view = view_of(build_session("a-b-c-d-e-f, b-x1", kinds=kinds, texts={"c": "gpt", "d": "high"}))
    side = compared(view, "f", "x1").sides[0]
    models = {each.text: each.answers for each in side.models}
    assert models == {"openai/gpt": 0, "anthropic/claude-sonnet-4-5": 1}
    assert [each.text for each in side.thinking] == ["high"]
    assert [each.tokens_before for each in side.compactions] == [45_000]


def test_parted_inside_a_turn_both_go_on_with_it():
    view = view_of(build_session("a-b-c-d, b-e-f", kinds={"b": "tool", "c": "result", "d": "assistant", "e": "error"}))
    found = compared(view, "d", "f")
    assert [pair[:2] for pair in found.pairs] == [(0, 0)]


def test_three_paths_are_compared_where_all_of_them_parted():
    view = view_of(build_session("a-b-c-d-e, c-f, b-x1"))
    found = compared(view, "e", "f", "x1")
    assert {name_of(view, side.base or 0) for side in found.sides} == {"bbbbbbbb"}
    assert [[name_of(view, row) for row in side.rows] for side in found.sides] == [
        ["cccccccc", "dddddddd", "eeeeeeee"], ["cccccccc", "ffffffff"], ["00007831"],
    ]  # fmt: skip
    assert found.pairs == ()


def test_paths_with_different_roots_are_all_their_own():
    view = view_of(build_session("a-b, c-d, a-e"))
    found = compared(view, "b", "d", "e")
    assert found.by is None
    assert [len(side.rows) for side in found.sides] == [2, 2, 2]
    assert [side.base for side in found.sides] == [None, None, None]


def test_what_follows_the_parting_of_two():
    view = view_of(build_session(TREE))
    first, second = (Target(view, view.table.row_named(entry_id(name)) or 0) for name in ("d", "g"))
    found = since_parting(first, second)
    assert found is not None
    assert [name_of(view, target.row) for target in found] == ["bbbbbbbb", name_of(view, second.row)]
    apart = view_of(build_session("a, c"))
    assert since_parting(Target(apart, 1), Target(apart, 2)) is None
