"""Graphs of some rows: nothing else is shown, and what hangs together still does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.render.graph import ELIDED, HIDDEN, Row, draw
from pivcs.render.graph_filter import keep_only


def rows(text: str) -> list[Row[str]]:
    """Return rows from `child>parent` words, newest first."""
    pairs = [word.partition(">") for word in text.split()]
    return [Row(child, parent or None) for child, _, parent in pairs]


def drawn(text: str, keep: str) -> list[str]:
    lines = []
    for drawing in draw(keep_only(rows(text), lambda row: row.key in keep)):
        what = f"({drawing.row.hidden})" if drawing.row.hidden else drawing.row.key
        lines += [line.text.rstrip() for line in drawing.beside(1)]
        lines[-len(drawing.beside(1))] += " " + what
    return lines


def test_what_is_between_is_one_elision():
    assert drawn("e>d d>c c>b b>a a", "ea") == ["* e", ": (3)", "* a"]


def test_paths_meet_where_they_meet_in_the_tree():
    # e and d hang on c, which hangs on b and a; only e, d and a are wanted.
    assert drawn("e>c d>c c>b b>a a", "eda") == ["* e", "| * d", "|/", ": (2)", "* a"]


def test_branches_without_a_wanted_row_are_left_out():
    assert drawn("e>b d>c c>b b>a a", "da") == ["* d", ": (2)", "* a"]


def test_path_that_meets_no_other_wanted_row_ends_in_a_stub():
    assert drawn("c>b b>a a", "c") == ["* c", "~"]
    assert drawn("d>b b>a c>a a", "dc") == ["* d", ": (1)", "| * c", "|/", ": (1)"]


def test_all_or_nothing():
    tree = "e>c d>c c>b b>a a"
    assert keep_only(rows(tree), lambda row: True) == rows(tree)
    assert keep_only(rows(tree), lambda row: False) == []


@given(st.data())
def test_wanted_rows_are_connected_as_in_the_tree(data: st.DataObject):
    count = data.draw(st.integers(1, 25))
    parents: list[int | None] = [None]
    parents += [data.draw(st.none() | st.integers(0, number - 1)) for number in range(1, count)]
    wanted = data.draw(st.sets(st.integers(0, count - 1)))
    tree = [Row(number, parents[number]) for number in reversed(range(count))]
    found = keep_only(tree, lambda row: row.key in wanted)
    by_key = {row.key: row for row in found}
    assert [row.key for row in found if not row.hidden] == sorted(wanted, reverse=True)

    def above(number: int | None) -> int | None:
        """Return the nearest wanted row above one."""
        at = parents[number] if number is not None else None
        while at is not None and at not in wanted:
            at = parents[at]
        return at

    for row in found:
        at, hidden = row.parent, 0
        while at is not None and by_key[at].hidden:
            assert by_key[at].glyph == ELIDED
            hidden += by_key[at].hidden
            at = by_key[at].parent
        if row.hidden:
            continue
        assert at == above(row.key)
        if row.stub != HIDDEN and at is not None:
            steps, place = 0, parents[row.key]
            while place != at:
                assert place is not None
                steps, place = steps + 1, parents[place]
            assert hidden == steps
