"""A line in pieces has the verdict of the line held whole, in memory that does not grow with it."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.classify import classify_line
from pivcs.session.fields import LineKind, Verdict
from pivcs.session.longline import LongLine
from tests.session.test_jsontext import json_texts, mutated_texts
from tests.session.torn import ASSISTANT, HEADER, QUOTING, entry, torn_lines


def verdict_in_pieces(line: bytes, sizes: list[int], *, version1: bool = False) -> Verdict:
    scanner, pos, turn = LongLine(version1=version1), 0, 0
    while pos < len(line):
        size = sizes[turn % len(sizes)]
        scanner.feed(memoryview(line)[pos : pos + size])
        pos, turn = pos + size, turn + 1
    return scanner.finish()


def sizes() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 9) | st.integers(1, 2000), min_size=1, max_size=5)


@given(torn_lines() | json_texts() | mutated_texts(), sizes(), st.booleans())
def test_verdict_is_that_of_the_line_held_whole(line: bytes, cuts: list[int], version1: bool) -> None:
    assert verdict_in_pieces(line, cuts, version1=version1) == classify_line(line, version1=version1)


@given(st.text(alphabet=" \t\r\x0b\u00a0\u1680\u2003\u2028\ufeff\u0085x", max_size=8), st.binary(max_size=2), sizes())
def test_blank_lines_are_known_in_any_pieces(text: str, end: bytes, cuts: list[int]) -> None:
    line = text.encode() + end
    assert verdict_in_pieces(line, cuts) == classify_line(line, version1=False)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize(
    "line",
    [
        ASSISTANT + HEADER,
        ASSISTANT[:200] + ASSISTANT,
        QUOTING[:-40] + ASSISTANT + b"\x00",
        b"[" * 3000 + b"]" * 3000,
        b"\xe2\x80\xa8 \xef\xbb\xbf",
        b" 12 ",
        b" 12 x",
        b'"a" ',
        b"\xe2\x82",
        b"",
        b"\xef\xbb\xbf" + ASSISTANT,
    ],
)
def test_small_pieces_change_nothing(line: bytes, size: int) -> None:
    assert verdict_in_pieces(line, [size]) == classify_line(line, version1=False)


def test_utf8_is_checked_across_pieces() -> None:
    good, bad = (
        entry("a", None, "\u65e5\U0001f600" * 50),
        entry("a", None, "\u65e5").replace(b"\xe6\x97\xa5", b"\xe6\x97"),
    )
    for size in (1, 2, 3, 5):
        assert verdict_in_pieces(good, [size]).utf8
        assert not verdict_in_pieces(bad, [size]).utf8


@pytest.mark.parametrize(
    ("start", "end", "kind"),
    [
        (entry("a")[:-3], b'"}}', LineKind.DAMAGED),
        (b'{"type":"x","id":"a","d":"', b'"}', LineKind.ENTRY),
        (b'["', b'"]', LineKind.FOREIGN),
        (b'{"type":"x","id":"a","d":"', entry("c"), LineKind.GLUED),
        (b"", b"", LineKind.DAMAGED),
    ],
)
def test_memory_does_not_grow_with_the_line(start: bytes, end: bytes, kind: LineKind) -> None:
    piece = b"QUJD" * (1 << 16)
    tracemalloc.start()
    try:
        scanner = LongLine(version1=False)
        scanner.feed(start)
        for _ in range(128):
            scanner.feed(piece)
        scanner.feed(end)
        verdict = scanner.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert verdict.kind is kind
    assert peak < 8 * len(piece)
