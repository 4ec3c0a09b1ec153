"""Strict JSON: what is read, what is refused, and that neither depth nor size matters."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.jsontext import NotJson, is_blank, parse_json


def json_values() -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text()
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    )


def json_texts() -> st.SearchStrategy[bytes]:
    """Texts of values in several spellings; infinities are left out because json spells them as names."""

    def spell(value: object, ascii_only: bool, indent: int | None) -> bytes:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).replace("Infinity", "1e999")
        return text.encode("utf-8", "surrogatepass")

    return st.builds(spell, json_values(), st.booleans(), st.sampled_from([None, 1]))


def mutated_texts() -> st.SearchStrategy[bytes]:
    """Texts with one place cut out and something put there, valid or not."""
    pieces = st.sampled_from(
        [
            b"",
            b'"',
            b"\\",
            b"\\u",
            b"\\ud800",
            b",",
            b":",
            b"{",
            b"}",
            b"[",
            b"]",
            b"0",
            b"-",
            b".",
            b"e",
            b"1e400",
            b"NaN",
            b"true",
            b"\x00",
            b"\x1f",
            b"\x7f",
            b"\xff",
            b"\xe2\x82",
            b"\xed\xa0\x80",
            b" ",
            b"\xc2\xa0",
            b"\xef\xbb\xbf",
        ]
    )

    def mutate(text: bytes, start: int, length: int, piece: bytes) -> bytes:
        start %= len(text) + 1
        return text[:start] + piece + text[start + length :]

    return st.builds(mutate, json_texts(), st.integers(0, 10_000), st.integers(0, 3), pieces)


def reference(data: bytes) -> object:
    """Parse with Python's json, made strict."""

    def refuse(name: str) -> object:
        raise ValueError(name)

    return json.loads(data.decode("utf-8", "replace"), parse_constant=refuse)


@given(json_texts())
def test_valid_text_reads_as_by_json(text: bytes) -> None:
    value = parse_json(text)
    # The texts of the values are compared too, for the order of keys counts; "-0" as an integer has no sign here.
    assert value == reference(text)
    assert repr(value) == repr(reference(text))


@given(mutated_texts())
def test_mutated_text_is_read_or_refused_as_by_json(text: bytes) -> None:
    try:
        expected = reference(text)
    except ValueError:
        with pytest.raises(NotJson):
            parse_json(text)
    else:
        assert parse_json(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"{'a':1}",
        b"[1,]",
        b'{"a":1,}',
        b"[,1]",
        b"// x\n1",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"-",
        b"1e",
        b"1e+",
        b"0x10",
        b'"\x1f"',
        b'"\t"',
        b'"\\x41"',
        b'"\\u12g4"',
        b'"\\u00e',
        b'"abc',
        b"\xef\xbb\xbf{}",
        b"\xc2\xa01",
        b"1\x0b",
        b"\x0c1",
        b"1\x00",
        b"tru",
        b"nulll",
        b"{}{}",
        b"[1 2]",
        b'{"a" 1}',
        b"{1:2}",
        "\u0661".encode(),
        "[1\u0661]".encode(),
        b"[1\xff]",
        b"]",
        b"[}",
        b'{"a":}',
        b'{"a"}',
        b"[",
        b'{"a":1',
    ],
)
def test_text_outside_the_strict_grammar_is_refused(text: bytes) -> None:
    with pytest.raises(NotJson):
        parse_json(text)
    with pytest.raises(NotJson):
        # Inside a list with a lone surrogate, so that orjson is not the one to decide.
        parse_json(b'["\\ud800",' + text + b"]")


def test_white_space_of_json_may_stand_around_a_value() -> None:
    assert parse_json(b" \t\r\n[ 1 , \t2 ]\r\n") == [1, 2]
    assert parse_json(b' { "a" : "\\ud800" , "b" : [ ] , "c" : { } } ') == {"a": "\ud800", "b": [], "c": {}}


def test_lone_surrogate_escapes_stay_and_pairs_are_joined() -> None:
    assert parse_json(b'["\\ud83d","\\ude00\\ud83d","\\ud83d\\ude00"]') == ["\ud83d", "\ude00\ud83d", "\U0001f600"]


def test_invalid_utf8_reads_as_replacement_characters() -> None:
    assert parse_json(b'"a\xffb"') == "a\ufffdb"
    assert parse_json(b'"\xed\xa0\x80"') == "\ufffd\ufffd\ufffd"
    assert parse_json(b'"\xe2\x82"') == "\ufffd"
    assert parse_json(b'"\xf0\x9f\x98z"') == "\ufffdz"


def test_last_of_repeated_keys_wins_at_the_place_of_the_first() -> None:
    for extra in (b"1", b'"\\ud800"'):
        value = parse_json(b'{"a":1,"b":' + extra + b',"a":3}')
        assert isinstance(value, dict)
        assert (list(value), value["a"]) == (["a", "b"], 3)


def test_numbers_of_any_size_are_read() -> None:
    assert parse_json(b"1e400") == math.inf
    assert parse_json(b"[-1e400]") == [-math.inf]
    assert parse_json(b"9" * 5000) == math.inf
    assert parse_json(b'["\\ud800",' + b"9" * 5000 + b"]") == ["\ud800", math.inf]
    assert parse_json(b"0." + b"3" * 5000) == pytest.approx(1 / 3)
    assert parse_json(b"1e-400") == 0


@pytest.mark.parametrize(
    "number",
    [b"12345678901234567890", b"123456789012345678901234567890", b"-9223372036854775808", b"-9223372036854775809"],
)
def test_both_ways_of_reading_give_the_same_number(number: bytes) -> None:
    alone = parse_json(number)
    beside = parse_json(b'["\\ud800",' + number + b"]")
    assert isinstance(beside, list)
    assert (beside[1], type(beside[1])) == (alone, type(alone))


@pytest.mark.parametrize("opening", [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
def test_nesting_has_no_limit(opening: tuple[bytes, bytes]) -> None:
    value = parse_json(opening[0] * 100_000 + b"7" + opening[1] * 100_000)
    levels = 0
    while isinstance(value, (list, dict)):
        value = value[0] if isinstance(value, list) else value["a"]
        levels += 1
    assert (value, levels) == (7, 100_000 * (opening[0].count(b"[") + opening[0].count(b"{")))
    with pytest.raises(NotJson):
        parse_json(opening[0] * 100_000)


def test_result_does_not_depend_on_the_depth_of_the_caller() -> None:
    text = b"[" * 1500 + b"]" * 1500

    def deeper(levels: int) -> object:
        return parse_json(text) if levels == 0 else deeper(levels - 1)

    assert isinstance(deeper(700), list)


@pytest.mark.parametrize(
    "text", [b"", b" \t\r\n\x0b\x0c", "\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff".encode()]
)
def test_javascript_white_space_is_blank(text: bytes) -> None:
    assert is_blank(text)


@pytest.mark.parametrize(
    "text", [b"\x00", b"\x1c", "\u0085".encode(), "\u200b".encode(), "\u180e".encode(), b"\xe2\x80", b" x", b"\xa0"]
)
def test_other_characters_are_not_blank(text: bytes) -> None:
    assert not is_blank(text)
