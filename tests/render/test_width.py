import subprocess
import sys

import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from pivcs.render.text import visible
from pivcs.render.width import _NARROW, _clusters, columns_of, pad, truncate, wrap

PARTS = [
    "a", "word", " ", "  ", "é", "e\u0301", "中", "文字", "한",
    "😀", "👨‍👩‍👧", "👍🏽", "❤️", "🇩🇪", "1\ufe0f\u20e3", "ไม่", "…", "क्ष",
]  # fmt: skip
shown_text = st.one_of(
    st.lists(st.sampled_from(PARTS)).map("".join),
    st.text().map(lambda text: visible(text, keep="")),
)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("plain", 5),
        ("naïve…", 6),
        ("中文", 4),
        ("e\u0301", 1),
        ("😀", 2),
        ("👨‍👩‍👧", 2),
        ("❤️", 2),
        ("❤", 1),
        ("👍🏽", 2),
        ("🇩🇪🇫🇷", 4),
        ("1\ufe0f\u20e3", 2),
        ("\u1112\u1161\u11ab", 2),
    ],
)
def test_columns_of_characters(text: str, columns: int) -> None:
    assert columns_of(text) == columns


def test_characters_counted_without_the_table_take_one_column_there_too() -> None:
    for code in range(0x20, 0x10000):
        if not 0xD800 <= code < 0xE000 and _NARROW.fullmatch(chr(code)):
            assert wcwidth.wcwidth(chr(code)) == 1, hex(code)


def test_the_table_is_not_loaded_for_western_text() -> None:
    program = (
        "import sys; from pivcs.render import width as w;"
        "w.truncate('naïve — “text” ' * 9, 20); w.pad('é', 9); w.wrap('plain words ж', 5);"
        "assert 'wcwidth' not in sys.modules; w.columns_of('中'); assert 'wcwidth' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@given(shown_text)
def test_clusters_join_to_the_text(text: str) -> None:
    assert "".join(cluster for cluster, _ in _clusters(text)) == text


@given(st.lists(st.sampled_from(PARTS[:-3])).map("".join))
def test_columns_agree_with_the_public_measure(text: str) -> None:
    assert columns_of(text) == wcwidth.wcswidth(text)


@given(shown_text, st.integers(-1, 30), st.sampled_from(["…", "...", ""]))
def test_truncated_text_fits(text: str, columns: int, ellipsis: str) -> None:
    cut = truncate(text, columns, ellipsis)
    assert columns_of(cut) <= max(0, columns)
    if columns_of(text) <= columns:
        assert cut == text
    elif columns >= columns_of(ellipsis):
        assert cut.endswith(ellipsis)
        assert text.startswith(cut.removesuffix(ellipsis))


@pytest.mark.parametrize(
    ("text", "columns", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("中文字", 4, "中…"),
        ("中文字", 5, "中文…"),
        ("👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abc\u0301", 3, "abc\u0301"),
        ("abc\u0301d", 3, "ab…"),
    ],
)
def test_text_is_cut_between_characters(text: str, columns: int, cut: str) -> None:
    assert truncate(text, columns) == cut


def test_an_ellipsis_that_does_not_fit_is_cut_itself() -> None:
    assert truncate("abcdef", 2, "...") == ".."


@given(shown_text, st.integers(-1, 30))
def test_padded_text_reaches_the_column(text: str, columns: int) -> None:
    assert columns_of(pad(text, columns)) == max(columns, columns_of(text))
    assert pad(text, columns).rstrip(" ") == text.rstrip(" ")
    assert pad(text, columns, right=True).endswith(text)


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one two   three", 8, ["one two", "three"]),
        ("a\n\nb", 5, ["a", "", "b"]),
        ("  indented text", 10, ["  indented", "text"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("see https://example.org", 8, ["see", "https://", "example.", "org"]),
        ("漢字かな混じり", 4, ["漢字", "かな", "混じ", "り"]),
        ("say 漢字かな", 6, ["say 漢", "字かな"]),
        ("漢字", 1, ["漢", "字"]),
        ("\tx", 20, ["        x"]),
        ("中\tx", 20, ["中      x"]),
        ("x" * 5 + " ", 5, ["x" * 5]),
        ("          ", 4, [""]),
        ("ab", 0, ["a", "b"]),
    ],
)
def test_wrapping(text: str, columns: int, lines: list[str]) -> None:
    assert wrap(text, columns) == lines


@given(st.lists(shown_text).map("\n".join), st.integers(2, 30))
def test_wrapped_lines_fit_and_keep_every_character_but_spaces(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert all(columns_of(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")
    assert len(lines) >= text.count("\n") + 1


def test_a_very_long_word_is_cut_in_one_pass() -> None:
    assert len(wrap("x" * 1_000_000, 10)) == 100_000
    assert len(wrap("e\u0301" * 100_000, 10)) == 10_000
