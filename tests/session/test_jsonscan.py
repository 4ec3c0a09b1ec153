"""The scanner agrees with `parse_json` on every text, however the text is cut into pieces."""

from __future__ import annotations

import itertools
import json
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pivcs.session.fields import Fields, Message, fields_of
from pivcs.session.jsonscan import JsonScanner
from pivcs.session.jsontext import NotJson, parse_json
from tests.session.test_jsontext import json_texts, mutated_texts

NAMES = ["type", "id", "parentId", "timestamp", "message", "role", "stopReason", "isError", "other", "typ\u00e9"]


def scan(text: bytes, cuts: list[int]) -> tuple[JsonScanner, bool]:
    """Feed a text cut at the given places; returns the scanner and whether the text is one value."""
    scanner, rest = JsonScanner(), b""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(places):
        piece = text[start:end]
        rest += piece[scanner.feed(piece) :]
    scanner.finish()
    return scanner, scanner.state == "done" and not rest.strip(b" \t\n\r")


def check(text: bytes, cuts: list[int]) -> None:
    scanner, valid = scan(text, cuts)
    try:
        value = parse_json(text)
    except NotJson:
        assert not valid
        return
    assert valid
    assert scanner.is_object == isinstance(value, dict)
    assert scanner.fields == (fields_of(value) if isinstance(value, dict) else Fields())


def cuts() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 10_000), max_size=8)


def entry_texts() -> st.SearchStrategy[bytes]:
    """Objects whose keys, some of them doubled or spelled with escapes, are those that the scanner keeps."""
    names = st.sampled_from(NAMES).map(json.dumps) | st.sampled_from(
        [
            r'"\u0074ype"',
            r'"\u0069\u0064"',
            r'"messag\u0065"',
            '"' + "".join(f"\\u{ord(c):04x}" for c in "parentId") + '"',
        ]
    )
    values = st.text(max_size=4).map(json.dumps) | st.sampled_from(
        ["null", "true", "false", "1", "-0.5e3", "[]", "{}", '["x",{"id":"y"}]', r'"\ud83d\ude00\ud83d\n"', '"\ud800"']
    )

    def object_of(members: list[tuple[str, str]], space: str) -> str:
        return "{" + ("," + space).join(f"{name}{space}:{value}" for name, value in members) + "}"

    def texts(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.builds(object_of, st.lists(st.tuples(names, inner), max_size=6), st.sampled_from(["", " "]))

    return texts(values | texts(values | texts(values))).map(lambda text: text.encode("utf-8", "surrogatepass"))


@given(json_texts() | mutated_texts(), cuts())
@example(b"1", [])
@example(b"12 34", [1])
@example(b"-", [])
@example(b"1e5", [1, 2])
@example(b"[1,]", [])
@example(b"[[1,[2,]]]", [])
@example(b"[0,[{,}]]", [])
@example(b'[0,{"a":1,}]', [])
@example(b'[0,{"a":[01]}]', [])
@example(b'[0,[1 2],{"a"  :[ ] , "b": { } } ]', [])
@example(b'"\\ud83', [])
@example(b"tru", [])
@example(b"\xef\xbb\xbf{}", [])
def test_scanner_accepts_what_parse_json_accepts(text: bytes, places: list[int]) -> None:
    check(text, places)


@given(entry_texts(), cuts())
def test_fields_are_those_of_the_parsed_object(text: bytes, places: list[int]) -> None:
    check(text, places)


@given(st.text(alphabet='{}[]:,"\\u0a1-.eE tn', max_size=12).map(str.encode), cuts())
def test_scanner_agrees_on_texts_of_json_punctuation(text: bytes, places: list[int]) -> None:
    check(text, places)


@pytest.mark.parametrize("tail", [b"", b'"}', b"\\ud8", b"\xe2\x82", b'\xe2\x82"}', b'\x1f"}', b'\\"', b"\\x"])
def test_every_cut_of_a_long_string_is_read_alike(tail: bytes) -> None:
    text = b'{"id":"' + b"x" * 300 + b"\\n\xff\xed\xa0\x80\\ud800" + "\u65e5".encode() * 100 + tail
    for cut in range(len(text) + 1):
        check(text, [cut])


def test_last_duplicate_overrides_by_its_type_too() -> None:
    text = (
        b'{"type":"a","type":1,"id":"b","id":"c","parentId":"x","parentId":[],'
        + b'"message":{"role":"u"},"message":{"isError":true}}'
    )
    assert scan(text, [])[0].fields == Fields(None, "c", "", "", Message("", "", True))
    assert scan(b'{"message":{"role":"u"},"message":3}', [])[0].fields == Fields()


def test_feed_stops_behind_the_value() -> None:
    scanner = JsonScanner(10)
    assert scanner.feed(b' {"id":"a"}') == 11
    assert (scanner.state, scanner.position) == ("done", 21)
    assert scanner.closed == (11, 21, Fields(id="a"))
    assert scanner.feed(b"{}") == 0


def test_failure_stops_before_the_wrong_byte() -> None:
    scanner = JsonScanner()
    assert scanner.feed(memoryview(b'{"a":x}')) == 5
    assert (scanner.state, scanner.is_object, scanner.fields) == ("failed", False, Fields())


def test_open_value_fails_at_the_end_and_a_number_is_done() -> None:
    for text, state in ((b"12", "done"), (b"[12", "failed"), (b"1.", "failed"), (b"", "failed"), (b'"a', "failed")):
        scanner = JsonScanner()
        scanner.feed(text)
        scanner.finish()
        assert scanner.state == state


def test_marked_object_is_reported_until_something_follows_it() -> None:
    scanner = JsonScanner()
    scanner.feed(b'{"message":')
    scanner.mark_next()
    scanner.feed(b'{"type":"t","role":"user","id":"i"} ')
    assert scanner.closed == (11, 46, Fields("t", "i"))
    scanner.feed(b"}")
    assert scanner.fields == Fields(message=Message("user"))
    scanner = JsonScanner()
    scanner.feed(b"[")
    scanner.mark_next()
    scanner.feed(b"{}")
    assert scanner.closed == (1, 3, Fields())
    scanner.feed(b",")
    assert scanner.closed is None


def test_nesting_costs_a_byte_a_level() -> None:
    levels = 1 << 16
    tracemalloc.start()
    try:
        scanner = JsonScanner()
        for _ in range(levels >> 10):
            scanner.feed(b"[" * 1024)
        for _ in range(levels >> 10):
            scanner.feed(b"]" * 1024)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert scanner.state == "done"
    assert peak < 4 * levels + 100_000
