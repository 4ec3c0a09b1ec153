"""Pages of comparisons: what they say, what they fold, and that they are safe on any terminal."""

from __future__ import annotations

import orjson
from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.ops.compare_context import compare_contexts
from pivcs.ops.comparison import Comparison, compare
from pivcs.ops.revision import Target
from pivcs.ops.view import SessionView
from pivcs.render.comparison_documents import comparison_document
from pivcs.render.comparison_table import duration
from pivcs.render.comparison_text import Wanted, page_lines
from pivcs.render.comparison_turns import TURNS, Shape
from pivcs.render.documents import encode
from pivcs.render.log_text import Looks
from pivcs.render.spans import wrapped
from pivcs.render.style import Role, Styler
from pivcs.render.text import visible
from pivcs.render.width import columns_of, wrap
from tests.builders import build_session, entry_id
from tests.ops.trees import views
from tests.ops.views import view_of

ASKED = {
    "c": "Use Decimal for all prices, please.", "d": "The sums are right, but it is slow.",
    "e": "Use Decimal for prices, please.", "f": "The sums are right, and it is fast.", "a1": "Add a test.",
}  # fmt: skip


def targets(view: SessionView, *names: str) -> list[Target]:
    return [Target(view, view.table.row_named(entry_id(name)) or 0) for name in names]


def page(comparison: Comparison, *sections: str, columns: int | None = None, shape: Shape | None = None) -> list[str]:
    looks = Looks(Styler(False), columns, utc=True)
    return list(page_lines(comparison, looks, Wanted(frozenset(sections), shape or Shape())))


def section(lines: list[str], title: str) -> list[str]:
    rest = lines[lines.index(title) + 1 :]
    return rest[: rest.index("")] if "" in rest else rest


def attempts() -> Comparison:
    view = view_of(build_session("a-b-c-d, b-e-f-a1-a2", texts=ASKED))
    return compare(targets(view, "d", "a2"))


def test_changed_prompts_and_answers_are_told_word_by_word():
    assert section(page(attempts(), "messages"), "Turns") == [
        "  1 ! 1  Use Decimal for [-all -]prices, please.",
        "      -> The sums are right, [-but-]{+and+} it is [-slow-]{+fast+}.",
        "    > 2  Add a test. -> a2",
    ]


def test_answers_without_common_words_stand_below_each_other():
    view = view_of(build_session("a-b-c-d, b-e-f", texts={"c": "Go.", "e": "Go.", "d": "Done so.", "f": "I failed."}))
    assert section(page(compare(targets(view, "d", "f")), "messages"), "Turns") == [
        "  1 ! 1  Go.", "       < Done so.", "       > I failed.",
    ]  # fmt: skip


def test_equal_turns_take_one_line():
    view = view_of(build_session("a-b-c-d, b-e-f", texts={"c": "Go.", "e": "Go.", "d": "Done.", "f": "Done."}))
    assert section(page(compare(targets(view, "d", "f")), "messages"), "Turns") == ["  1 = 1  Go. -> Done."]


def test_columns_have_each_side_on_its_own():
    lines = section(page(attempts(), "messages", columns=120, shape=Shape(columns=True)), "Turns")
    assert all(line[58:61] == " | " for line in lines)
    assert lines[0].startswith("   1 Use Decimal for [-all -]prices, please.")
    assert lines[0][61:] == "   1 Use Decimal for prices, please."
    assert lines[2][61:] == "   2 Add a test."


def test_columns_are_left_out_where_they_would_be_too_narrow():
    narrow = page(attempts(), "messages", columns=80, shape=Shape(columns=True))
    assert narrow == page(attempts(), "messages", columns=80)


def test_header_tells_where_they_parted():
    lines = page(attempts())
    assert lines[0].startswith("< main  1 turn, 2 entries")
    assert lines[1].startswith("> b-eeeeeeee  2 turns, 4 entries  HEAD")
    assert lines[2] == "Parted after bbbbbbbb  2026-01-01 00:00Z"
    assert lines[3:5] == ["  user: a", "  assistant: b"]


def test_nothing_differs_between_an_entry_and_itself():
    view = view_of(build_session("a-b"))
    assert page(compare(targets(view, "b", "b")))[-1] == "No differences."


def test_different_roots_are_told():
    view = view_of(build_session("a-b, c-d"))
    assert "They have no entry in common." in page(compare(targets(view, "b", "d")))


def test_more_turns_than_fit_are_counted():
    chain = "-".join(f"{number:04x}" for number in range(0x1000, 0x1000 + 2 * (TURNS + 5)))
    view = view_of(build_session(f"a-b-{chain}, b-e"))
    found = compare([Target(view, len(view.table) - 2), *targets(view, "e")])
    shown = section(page(found, "messages"), "Turns")
    total = len(found.pairs)
    assert len(shown) == TURNS + 1
    assert shown[-1] == f"  (+{total - TURNS} turns; --full shows all)"
    assert len(section(page(found, "messages", shape=Shape(full=True)), "Turns")) == total


def test_tools_are_told_with_outcomes_and_wrapped_between_them():
    kinds = {"c": "tool", "d": "error", "f": "tool", "a1": "result"}
    view = view_of(build_session("a-b-c-d, b-e-f-a1", kinds=kinds, texts={"c": "pytest", "f": "make"}))
    found = compare(targets(view, "d", "a1"))
    assert section(page(found), "Tools") == ["  < bash pytest failed", "  > bash make ok"]
    assert section(page(found, "tools"), "Tools") == [
        "  < cccccccc  bash pytest failed", "  > ffffffff  bash make ok",
    ]  # fmt: skip


def test_sections_that_are_asked_for_are_shown_alone():
    lines = page(attempts(), "cost")
    assert "Cost" in lines
    assert "Turns" not in lines
    assert ["tokens", "15", "30"] in [line.split() for line in lines]


def test_context_is_told_with_what_is_the_same():
    view = view_of(build_session("a-b-c-d, b-e"))
    both = targets(view, "d", "e")
    looks = Looks(Styler(False), None, utc=True)
    wanted = Wanted(frozenset({"context"}), Shape(), 1)
    lines = list(page_lines(compare(both), looks, wanted, context=compare_contexts(both[0], both[1])))
    assert section(lines, "Context")[2:] == [
        "    (1 message the same)", "    bbbbbbbb assistant: b", "  < cccccccc user: c", "  < dddddddd assistant: d",
        "  > eeeeeeee user: e",
    ]  # fmt: skip


@given(views(), st.data())
def test_page_is_safe_and_fits_every_terminal(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    count = data.draw(st.integers(2, 4))
    found = compare([Target(view, data.draw(st.sampled_from(rows))) for _ in range(count)])
    columns = data.draw(st.sampled_from([None, 1, 30, 80, 140]))
    sections = data.draw(st.sampled_from([(), ("tools", "stat"), ("messages", "cost")]))
    shape = Shape(data.draw(st.booleans()), data.draw(st.booleans()))
    for line in page(found, *sections, columns=columns, shape=shape):
        assert visible(line, keep="") == line
        assert columns is None or columns_of(line) <= max(columns, 20)


@given(views(), st.data())
def test_document_tells_every_turn_and_entry(view: SessionView, data: st.DataObject):
    rows = list(view.table.nodes())
    assume(rows)
    found = compare([Target(view, data.draw(st.sampled_from(rows))) for _ in range(2)])
    document = orjson.loads(encode(comparison_document(found)))
    assert document["differs"] == found.differs
    for side, told in zip(found.sides, document["sides"], strict=True):
        assert told["entries"] == [view.table.name(row) for row in side.rows]
        assert len(told["turns"]) == len(side.turns)
        assert sum(deed["times"] for deed in told["deeds"]) == sum(deed.times for deed in side.deeds)
    assert len(document["turns"]) == len(found.pairs)


@given(st.lists(st.tuples(st.sampled_from(list(Role)), st.text("ab \n\té漢", max_size=12))), st.integers(1, 20))
def test_wrapped_spans_say_what_wrapped_text_says(spans: list[tuple[Role, str]], columns: int):
    text = "".join(text for _, text in spans).replace("\t", "    ")
    lines = wrapped(spans, columns)
    assert ["".join(part for _, part in line) for line in lines] == wrap(text, columns)
    for role in Role:
        kept = "".join(part for line in lines for each, part in line if each is role).replace(" ", "")
        assert kept == "".join(part for each, part in spans if each is role).translate(dict.fromkeys(map(ord, " \n\t")))


def test_durations_as_people_say_them():
    said = [duration(wall) for wall in (None, 0, 499, 41_400, 60_000, 185_000, 7_800_000, 356_400_000)]
    assert said == ["none", "0 s", "0 s", "41 s", "1 min", "3 min 5 s", "2 h 10 min", "4 d 3 h"]
