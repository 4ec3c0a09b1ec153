"""What a list of branches says of each: compared with a search that looks at every path."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.branch_list import list_branches
from pivcs.ops.naming import LONGEST, proposed_names, slug
from pivcs.ops.ref_names import check_ref_name
from pivcs.ops.view import SessionView
from pivcs.session.codes import USER
from pivcs.store.refs import Branch
from tests.builders import build_session
from tests.ops.test_size import chain
from tests.ops.trees import naive_path, views
from tests.ops.views import view_of


def with_more(view: SessionView, rows: list[int]) -> SessionView:
    """Give a view branches of a user, beside the automatic ones."""
    refs = view.refs
    more = [Branch(f"user-{number}", row, automatic=False) for number, row in enumerate(rows)]
    refs.branches = (*refs.branches, *more)
    return view


@given(views(), st.data())
def test_amounts_equal_those_of_a_naive_search(view: SessionView, data: st.DataObject):
    nodes = [row for row in view.table.nodes() if view.table.conversation_ancestor(row) == row]
    view = with_more(view, data.draw(st.lists(st.sampled_from(nodes), max_size=3)) if nodes else [])
    paths = {branch.name: naive_path(view, branch.row) for branch in view.refs.branches}
    head = view.table.conversation_ancestor(view.head) if view.head is not None else None
    on_head = set(naive_path(view, head)) if head is not None else set()
    children: dict[int, set[int]] = {}
    for path in paths.values():
        for child, parent in pairwise(path):
            children.setdefault(parent, set()).add(child)
    for branch in list_branches(view):
        path = paths[branch.name]
        assert branch.ahead == len(set(path) - on_head)
        assert branch.behind == len(on_head - set(path))
        parted = next((row for row in path[1:] if len(children[row]) > 1), None)
        assert branch.parted == parted
        own = path if parted is None else path[: path.index(parted)]
        assert branch.entries == len(own)
        prompts = [row for row in own if view.table.code[row] == USER]
        assert branch.about == (prompts[-1] if prompts else own[-1])


@given(views(), st.data())
def test_branches_that_contain_an_entry(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    if not rows:
        return
    row = data.draw(st.sampled_from(rows))
    expected = {branch.name for branch in view.refs.branches if row in naive_path(view, branch.row)}
    assert {branch.name for branch in list_branches(view, containing=row)} == expected


def test_many_branches_and_long_chains():
    assert len(list_branches(view_of(chain(20_001, lambda number: 0)))) == 20_000
    listed = list_branches(with_more(view_of(chain(50_000)), list(range(1, 50_000, 5))))
    assert len(listed) == 10_001  # a walk of each path would be 250 million steps
    assert {branch.parted for branch in listed} == {None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use Decimal.", "use-decimal"),
        ("  Fix   it -- now!  ", "fix-it-now"),
        ("合計が一セントずれる", "合計が一セントずれる"),
        ("Prüfe die Logik", "prüfe-die-logik"),
        ("a" * 100, "a" * LONGEST),
        ("one two three four five six seven eight nine ten", "one-two-three-four-five-six-seven-eight"),
        ("../../etc/passwd", "etc-passwd"),
        ("HEAD", "head"),
        ("!!!", ""),
        ("", ""),
        ("x.lock", "x-lock"),
        ("\x1b[31mred\x1b[0m", "31mred-0m"),
    ],
)
def test_words_of_a_prompt_become_a_name(text: str, expected: str):
    assert slug(text) == expected


@given(st.text())
def test_every_name_from_a_prompt_is_one_that_git_allows(text: str):
    name = slug(text)
    if name:
        check_ref_name(name)
        assert len(name) <= LONGEST


def test_proposed_names_are_new_whatever_their_case():
    view = view_of(build_session("a-b, a-c, a-d", texts={"b": "x", "c": "MAIN", "d": "User 0"}))
    named = dict(proposed_names(with_more(view, [1])))
    assert named == {"b-cccccccc": "main-2", "b-dddddddd": "user-0-2"}
