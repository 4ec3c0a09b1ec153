import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pivcs.render.text import can_encode, encodable, one_line, visible

# Drawn where it matters, so that sequences of them are common.
TRICKY = (
    "\x00\x1b\x7f\x85\x9b\r\n\t a9#é中ب\u0915𠀀😀❤👩🏽\u200b\u200c\u200d\u200e\u061c\u202e\u2066\u2069\u2028\ufeff"
    "\ufe0e\ufe0f\u20e3\ud800\udfff\U000e0061\U000e0100"
)
any_text = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(categories=None)))

DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("a\x1b[31mred\x1b[m", "a^[[31mred^[[m"),
        ("bell\x07 nul\x00 del\x7f", "bell^G nul^@ del^?"),
        ("over\rwritten", "over^Mwritten"),
        ("\x9b2J", "<U+009B>2J"),
        ("\x85", "<U+0085>"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("\u2066x\u2069\u200f\u061c", "<U+2066>x<U+2069><U+200F><U+061C>"),
        ("pass\u200bword", "pass<U+200B>word"),
        ("\ufeffstart", "<U+FEFF>start"),
        ("a\u2028b\u2029c", "a<U+2028>b<U+2029>c"),
        ("cut \ud83d", "cut <U+D83D>"),
        ("\ufffe\U0010ffff\ufdd0", "<U+FFFE><U+10FFFF><U+FDD0>"),
        ("hi\U000e0041", "hi<U+E0041>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
    ],
)
def test_hidden_and_obeyed_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "naïve — “quoted” … 中文 العربية हिन्दी ไทย 한국어",
        "👨‍👩‍👧 family, 🏳️‍🌈 flag, 👍🏽 tone, ❤️ heart, 🧑🏽‍💻 work, ☎︎ plain",
        "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "葛\U000e0100城",
        "می\u200cخواهم",
        "क्\u200dष",
        "line\n\tindented",
    ],
)
def test_ordinary_writing_of_all_kinds_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a<U+200D>b"),
        ("😀\u200d", "😀<U+200D>"),
        ("\u200d😀", "<U+200D>😀"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("😀\ufe0f\ufe0f", "😀\ufe0f<U+FE0F>"),
        ("😀\U000e0101", "😀<U+E0101>"),
        ("葛\U000e0100\U000e0101", "葛\U000e0100<U+E0101>"),
        ("ب\u200c\u200cب", "ب<U+200C><U+200C>ب"),
    ],
)
def test_joiners_and_selectors_that_do_nothing_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_kept_characters_are_the_callers_choice() -> None:
    assert visible("a\n\tb", keep="") == "a^J^Ib"
    assert visible("a\n\tb\r", keep="\n\r") == "a\n^Ib\r"


@given(any_text)
@example("\x1b]8;;http://x\x07")
def test_visible_text_has_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    for character in shown:
        if character in "\n\t":
            continue
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert character not in DIRECTIONS
        assert not 0xE0000 <= ord(character) < 0xE0100
        assert ord(character) & 0xFFFE != 0xFFFE
    assert visible(shown) == shown


@pytest.mark.parametrize("keep", ["", "\n\t"])
def test_short_ways_and_the_long_way_agree(keep: str) -> None:
    # A wide character keeps the short ways for ASCII and for Latin text away.
    for code in range(0x1000):
        character = chr(code)
        assert visible("中 " + character, keep=keep) == "中 " + visible(character, keep=keep), hex(code)


@given(any_text)
def test_visible_keeps_all_other_characters_in_order(text: str) -> None:
    letters = [character for character in text if character.isalpha() and not 0x115F <= ord(character) <= 0x1160]
    shown = iter(visible(text))
    assert all(letter in shown for letter in letters if letter not in "\u3164\uffa0")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" \n\t\r\n", ""),
        ("\n\n  first \t line  \nsecond", "first line"),
        ("windows\r\nline", "windows"),
        ("a\u3000\u00a0b", "a b"),
        ("\x1b[2Jclear", "^[[2Jclear"),
        ("tab\x1cfile separator", "tab^\\file separator"),
    ],
)
def test_one_line_is_the_first_that_is_not_blank(text: str, line: str) -> None:
    assert one_line(text) == line


def test_one_line_of_a_long_line_is_cut_and_says_so() -> None:
    assert one_line("x" * 1001) == "x" * 1000 + "…"
    assert one_line("x" * 1000 + "\nmore") == "x" * 1000
    assert one_line("abc", limit=2) == "ab…"


@given(any_text)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip(" ")
    assert "  " not in line
    assert visible(line, keep="") == line


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "é 😀 ж"),
        ("ascii", "\\u{e9} \\u{1f600} \\u{436}"),
        ("latin-1", "é \\u{1f600} \\u{436}"),
        ("no such codec", "\\u{e9} \\u{1f600} \\u{436}"),
        ("", "\\u{e9} \\u{1f600} \\u{436}"),
        ("hex", "\\u{e9} \\u{1f600} \\u{436}"),
    ],
)
def test_what_an_encoding_lacks_is_spelled(encoding: str, shown: str) -> None:
    assert encodable("é 😀 ж", encoding) == shown


@given(any_text, st.sampled_from(["utf-8", "ascii", "cp1252", "cp437", "shift_jis", "koi8-r", "utf-16-le"]))
def test_encodable_text_can_be_encoded(text: str, encoding: str) -> None:
    encodable(text, encoding).encode(encoding)


def test_can_encode_asks_the_codec() -> None:
    assert can_encode("…", "utf-8")
    assert not can_encode("…", "ascii")
    assert not can_encode("…", "nonsense\x00")
