"""Edit rules of all versions, and telling from a result's details which were at work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.workspace.calls import Edit, Replacement
from pivcs.workspace.editing import apply_with_details, change_text, would_succeed
from pivcs.workspace.edits import EditRefused, Rules, apply_edit
from pivcs.workspace.evidence import Verdict, judge, parse_display, parse_patch
from tests.workspace.model import patch


def edited(content: bytes, old: str, new: str, rules: Rules = Rules.LINE_ENDS_STAY) -> bytes:
    return apply_edit(content, [Replacement(old, new)], rules).content


def edit_of(old: str, new: str) -> Edit:
    return Edit("f", (Replacement(old, new),))


MIXED = b"a\r\nb\nc\r\n"


@pytest.mark.parametrize(
    ("rules", "content"),
    [
        (Rules.LINE_ENDS_STAY, b"a\r\nX\nY\nc\r\n"),
        (Rules.LINES_STAY, b"a\r\nX\r\nY\r\nc\r\n"),
        (Rules.ALL_REWRITTEN, b"a\r\nX\r\nY\r\nc\r\n"),
    ],
)
def test_line_ends_follow_the_version(rules: Rules, content: bytes) -> None:
    assert edited(MIXED, "b", "X\nY", rules) == content


@pytest.mark.parametrize(
    ("rules", "content"),
    [
        (Rules.LINE_ENDS_STAY, "\u201ckept\u201d  \nx = 2\n"),
        (Rules.LINES_STAY, "\u201ckept\u201d  \nx = 2\n"),
        (Rules.ALL_REWRITTEN, '"kept"\nx = 2\n'),
    ],
)
def test_loose_match_rewrites_lines_or_all_by_version(rules: Rules, content: str) -> None:
    assert edited("\u201ckept\u201d  \nx\u00a0= 1  \n".encode(), "x = 1", "x = 2", rules) == content.encode()


def test_byte_order_mark_is_put_back() -> None:
    assert edited(b"\xef\xbb\xbfa\n", "a", "b") == b"\xef\xbb\xbfb\n"


@pytest.mark.parametrize(
    ("content", "replacements"),
    [
        (b"a\n", [("b", "c")]),
        (b"a\na\n", [("a", "b")]),
        (b"a b\n", [("a b", "a b")]),
        (b"abc\n", [("ab", "x"), ("bc", "y")]),
        (b"a\n", [("", "x")]),
        (b"a\n", []),
        ("it\u2019s it's\n".encode(), [("it's", "x")]),
    ],
)
def test_edit_is_refused_where_pi_refuses_it(content: bytes, replacements: list[tuple[str, str]]) -> None:
    for rules in Rules:
        with pytest.raises(EditRefused):
            apply_edit(content, [Replacement(*pair) for pair in replacements], rules)


def test_all_edits_refer_to_the_file_before() -> None:
    swap = [Replacement("a", "b"), Replacement("b", "a")]
    assert apply_edit(b"a b", swap).content == b"b a"


def test_every_occurrence_is_replaced_where_a_relative_asks_for_it() -> None:
    assert apply_edit(b"a b a\n", [Replacement("a", "x")], everywhere=True).content == b"x b x\n"


def test_details_tell_the_version() -> None:
    content = "\u201ckept\u201d\nx\u00a0= 1\n".encode()
    edit = edit_of("x = 1", "x = 2")
    for rules in (Rules.LINES_STAY, Rules.ALL_REWRITTEN):
        made = apply_edit(content, [Replacement("x = 1", "x = 2")], rules)
        assert apply_with_details(content, edit, {"patch": patch("f", made.before, made.after)}).content == made.content


def test_result_without_details_needs_rules_that_agree() -> None:
    assert apply_with_details(b"a\n", edit_of("a", "b"), {}).content == b"b\n"
    made = apply_with_details(MIXED, edit_of("b", "X\nY"), {})
    assert (made.content, made.fits) == (None, True)


def test_diff_without_a_patch_is_older_than_patches() -> None:
    diff = " 1 a\n-2 b\n+2 X\n+3 Y\n 3 c"
    assert apply_with_details(MIXED, edit_of("b", "X\nY"), {"diff": diff}).content == b"a\r\nX\r\nY\r\nc\r\n"


def test_details_of_another_change_fit_the_file_but_not_the_result() -> None:
    made = apply_with_details(b"a\nb\n", edit_of("a", "c"), {"patch": patch("f", "a\nb\n", "d\nb\n")})
    assert (made.content, made.fits) == (None, True)


def test_early_display_diff_with_wrong_numbers_is_understood() -> None:
    before = "".join(f"line {number}\n" for number in range(30))
    diff = "     ...\n  1 line 16\n  2 line 17\n- 3 line 18\n+ 3 new\n  4 line 19\n     ..."
    made = apply_edit(before.encode(), [Replacement("line 18", "new")])
    assert judge(made, {"diff": diff}) is Verdict.AGREES
    other = apply_edit(before.replace("line 16", "other").encode(), [Replacement("line 18", "new")])
    assert judge(other, {"diff": diff}) is not Verdict.AGREES


@pytest.mark.parametrize(
    "details", [{}, {"diff": ""}, {"diff": "+x"}, {"patch": "@@ nonsense", "diff": 7}, {"patch": None}]
)
def test_details_that_say_nothing_are_silent(details: dict[str, object]) -> None:
    assert judge(apply_edit(b"a\n", [Replacement("a", "b")]), details) is Verdict.SILENT


def test_absurd_numbers_are_no_details() -> None:
    assert parse_patch("@@ -" + "9" * 5_000 + " +1 @@\n x") is None
    assert parse_display(" " + "9" * 5_000 + " x") is None


def test_failure_is_a_surprise_only_when_all_versions_would_succeed() -> None:
    assert would_succeed(b"a\n", edit_of("a", "b"))
    assert not would_succeed(b"a a\n", edit_of("a", "b"))
    assert not would_succeed("a\u00a0b\n".encode(), edit_of("a b", "b"))
    assert not would_succeed(b"a\r\n", edit_of("a", "b"))


def test_change_without_details_is_told_by_the_call() -> None:
    assert change_text(edit_of("a\nb", "c"), {}) == "-a\n-b\n+c"
    assert change_text(edit_of("a", "c"), {"diff": "-1 a\n+1 c"}) == "-1 a\n+1 c"


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "-", "+x", "@@ -1 +1 @@"]), max_size=25).map("\n".join)


@given(TEXTS, TEXTS)
def test_patch_of_two_texts_agrees_with_them(before: str, after: str) -> None:
    hunks = parse_patch(patch("f", before + "\n", after + "\n"))
    assert (hunks is None) == (before == after)
    lines = (before + "\n").split("\n")
    for hunk in hunks or ():
        assert hunk.start is not None
        assert lines[hunk.start : hunk.start + len(hunk.old)] == hunk.old


@given(st.text(max_size=80) | st.text("@-+, 0123456789\n.\\", max_size=60))
def test_any_text_is_taken_for_details(text: str) -> None:
    assert parse_patch(text) is None or parse_patch(text)
    assert parse_display(text) is None or parse_display(text)
