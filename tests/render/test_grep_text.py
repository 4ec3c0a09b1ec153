from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.grep import Around, grep
from pivcs.ops.grep_pattern import wanted
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.grep_text import hit_lines
from pivcs.render.log_text import Looks
from pivcs.render.style import Styler
from pivcs.render.text import visible
from pivcs.render.width import columns_of
from tests.builders import build_session, header_line, tool_call_line
from tests.ops.views import view_of

HEAD = "aaaaaaaa main user:1: "
ODD = st.text(st.sampled_from("ab日本\x1b\u202e\u0301é\t \u200b😀"), max_size=90)


def shown(text: str, pattern: str, columns: int | None, *, colour: bool = False, context: int = 0) -> list[str]:
    view = view_of(build_session("a", texts={"a": text}))
    hits = grep(view, wanted(pattern), around=Around(context, context))
    return list(hit_lines(view, hits, Whereabouts(view), Looks(Styler(colour), columns)))


@given(ODD, ODD, st.integers(44, 120))
def test_line_fits_and_its_first_match_can_be_seen(before: str, after: str, columns: int) -> None:
    (line,) = shown(f"{before}needle{after}", "needle", columns)
    assert columns_of(line) <= columns
    assert "needle" in line
    whole = f"{before}needle{after}"
    if columns_of(visible(whole, keep="")) <= columns - len(HEAD):
        assert line == (HEAD + visible(whole, keep="")).rstrip()
    else:
        assert "…" in line


@given(ODD, ODD)
def test_without_a_terminal_nothing_is_cut(before: str, after: str) -> None:
    (line,) = shown(f"{before}needle{after} needle.", "needle", None)
    assert line == HEAD + visible(before, keep="") + "needle" + visible(f"{after} ", keep="") + "needle."


def test_what_is_left_out_is_marked_on_both_sides() -> None:
    (line,) = shown("a" * 100 + "needle" + "b" * 100, "needle", 60)
    assert re.fullmatch(r".*: …a+needleb+…", line)
    assert len(line) == 60


def test_a_line_that_just_fits_has_no_mark_and_one_more_column_has() -> None:
    text = "needle " + "b" * 30
    assert shown(text, "needle", len(HEAD) + len(text)) == [HEAD + text]
    assert shown(text, "needle", len(HEAD) + len(text) - 1) == [HEAD + text[:-2] + "…"]


def test_the_end_of_a_line_fills_the_room() -> None:
    (line,) = shown("a" * 100 + "needle", "needle", 60)
    assert re.fullmatch(r".*: …a+needle", line)
    assert len(line) == 60


def test_a_match_longer_than_the_line_shows_its_beginning() -> None:
    (line,) = shown("a" * 50 + "n" * 500, "n+", 60)
    assert "…" in line
    assert "annn" in line
    assert len(line) == 60


def test_every_match_of_a_line_is_marked() -> None:
    (line,) = shown("one two one", "one", 80, colour=True)
    assert line.count("\x1b[1;31mone\x1b[m") == 2


@pytest.mark.parametrize("pattern", ["x*", "$", "^"])
def test_matches_of_nothing_show_the_line(pattern: str) -> None:
    assert shown("abc", pattern, 80) == [HEAD + "abc"]


def test_groups_of_lines_are_apart_and_adjoining_ones_are_not() -> None:
    text = "1\n2 x\n3\n4 x\n5\n6\n7\n8 x"
    lines = shown(text, "x", None, context=1)
    said = [line.removeprefix("aaaaaaaa main user") for line in lines]
    assert said == ["-1- 1", ":2: 2 x", "-3- 3", ":4: 4 x", "-5- 5", "--", "-7- 7", ":8: 8 x"]


def test_lines_around_belong_to_one_text() -> None:
    edit = {"path": "x.py", "edits": [{"oldText": "a = 1\nb = 2", "newText": "a = 10\nb = 2\nc = 3"}]}
    view = view_of(header_line() + tool_call_line("aaaaaaaa", None, "edit", edit))
    hits = grep(view, wanted("b = 2"), around=Around(1, 1))
    lines = list(hit_lines(view, hits, Whereabouts(view), Looks(Styler(False))))
    assert [line.removeprefix("aaaaaaaa main assistant tool") for line in lines] == [
        "-1- a = 1", ":2: b = 2", "--", "-1- a = 10", ":2: b = 2", "-3- c = 3",
    ]  # fmt: skip
