from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.jsontext import parse_json
from pivcs.session.jsonwrite import UNDEFINED, dump_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-0.0, "0"), (1.0, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (100.0, "100"), (True, "true"), (None, "null"),
        (1e20, "100000000000000000000"), (1e21, "1e+21"), (-1.25e22, "-1.25e+22"), (123456789012345680000.0,) * 2,
        (0.000001, "0.000001"), (1e-7, "1e-7"), (1.5e-10, "1.5e-10"), (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (0.00001234, "0.00001234"), (1234.5678, "1234.5678"),
        (float("nan"), "null"), (float("inf"), "null"), (-float("inf"), "null"), (10**400, "null"),
        (2**53 - 1, "9007199254740991"), (2**53 + 1, "9007199254740992"),
        (12345678901234567890, "12345678901234567000"),
        (-(2**63), "-9223372036854776000"), (10**21, "1e+21"), (10**20, "100000000000000000000"),
    ],
)  # fmt: skip
def test_numbers_are_doubles_with_the_fewest_digits(value: object, text: object) -> None:
    expected = text if isinstance(text, str) else "123456789012345680000"
    assert dump_json(value).decode() == expected


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('"\\/', rb'"\"\\/"'),
        ("\b\t\n\f\r\0\x1f", rb'"\b\t\n\f\r\u0000\u001f"'),
        ("\x7f\x85\u2028\u2029\ufeffé🙂", '"\x7f\x85\u2028\u2029\ufeffé🙂"'.encode()),
        ("\ud83d", rb'"\ud83d"'),
        ("\udE42x", rb'"\ude42x"'),
        ("\ud83d\ude42", '"🙂"'.encode()),
        ("\ude42\ud83d", rb'"\ude42\ud83d"'),
    ],
)
def test_strings_escape_only_what_they_must(text: str, written: bytes) -> None:
    assert dump_json(text) == written


def test_keys_that_are_array_indices_come_first_at_every_level() -> None:
    inner = {"z": 1, "10": 2, "9": 3}
    value = {"b": inner, "01": 0, "4294967295": 1, "4294967294": 2, "0": 3, "-1": 4, "1.5": 5, "٣": 6}
    assert dump_json(value).decode() == (
        '{"0":3,"4294967294":2,"b":{"9":3,"10":2,"z":1},"01":0,"4294967295":1,"-1":4,"1.5":5,"٣":6}'
    )


def test_undefined_is_left_out_of_objects_and_null_in_lists() -> None:
    assert dump_json({"a": UNDEFINED, "b": [UNDEFINED, 1], "c": UNDEFINED}) == b'{"b":[null,1]}'
    assert dump_json({"a": UNDEFINED}) == b"{}"
    with pytest.raises(TypeError, match="undefined"):
        dump_json(UNDEFINED)


def test_tuples_are_lists_and_any_mapping_is_an_object() -> None:
    assert dump_json((1, (), MappingProxyType({"a": {}}))) == b'[1,[],{"a":{}}]'


def test_deep_nesting_needs_no_stack() -> None:
    lists: object = []
    objects: object = {}
    for _ in range(10_000):
        lists, objects = [lists], {"a": objects}
    assert dump_json(lists) == b"[" * 10_001 + b"]" * 10_001
    assert dump_json(objects) == b'{"a":' * 10_000 + b"{}" + b"}" * 10_000


@pytest.mark.parametrize("value", [{1: 2}, {None: 2}, [b"bytes"], {"a": {1}}, object()])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dump_json(value)


def test_a_value_that_contains_itself_is_refused_and_one_that_occurs_twice_is_not() -> None:
    twice = [1]
    assert dump_json([twice, {"a": twice}]) == b'[[1],{"a":[1]}]'
    circle: list[object] = []
    circle.append({"a": (circle,)})
    with pytest.raises(ValueError, match="contains itself"):
        dump_json(circle)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_reads_back_the_same_and_is_written_the_same_again(value: object) -> None:
    text = dump_json(value)
    parsed = parse_json(text)
    assert dump_json(parsed) == text
    assert parsed == json.loads(json.dumps(value))
