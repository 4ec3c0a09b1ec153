from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.tree import Label, SessionTree
from pivcs.session.values import entries_of, kept_values
from tests.builders import build_session, entry_id


def tree_of(data: bytes) -> SessionTree:
    return SessionTree(entries_of(kept_values(data)))


def entry(ident: object, parent: object = None, **more: object) -> dict[str, object]:
    return {"type": "message", "id": ident, "parentId": parent} | more


A, B, C, D = (entry_id(name) for name in "abcd")


def test_branches_hang_below_their_entry() -> None:
    tree = tree_of(build_session("a-b-c, b-d"))
    assert tree.roots == (A,)
    assert tree.children(B) == (C, D)
    assert tree.path(D) == (A, B, D)
    assert tree.leaves() == (C, D)
    assert [(visit.id, visit.depth) for visit in tree.walk()] == [(A, 0), (B, 1), (C, 2), (D, 2)]
    assert tree.parent(C) == B
    assert tree.parent(A) is None


def test_leaf_is_the_last_line_whatever_it_is() -> None:
    assert tree_of(build_session("a-b-c, b-d", leaf="c")).leaf == C
    assert tree_of(build_session("a-b", labels={"a": "x"})).leaf == "1abe0000"


def test_empty_session_has_no_leaf_and_no_tree() -> None:
    tree = tree_of(build_session(""))
    assert (tree.leaf, tree.leaf_is_undefined, tree.roots, tree.leaves(), tree.name) == (None, False, (), (), None)
    assert list(tree.walk()) == []


@pytest.mark.parametrize("last", [b"123", b"{}", b'["x"]', b'{"id":null,"type":"custom"}'])
def test_last_line_without_id_leaves_no_position(last: bytes) -> None:
    tree = tree_of(build_session("a-b", extra=[last]))
    assert tree.leaf is None
    assert tree.leaf_is_undefined
    assert tree.path(tree.leaf) == ()
    assert len(tree) == 3


def test_entries_without_id_are_one_root_that_takes_the_entries_without_parent() -> None:
    tree = SessionTree([5, {}, {"type": "custom", "id": "x"}])
    assert tree.distinct_ids == (None, "x")
    assert tree.roots == (None, None)
    assert tree.children(None) == ("x",)
    assert tree.path("x") == ("x",)


@pytest.mark.parametrize("parent", ["nowhere", "", 5, False, ["a"], {}])
def test_entry_with_a_parent_that_is_not_there_is_a_root(parent: object) -> None:
    tree = SessionTree([entry("a"), entry("b", parent), entry("c", "b")])
    assert tree.roots == ("a", "b")
    assert tree.path("c") == ("b", "c")
    assert tree.parent("b") is None


def test_child_may_come_before_its_parent() -> None:
    tree = SessionTree([entry("b", "a"), entry("a")])
    assert (tree.roots, tree.children("a"), tree.path("b")) == (("a",), ("b",), ("a", "b"))


def test_children_are_sorted_by_time_and_equal_times_by_line() -> None:
    times = {"b": "2026-01-01T00:00:03.000Z", "c": "2026-01-01T00:00:01.000Z", "d": "2026-01-01T00:00:03.000Z"}
    tree = SessionTree([entry("a"), *(entry(ident, "a", timestamp=stamp) for ident, stamp in times.items())])
    assert tree.children("a") == ("c", "b", "d")


def test_repeated_id_shows_its_last_entry_at_the_parents_of_all_its_lines() -> None:
    tree = SessionTree([entry("a"), entry("b", "a"), entry("x", "a", n=1), entry("x", "b", n=2), entry("y", "x")])
    assert tree.children("a") == ("b", "x")
    assert tree.children("b") == ("x",)
    assert tree.entry("x") == entry("x", "b", n=2)
    assert tree.path("y") == ("a", "b", "x", "y")
    assert [(visit.id, visit.again) for visit in tree.walk()] == [
        ("a", False), ("b", False), ("x", False), ("y", False), ("x", True),
    ]


def test_circles_end() -> None:
    own_parent = SessionTree([entry("a", "a"), entry("b", "a")])
    assert (own_parent.roots, own_parent.path("b")) == (("a",), ("a", "b"))
    pair = SessionTree([entry("a", "b"), entry("b", "a"), entry("c", "b")])
    assert pair.roots == ()
    assert pair.path("c") == ("a", "b", "c")
    assert list(pair.walk()) == []
    below_root = SessionTree([entry("a"), entry("b", "a"), entry("a", "b")])
    assert [visit.id for visit in below_root.walk()] == ["a", "b", "a"]


def test_last_label_wins_and_empty_clears() -> None:
    tree = tree_of(build_session("a-b-c", labels={"a": "one", "b": "two", "c": None}))
    assert tree.labels == {A: Label("one", "2026-01-01T00:00:04.000Z"), B: Label("two", "2026-01-01T00:00:05.000Z")}
    lines = [{"type": "label", "targetId": target, "label": label} for target, label in (
        ("a", "1"), ("b", "2"), ("a", "3"), ("b", ""), ("b", " "), ("c", 5), (None, "x"),
    )]
    assert [(target, label.text) for target, label in SessionTree(lines).labels.items()] == [("a", "3"), ("b", " ")]


def test_label_set_again_after_clearing_moves_to_the_end() -> None:
    steps = [("a", "1"), ("b", "2"), ("a", None), ("a", "3")]
    tree = SessionTree([{"type": "label", "targetId": target, "label": label} for target, label in steps])
    assert list(tree.labels) == ["b", "a"]


@pytest.mark.parametrize(("names", "name"), [
    (["one", " two \ufeff"], "two"), (["one", ""], None), (["one", " \u00a0"], None), (["one", None], None), ([], None),
])
def test_name_is_that_of_the_last_session_info(names: list[object], name: str | None) -> None:
    assert SessionTree([{"type": "session_info", "name": text} for text in names]).name == name


@given(st.lists(st.tuples(st.integers(0, 12), st.one_of(st.none(), st.integers(0, 14))), max_size=40))
def test_every_entry_is_in_the_tree_or_in_a_circle(lines: list[tuple[int, int | None]]) -> None:
    tree = SessionTree([entry(str(ident), None if parent is None else str(parent)) for ident, parent in lines])
    shown = {visit.id for visit in tree.walk()}
    for ident in tree.distinct_ids:
        path = tree.path(ident)
        assert path[-1] == ident
        assert len(set(path)) == len(path)
        if ident not in shown:
            top = tree.parent(path[0])
            assert top in path, "only a circle keeps an entry out of the tree"


@given(st.integers(0, 60), st.data())
def test_walk_of_a_well_formed_tree_meets_every_line_once(size: int, data: st.DataObject) -> None:
    parents = [data.draw(st.integers(-1, place - 1)) for place in range(size)]
    names = [(str(place), str(parent) if parent >= 0 else None) for place, parent in enumerate(parents)]
    tree = SessionTree([entry(ident, parent) for ident, parent in names])
    visits = list(tree.walk())
    assert sorted(visit.id or "" for visit in visits) == sorted(map(str, range(size)))
    for visit in visits:
        assert visit.depth == len(tree.path(visit.id)) - 1


def test_long_chains_and_many_branches_are_answered() -> None:
    chain = SessionTree([entry(str(place), str(place - 1) if place else None) for place in range(200_000)])
    assert len(chain.path("199999")) == 200_000
    assert max(visit.depth for visit in chain.walk()) == 199_999
    bush = SessionTree([entry("a"), *(
        entry(str(place), "a", timestamp=f"2026-01-01T00:00:{place % 60:02d}.000Z") for place in range(20_000)
    )])
    assert len(bush.leaves()) == 20_000
    assert bush.children("a")[0] == "0"
