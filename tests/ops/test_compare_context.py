"""Contexts against each other."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.errors import PivcsError
from pivcs.ops.compare_context import ContextDifference, compare_contexts
from pivcs.ops.revision import Target
from pivcs.ops.view import SessionView
from tests.builders import build_session, entry_id, entry_line, message_line
from tests.ops.trees import trees
from tests.ops.views import view_of


def compared(view: SessionView, first: str, second: str) -> ContextDifference:
    return compare_contexts(*(Target(view, view.table.row_named(entry_id(name)) or 0) for name in (first, second)))


def steps(found: ContextDifference) -> list[tuple[str, str | None]]:
    return [(step.where, step.message.entry) for step in found.steps]


def test_messages_of_either_side_and_of_both():
    found = compared(view_of(build_session("a-b-c, b-d-e")), "c", "e")
    assert steps(found) == [
        ("same", "aaaaaaaa"), ("same", "bbbbbbbb"), ("first", "cccccccc"), ("second", "dddddddd"),
        ("second", "eeeeeeee"),
    ]  # fmt: skip
    assert [found.count("same"), found.count("first"), found.count("second")] == [2, 1, 2]


def test_compaction_takes_messages_away():
    compaction = entry_line(
        "compaction", "00000001", "dddddddd", summary="So far.", firstKeptEntryId="cccccccc", tokensBefore=9
    )
    after = message_line("00000002", "00000001")
    view = view_of(build_session("a-b-c-d", extra=[compaction, after]))
    found = compare_contexts(Target(view, 4), Target(view, 6))
    assert steps(found) == [
        ("first", "aaaaaaaa"), ("first", "bbbbbbbb"), ("second", "00000001"), ("same", "cccccccc"),
        ("same", "dddddddd"), ("second", "00000002"),
    ]  # fmt: skip


def test_context_edit_replaces_a_message():
    edit = entry_line("context_edit", "00000001", "bbbbbbbb", targetId="aaaaaaaa", replacement=None)
    view = view_of(build_session("a-b", extra=[edit]))
    assert ("first", "aaaaaaaa") in steps(compare_contexts(Target(view, 2), Target(view, 3)))


@given(trees().map(view_of), st.data())
def test_steps_make_both_contexts_and_mirror(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    targets = [Target(view, data.draw(st.sampled_from(rows))) for _ in range(2)]
    try:
        found = compare_contexts(*targets)
    except PivcsError:
        assume(False)
    for side, where in ((found.first, "second"), (found.second, "first")):
        kept = [step.message.message for step in found.steps if step.where != where]
        assert kept == [spoken.message for spoken in side.messages]
    back = compare_contexts(targets[1], targets[0])
    other = {"first": "second", "second": "first", "same": "same"}
    assert sorted((other[where], entry or "") for where, entry in steps(found)) == sorted(
        (where, entry or "") for where, entry in steps(back)
    )
