"""Which entries a log shows, in which order, and how they form turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops import log as ops
from pivcs.ops.demo import demo_session
from tests.builders import build_session, header_line, message_line, tool_call_line, tool_result_line
from tests.ops.views import name_of, view_of
from tests.session.streams import streams


def names(data: bytes) -> list[str]:
    view = view_of(data)
    return [name_of(view, row)[0] for row in ops.rows_of_tree(view)]


@given(streams())
def test_tree_holds_each_node_once_and_children_before_their_parent(data: bytes):
    view = view_of(data)
    rows = ops.rows_of_tree(view)
    assert sorted(rows) == list(view.table.nodes())
    place = {row: at for at, row in enumerate(rows)}
    for row in rows:
        parent = view.table.parent_of(row)
        assert parent is None or place[row] < place[parent]


@given(st.lists(st.none() | st.integers(0, 30), min_size=1, max_size=30))
def test_branches_stay_together_newest_first(choices: list[int | None]):
    lines = [header_line()]
    for number, choice in enumerate(choices):
        parent = None if choice is None or not number else f"{choice % number:08x}"
        lines.append(message_line(f"{number:08x}", parent))
    view = view_of(b"".join(lines))
    rows = ops.rows_of_tree(view)
    # A branch is a node and all below it: it takes one stretch of the list that ends with the node.
    place = {row: at for at, row in enumerate(rows)}
    size = dict.fromkeys(rows, 1)
    for row in rows:
        parent = view.table.parent_of(row)
        if parent is not None:
            size[parent] += size[row]
    for row in rows:
        at = row
        while (parent := view.table.parent_of(at)) is not None:
            assert place[parent] - size[parent] < place[row] < place[parent]
            at = parent
    for siblings in view.children.values():
        assert sorted(siblings, key=lambda row: place[row], reverse=True) == sorted(siblings)


def test_order_of_a_small_tree():
    assert "".join(names(build_session("a-b-c, b-d-e, f"))) == "fedcba"
    assert "".join(names(build_session("a-b-c, b-d-e, a-f", leaf="c"))) == "fcedba"


def test_path_goes_from_the_entry_to_its_root():
    view = view_of(build_session("a-b-c, b-d"))
    assert [name_of(view, row)[0] for row in ops.rows_of_path(view, view.head)] == ["d", "b", "a"]
    assert ops.rows_of_path(view, None) == []


def turns(data: bytes, *, tree: bool = False) -> list[tuple[str, str, bool]]:
    """Names of the entries, name of the parent, finished."""
    view = view_of(data)
    rows = ops.rows_of_tree(view) if tree else ops.rows_of_path(view, view.head)
    return [
        (
            "".join(name_of(view, row)[0] for row in turn.rows),
            "" if turn.parent is None else name_of(view, turn.parent)[0],
            turn.finished,
        )
        for turn in ops.turns_of(view, rows)
    ]


TURN = header_line() + b"".join(
    [
        message_line("a0000000", None, content="Do it."),
        tool_call_line("b0000000", "a0000000", "bash", {"command": "ls"}),
        tool_result_line("c0000000", "b0000000", "bash", "x"),
        message_line("d0000000", "c0000000", "assistant", "Done."),
    ]
)


def test_turn_ends_with_an_answer_that_calls_no_tool():
    assert turns(TURN) == [("abcd", "", True)]
    more = message_line("e0000000", "d0000000") + message_line("f0000000", "e0000000", "assistant")
    assert turns(TURN + more) == [("ef", "d", True), ("abcd", "", True)]


def test_tip_that_ends_no_turn_is_an_unfinished_turn():
    assert turns(TURN + message_line("e0000000", "d0000000")) == [("e", "d", False), ("abcd", "", True)]
    cut = b"".join(TURN.splitlines(keepends=True)[:-1])
    assert turns(cut) == [("abc", "", False)]


def test_book_keeping_alone_is_no_turn():
    assert turns(build_session("a-b-c", kinds={"c": "name"})) == [("ab", "", True)]
    assert turns(build_session("a", kinds={"a": "model"})) == []


def test_branch_from_inside_a_turn_begins_a_turn_of_its_own():
    other = message_line("e0000000", "c0000000", "assistant", "Done otherwise.")
    assert turns(TURN + other, tree=True) == [("abce", "", True), ("abcd", "", True)]


def test_aborted_and_failed_answers_end_a_turn():
    for reason in ("aborted", "error", "length"):
        data = header_line() + message_line("a") + message_line("b", "a", "assistant", stopReason=reason)
        assert turns(data) == [("ab", "", True)]


@given(streams())
def test_every_entry_of_a_finished_path_is_in_exactly_one_turn(data: bytes):
    view = view_of(data)
    rows = ops.rows_of_path(view, view.head)
    found = [row for turn in ops.turns_of(view, rows) for row in reversed(turn.rows)]
    assert len(set(found)) == len(found)
    assert found == rows[len(rows) - len(found) :]


def test_prompt_is_the_first_user_message_of_the_turn():
    view = view_of(demo_session())
    found = ops.turns_of(view, ops.rows_of_tree(view))
    prompts = [view.subject(turn.prompt) for turn in found if turn.prompt is not None]
    assert prompts[0] == "Good. Also reject negative counts."
    assert len(prompts) == 4


def test_entry_says_who_it_is_from():
    kinds = {"a": "user", "b": "tool", "c": "error", "d": "compaction", "e": "branch_summary", "f": "custom_message"}
    view = view_of(build_session("a-b-c-d-e-f", kinds=kinds))
    found = list(ops.entries(view, ops.rows_of_path(view, view.head)))
    assert [entry.who for entry in found] == ["custom", "summary", "compaction", "tool", "assistant", "user"]
    assert [entry.failed for entry in found] == [False, False, False, True, False, False]
    assert [entry.is_head for entry in found] == [True] + [False] * 5
    assert [entry.line for entry in found] == [7, 6, 5, 4, 3, 2]


def test_unknown_types_and_roles_are_named_as_they_are():
    data = header_line() + b'{"type":"later","id":"a"}\n' + message_line("b", "a", "robot")
    view = view_of(data)
    found = list(ops.entries(view, list(view.table.nodes())))
    assert [(entry.type, entry.role, entry.who) for entry in found] == [
        ("later", None, "later"),
        ("message", "robot", "robot"),
    ]


def test_orphan_names_its_missing_parent_and_the_damage_before_it():
    lines = build_session("a-b-c-d").splitlines(keepends=True)
    lines[2] = lines[2][:40] + b"\n"
    view = view_of(b"".join(lines))
    c = ops.logged(view, 3)
    assert (c.missing_parent, c.parent) == ("bbbbbbbb", None)
    damaged = ops.damaged_before(view, c.row)
    assert damaged is not None
    assert view.table.line_number(damaged) == 3
    assert ops.damaged_before(view, 1) is None
