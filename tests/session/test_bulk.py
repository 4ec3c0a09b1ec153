"""The decoder of many lines: equal to the careful reader, or no answer."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pivcs.session.bulk import decode_block
from pivcs.session.classify import classify_line
from pivcs.session.fields import LineKind
from tests.builders import build_session, header_line, message_line, tool_result_line
from tests.session.streams import lines
from tests.session.test_lines import plain

ENTRY = message_line("aaaaaaaa")[:-1]


def bounds_of(block: bytes) -> list[tuple[int, int]]:
    bounds, at = [], 0
    for line in block.split(b"\n")[:-1]:
        bounds.append((at, at + len(line)))
        at += len(line) + 1
    return bounds


@given(st.lists(lines(), min_size=1, max_size=4).map(b"".join), st.booleans())
@example(ENTRY + b"\n" + ENTRY + b"\n", False)
def test_answer_is_that_of_the_careful_reader_or_none(block: bytes, version1: bool):
    bounds = bounds_of(block)
    decoded = decode_block(bytearray(block), bounds, version1=version1)
    verdicts = [classify_line(block[start:stop], version1=version1) for start, stop in bounds]
    if decoded is not None:
        assert {verdict.kind for verdict in verdicts} == {LineKind.ENTRY}
        assert all(verdict.utf8 for verdict in verdicts)
        assert [plain(fields) for fields in decoded] == [plain(each.records[0].fields) for each in verdicts]


def test_ordinary_lines_are_answered():
    block = build_session("a-b-c, b-d", header=b"") + tool_result_line("eeeeeeee", "dddddddd", "bash", is_error=True)
    decoded = decode_block(bytearray(block), bounds_of(block), version1=False)
    assert decoded is not None
    assert [fields.id for fields in decoded] == ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"]
    assert decoded[-1].message is not None
    assert decoded[-1].message.isError


def test_bounds_may_begin_and_end_inside_the_block():
    block = b"torn\n" + ENTRY + b"\n" + ENTRY + b"\ntorn"
    bounds = bounds_of(block)[1:3]
    assert decode_block(bytearray(block), bounds, version1=False) is not None


@pytest.mark.parametrize(
    "line",
    [
        header_line()[:-1],
        b"",
        b" ",
        b"{}",
        b"[]",
        ENTRY + ENTRY,
        ENTRY + b"," + ENTRY,
        ENTRY[:-1],
        ENTRY + b"\0",
        b" " + ENTRY,
        ENTRY + b"\r",
        ENTRY.replace(b"text", b"te\xffxt"),
        ENTRY.replace(b'"parentId":null', b'"parentId":1'),
        ENTRY.replace(b'"text"', b'"\\ud800"'),
        b'{"type":"x","id":"y","deep":' + b"[" * 2000 + b"]" * 2000 + b"}",
    ],
)
def test_anything_unusual_is_left_to_the_careful_reader(line: bytes):
    block = ENTRY + b"\n" + line + b"\n" + ENTRY + b"\n"
    decoded = decode_block(bytearray(block), bounds_of(block), version1=False)
    verdict = classify_line(line, version1=False)
    usual = verdict.kind is LineKind.ENTRY and verdict.utf8
    assert decoded is None or (usual and len(decoded) == 3)


def test_objects_broken_over_lines_are_not_mistaken_for_lines():
    # As many values as lines, but none of them is a line of its own.
    block = b'{"type":"x","id":"a","v":{\n}}{"type":"x","id":"b"}\n'
    assert decode_block(bytearray(block), bounds_of(block), version1=False) is None
    block = b'{"type":"x","id":"a","v":\n{}}{"type":"x","id":"b"}\n'
    assert decode_block(bytearray(block), bounds_of(block), version1=False) is None
