from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from pivcs.ops import grep as module
from pivcs.ops.entry_text import FIELDS, field_texts, texts_of
from pivcs.ops.grep import Around, Hit, candidates, grep, unsearched
from pivcs.ops.grep_pattern import wanted
from pivcs.ops.predicates import BadPattern
from pivcs.ops.view import SessionView
from tests.builders import bash_line, build_session, header_line, label_line, line, message_line, tool_result_line
from tests.ops.views import view_of

PATTERNS = [
    "total", "Kelvin", "[Tt]otal", "to+tal", "(?:total|sum) is", "total$", "^total", "a(?:bc)?d", "(?i)TOTAL",
    "x{2,3}y", r"\d+", "straße", "\\.", "a/b", 'say "hi"', r"\w+ing", "(to)(tal)", "to(?=tal)", "i",
    "total|sum", "(?:abc|xx)+d|hi", "(?i)kel|going", r"\s$", "is|", "(?s)(?i)sum", "(?x)to  tal # all",
    "日本", "é|a/b", "(?i)ſum", "(?i)日本k", "😀", "\ufffd", "\ud83d", r"\\\S", r'"|\\', "İ", "(?i)i̇", "(?i)ß",
    "(?i)strasse", "\u212a", "(?i)\u212a", "(?ia)K", "本.*/", "é?total",
]  # fmt: skip
WORDS = ["total", "Total", "sum is", "toootal", "abcd", "ad", "xxy", "12", "STRASSE", "straße", "Kelvin", "K", "ſum",
         "İ", "ı", "\n", "\r\n", '"hi"', "say ", "a/b", "\\", "😀", "\ud83d", "\x1b", "going", " ", "日本", "é",
         "É", "\u212a", "\ufffd", "/", "i̇", "ß", "ẞ"]  # fmt: skip

EXPRESSIONS = st.recursive(
    st.sampled_from([*map(re.escape, WORDS), "a", "to", "tal", "^", "$", r"\b", r"\B", ".", r"\w", "[a-k]", "[^b]",
                     r"\s", r"\S", r"\d", ""]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda ways: f"(?:{'|'.join(ways)})"),
        st.tuples(
            st.sampled_from(["({})", "(?:{})?", "(?:{})+", "(?:{})*?", "(?:{}){{2}}", "(?i:{})", "(?={})", "(?!{})",
                             "(?<!x){}", "(?-i:{})", "(?P<n>{})(?P=n)"]),
            inner,
        ).map(lambda both: both[0].format(both[1])),
    ),
    max_leaves=8,
)  # fmt: skip


def _hits(view: SessionView, pattern: str, **options: bool) -> list[tuple[int, str, int, str]]:
    return [hit[:4] for hit in grep(view, wanted(pattern, **options))]


def _naive(view: SessionView, pattern: re.Pattern[str]) -> list[tuple[int, str, int, str]]:
    found = []
    for row in view.table.nodes():
        for field, text in field_texts(view.value(row)):
            lines = text.split("\n")
            if len(lines) > 1 and not lines[-1]:
                lines.pop()
            lines = [each.removesuffix("\r") for each in lines]
            found += [(row, field, number, each) for number, each in enumerate(lines, 1) if pattern.search(each)]
    return found


def _spelled(text: str, how: int) -> bytes:
    """JSON may spell a text in many ways."""
    if how in (0, 3):
        spelled = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return spelled.replace(b"/", b"\\/") if how == 3 else spelled
    if how == 1:
        return json.dumps(text).encode()
    units = text.encode("utf-16-be", "surrogatepass")
    return b'"' + b"".join(b"\\u%02x%02x" % (units[at], units[at + 1]) for at in range(0, len(units), 2)) + b'"'


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(WORDS), max_size=6).map("".join), st.integers(0, 3),
            st.sampled_from([b"", b"", b"total sum is ", "日本 a/b ".encode(), b"\\u0074"]),
        ),
        max_size=6,
    ),
    st.sampled_from(PATTERNS) | EXPRESSIONS, st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_hits_are_those_of_reading_everything(
    texts: list[tuple[str, int, bytes]], pattern: str, fixed: bool, ignore_case: bool, word: bool
) -> None:
    lines = [header_line()]
    for number, (text, how, damage) in enumerate(texts):
        made = message_line(f"{number:08x}", f"{number - 1:08x}" if number else None, content="@@")
        lines.append(damage + made.replace(b'"@@"', _spelled(text, how)))
    view = view_of(b"".join(lines))
    try:
        looked_for = wanted(pattern, fixed=fixed, ignore_case=ignore_case, word=word)
    except BadPattern:  # as two groups of one name
        reject()
    expected = _naive(view, looked_for.pattern)
    assert [hit[:4] for hit in grep(view, looked_for)] == expected
    assert [hit[:4] for hit in grep(view, looked_for, around=Around(1, 2))] == expected


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_a_text_across_two_pieces_is_found(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(module, "PIECE", size)
    view = view_of(build_session("a-b-c-d", texts={"b": "the total of it", "c": "no", "d": "total"}))
    assert [view.table.name(row) for row in candidates(view, wanted("total"))] == ["bbbbbbbb", "dddddddd"]


@pytest.mark.parametrize("damage", [b"total ", b"a total beside ", b"\\u0074", message_line("00000009")[:-1]])
def test_an_entry_salvaged_from_a_line_that_has_the_text_elsewhere_is_found(damage: bytes) -> None:
    made = message_line("00000001", None, content="the total")
    view = view_of(header_line() + damage + made + b"total\n" + message_line("00000002", content="total"))
    names = [view.table.name(hit.row) for hit in grep(view, wanted("total"))]
    assert names == ["00000001", "00000002"]


def test_only_records_that_may_have_a_hit_are_read() -> None:
    view = view_of(build_session("a-b-c-d", texts={"b": "the needle"}))
    assert len(list(candidates(view, wanted("nee[dt]le")))) == 1
    assert len(list(candidates(view, wanted(r"\d")))) == 4


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("abc+d", ["ab"]), ("(abc|abd)", ["ab"]), ("(abc|xyz)", ["abc", "xyz"]), ("x(abc)y", ["xabcy"]),
        ("a.bcd", ["bcd"]), ("(?:abc)?de", ["de"]), ("(?:abc)+", ["abc"]), ("^abc$", ["abc"]), ("a/b", ["a/b"]),
        ("ab{2}c", ["a"]), ("(?=abc)d", ["d"]), ("abc|", []), ("abc|\\d", []), ("(?:abc|de)?", []),
        ("é", ["é"]), ("(?i)é", []), ("(?i)日本K", ["日本"]), ("a\\tbc", ["bc"]), ("\ufffdab", ["ab"]),
        ("\ud83dabc", ["abc"]), ('\\\\d"', ['\\d"']),
        ("(?:ab|cd)+ef|gh", ["ef", "gh"]), ("(?:a|b)cde", ["cde"]), ("(?:abc|defg)h", ["abc", "defg"]),
        ("(?i:abc)", []), ("abc|abc", ["abc"]), ("|".join(f"x{n}y{n}" for n in range(30)), ["x"]),
        ("|".join(chr(97 + n) * 3 for n in range(20)), []),
    ],
)  # fmt: skip
def test_the_texts_one_of_which_every_match_has_are_told(pattern: str, literals: list[str]) -> None:
    assert list(wanted(pattern).literals) == literals


@pytest.mark.parametrize(
    ("pattern", "in_lines"),
    [
        (r"\d+", True), (r"\w*|[a-z]?x{2,}", True), (r"(a|\b\S)\B", True), (".", True), (r"[^\n]", True),
        (r"[^\n\r]", True), (r"[^\s]", True), (r"[^\W]", True), (r"(?i)é.*?", True), ("^a", False), ("a$", False),
        (r"\Aa", False), (r"\s", False), (r"\D", False), ("[^a]", False), ("[^ab]", False), (r"[\t-\r]", False),
        ("\n", False), ("(?s).", False), ("(?s:.)", False), ("(?s:(?:x.))", False), ("a(?=b)", False),
        ("(a)\\1", False), ("(?:x|\\W)", False), ("(?:[\n])+", False), ("(a)?(?(1)b|c)", False),
    ],
)  # fmt: skip
def test_patterns_that_cannot_leave_a_line_are_told(pattern: str, in_lines: bool) -> None:
    assert wanted(pattern).in_lines == in_lines


def test_letters_with_relatives_beyond_ascii_are_not_looked_for_when_case_is_ignored() -> None:
    assert wanted("LOOKS|Aces", ignore_case=True).literals == ("loo", "ace")


def test_no_other_letter_has_relatives_beyond_ascii() -> None:
    beyond = "".join(chr(code) for code in range(0x80, 0x110000))
    relatives = re.findall("[ -~]", beyond, re.IGNORECASE)
    letters = map(chr, range(0x20, 0x7F))
    folded = {letter for letter in letters if re.search(re.escape(letter), "".join(relatives), re.IGNORECASE)}
    assert folded == set("kKsSiI")
    assert not any(wanted(letter, fixed=True, ignore_case=True).literals for letter in folded)


def test_letters_without_case_are_equal_to_nothing_else() -> None:
    letters = [chr(code) for code in range(0x80, 0x110000) if unicodedata.category(chr(code)) == "Lo"]
    assert len(letters) > 100_000
    assert all(letter.lower() == letter.upper() == letter.casefold() == letter for letter in letters)
    # Case is ignored by comparing lower case, and what has the same capital: nothing becomes one of these.
    beyond = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    others = {form for each in beyond for form in (each.lower(), each.upper(), each.title()) if form != each}
    assert not others & set(letters)


@pytest.mark.parametrize("pattern", ["日本", "src/a", 'say "hi"', r"\\d", "(?i)語|SRC/"])
def test_texts_that_json_escapes_or_writes_in_several_bytes_are_looked_for_in_the_bytes(pattern: str) -> None:
    texts = {"a": "no", "b": '日本語 src/a say "hi" \\d', "c": "src sayhi d"}
    view = view_of(build_session("a-b-c", texts=texts))
    assert [view.table.name(row) for row in candidates(view, wanted(pattern))] == ["bbbbbbbb"]


def test_kinds_of_text_are_told_apart() -> None:
    data = header_line() + b"".join(
        [
            message_line("00000001", None, content="find me"),
            message_line("00000002", "00000001", "assistant", [
                {"type": "thinking", "thinking": "find me"},
                {"type": "toolCall", "id": "1", "name": "bash", "arguments": {"command": "find me"}},
            ]),
            tool_result_line("00000003", "00000002", "bash", "find me", call_id="1"),
            bash_line("00000004", "00000003", "find me", "find me"),
            label_line("00000005", "00000004", "00000001", "find me"),
            line({"type": "session_info", "id": "00000006", "parentId": "00000005", "name": "find me"}),
        ]
    )  # fmt: skip
    view = view_of(data)
    assert [hit.field for hit in grep(view, wanted("find me"))] == [
        "text", "thinking", "tool", "result", "tool", "result", "label", "name",
    ]  # fmt: skip
    for field in FIELDS:
        assert {hit.field for hit in grep(view, wanted("find me"), fields=[field])} == {field}


def test_lines_around_a_hit_come_with_it_but_no_hit_twice() -> None:
    view = view_of(build_session("a", texts={"a": "1\n2 x\n3\n4 x\n5\n6\n"}))
    hits = list(grep(view, wanted("x"), around=Around(1, 2)))
    assert hits == [
        Hit(1, "text", 2, "2 x", ((2, 3),), ("1",), ("3",)),
        Hit(1, "text", 4, "4 x", ((2, 3),), ("3",), ("5", "6")),
    ]


def test_only_chosen_rows_are_searched() -> None:
    view = view_of(build_session("a-b, a-c", texts=dict.fromkeys("abc", "same")))
    assert [hit.row for hit in grep(view, wanted("same"), rows={1, 3})] == [1, 3]


def test_a_line_that_ends_with_cr_lf_ends_before_it() -> None:
    view = view_of(build_session("a", texts={"a": "one\r\ntwo\r\r\nthree\r"}))
    assert [hit[2:5] for hit in grep(view, wanted(r"\w$|\r"))] == [
        (1, "one", ((2, 3),)), (2, "two\r", ((3, 4),)), (3, "three", ((4, 5),)),
    ]  # fmt: skip
    assert next(grep(view, wanted("two"), around=Around(1, 1)))[5:7] == (("one",), ("three",))


@pytest.mark.parametrize("pattern", ["(?x) abc # word", "(?s)(?i)ABC", "(?x)(?i)ABC#", "abc|never"])
def test_flags_comments_and_alternatives_go_with_whole_words(pattern: str) -> None:
    view = view_of(build_session("a-b", texts={"a": "xabc", "b": "x abc y"}))
    assert [hit.row for hit in grep(view, wanted(pattern, word=True))] == [2]


def test_records_that_are_too_long_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of(build_session("a-b-c", texts={"b": "needle" * 200, "c": "needle" * 200}))
    assert unsearched(view) == 0
    monkeypatch.setattr(module, "SHOWN_WHOLE", 1000)
    assert unsearched(view) == 2
    assert unsearched(view, [1, 3]) == 1


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(BadPattern, match="'\\(' is no regular expression"):
        wanted("(")
    assert _hits(view_of(build_session("a", texts={"a": "f(x)"})), "(", fixed=True) == [(1, "text", 1, "f(x)")]


def test_all_texts_are_of_some_kind() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "other", "x": "b"}, {"type": "thinking", "thinking": "c"}]
    value = {"type": "message", "message": {"role": "assistant", "content": blocks}}
    told = ["a", "type", "other", "x", "b", "c"]
    assert list(texts_of(value)) == [piece.text for piece in field_texts(value)] == told
    assert {piece.field for piece in field_texts(value)} <= set(FIELDS)
