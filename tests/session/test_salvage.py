"""Whole records are found in torn lines, and nothing that is nested in a record is taken for one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from pivcs.session.classify import classify_line
from pivcs.session.fields import LineKind, is_entry, is_header
from pivcs.session.jsonscan import JsonScanner
from pivcs.session.jsontext import NotJson, parse_json
from pivcs.session.salvage import RECORD_START, Salvager, salvage
from tests.session.torn import ASSISTANT, CUSTOM, HEADER, QUOTING, entry, spell, torn_lines

A, B, C, D = entry("a"), entry("b", "a"), entry("c", "b"), entry("d", "c")


def salvaged(line: bytes, *, version1: bool = False) -> list[bytes]:
    verdict = classify_line(line, version1=version1)
    assert verdict.kind in (LineKind.GLUED, LineKind.DAMAGED)
    assert verdict.records == salvage(line, version1=version1)
    return [line[record.start : record.end] for record in verdict.records]


@pytest.mark.parametrize("space", [b"", b" ", b"\r", b" \t\r "])
def test_objects_on_one_line_are_all_taken(space: bytes) -> None:
    assert salvaged(A + space + B) == [A, B]
    assert salvaged(space + A + space + B + space + C + space) == [A, B, C]
    assert salvaged(HEADER + space + A) == [HEADER, A]


def test_braces_inside_strings_separate_nothing() -> None:
    text = entry("x", None, '}{ {"type":"message","id":"n","parentId":null,"timestamp":"t"}\\')
    assert salvaged(text + text) == [text, text]
    assert salvaged(text[:-5] + text) == [text]


@pytest.mark.parametrize("torn", [ASSISTANT, CUSTOM, HEADER, entry("t", "a", '{"type":"message"\\"')])
@pytest.mark.parametrize("tail", [b"", b"\r", b"\x00\x00", D[:40], b'{"type":"mess', b"x"])
def test_record_behind_every_cut_of_a_record_is_taken(torn: bytes, tail: bytes) -> None:
    for cut in range(1, len(torn)):
        assert salvaged(torn[:cut] + C + tail) == [C], torn[:cut]
        assert salvaged(torn[:cut] + C + D + tail) == [C, D], torn[:cut]


@pytest.mark.parametrize("piece", [CUSTOM, HEADER, ASSISTANT, QUOTING])
def test_records_of_every_type_are_taken_behind_a_cut(piece: bytes) -> None:
    for cut in range(1, len(ASSISTANT)):
        assert salvaged(ASSISTANT[:cut] + piece) == [piece]


def test_two_torn_records_hide_none_of_the_whole_ones() -> None:
    assert salvaged(A + B[:70] + C + ASSISTANT[:-30] + D + A[:50]) == [A, C, D]
    assert salvaged(B[:60] + B[:61] + C) == [C]


def test_torn_list_of_blocks_that_swallows_the_next_record_gives_it_back() -> None:
    at = ASSISTANT.index(b'"content":[') + len(b'"content":[')
    for space in (b"", b" "):
        assert salvaged(ASSISTANT[:at] + space + C + space) == [C]
        assert salvaged(ASSISTANT[:at] + space + C + space + D[:-1]) == [C]


def test_nested_objects_of_a_torn_record_are_not_taken() -> None:
    inner = [QUOTING.index(b'{"type":"message","id":"n1"'), QUOTING.index(b'{"type":"message","id":"n2"')]
    ends = {
        start + len(json.dumps(json.loads(entry(name)), separators=(",", ":")))
        for start, name in zip(inner, ("n1", "n2"), strict=True)
    }
    for cut in range(1, len(QUOTING)):
        if cut in ends:
            # Cut right behind a whole entry: no rule can tell it from one that was appended.
            continue
        assert salvaged(QUOTING[:cut]) == []
        assert salvaged(QUOTING[:cut] + C) == [C]


def test_nul_bytes_around_and_between_records_are_passed_over() -> None:
    nul = b"\x00" * 4096
    assert salvaged(nul + C) == [C]
    assert salvaged(A + nul + C + nul) == [A, C]
    assert salvaged(nul) == []
    assert salvaged(A[:40] + nul + A[50:] + C) == [C]


def test_objects_that_are_no_records_are_passed_over_only_where_a_record_may_stand() -> None:
    assert salvaged(b'{"x":1}' + C) == [C]
    assert salvaged(b'{"x":1}' + C, version1=True) == [b'{"x":1}', C]
    assert salvaged(b'{"x":1}{"y":2}') == []
    assert salvaged(A + b'"x' + b'{"y":2}') == [A]
    assert salvaged(b"123" + C) == [C]
    assert salvaged(b"[1]" + C) == [C]
    assert salvaged(b"[" + C + b"," + D + b"],") == []


def test_record_start_with_fields_of_other_types_is_not_taken() -> None:
    line = b'{"type":"message","id":"z","parentId":null,"id":1}'
    assert salvaged(b"x" + line) == []
    assert salvaged(b"x" + line + C) == [C]


def test_version_1_entries_have_no_id() -> None:
    first = spell(
        {"type": "message", "timestamp": "t", "message": {"role": "user", "content": [{"type": "text", "text": ""}]}}
    )
    for cut in range(1, len(first)):
        assert salvaged(first[:cut] + first, version1=True) == [first]
        assert salvaged(first[:cut] + first) == []


def test_record_after_a_lone_backslash_or_half_an_escape_is_taken() -> None:
    for end in (b"\\", b"\\u", b"\\u00e", b'\\"', b"\xe2\x82"):
        assert salvaged(b'{"type":"message","id":"b","parentId":"' + end + C) == [C]


@given(torn_lines())
def test_records_are_whole_in_order_and_apart(line: bytes) -> None:
    for version1 in (False, True):
        end = 0
        for record in salvage(line, version1=version1):
            assert record.start >= end
            end = record.end
            assert classify_line(line[record.start : end], version1=version1).records == (
                (0, end - record.start, record.fields),
            )


def by_trying(line: bytes) -> list[tuple[int, int]]:
    """The rules as they are written, by parsing every stretch that ends with a brace. Cubic: for short lines."""

    def whole(start: int) -> tuple[int, object] | None:
        if line[start : start + 1] != b"{":
            return None
        for end in range(start + 1, len(line) + 1):
            if line[end - 1 : end] == b"}":
                try:
                    return end, parse_json(line[start:end])
                except NotJson:
                    continue
        return None

    def is_record(value: object) -> bool:
        fields = classify_line(json.dumps(value).encode(), version1=False).records
        return bool(fields) and (is_header(fields[0].fields) or is_entry(fields[0].fields, version1=False))

    def skip(pos: int) -> int:
        return len(line) - len(line[pos:].lstrip(b" \t\n\r"))

    found: list[tuple[int, int]] = []
    pos = 0
    while True:
        while (ended := whole(skip(pos))) is not None:
            if is_record(ended[1]):
                found.append((skip(pos), ended[0]))
            pos = ended[0]
        for start in range(pos, len(line)):
            ended = whole(start) if RECORD_START.match(line, start) else None
            if ended and is_record(ended[1]) and line[skip(ended[0]) :][:1] not in (b",", b"]", b"}"):
                found.append((start, ended[0]))
                pos = ended[0]
                break
        else:
            return found


@given(torn_lines())
def test_one_pass_finds_what_trying_every_start_finds(line: bytes) -> None:
    line = line[:1500]
    assert [(record.start, record.end) for record in salvage(line, version1=False)] == by_trying(line)


@pytest.mark.parametrize(
    "part",
    [
        b'{"type":"a","timestamp":"b","c":',
        b'{"type":"x',
        b'{"type":"a","customType":"',
        b"[",
        b'{"a":',
        b"{}",
        A,
        A + B[:70],
        b'{"type":"a","id":"b","parentId":"\\',
        b'[{"type":"a","timestamp":"b"},',
    ],
)
def test_every_byte_is_scanned_a_bounded_number_of_times(part: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    fed = 0
    feed = JsonScanner.feed

    def counting_feed(scanner: JsonScanner, piece: bytes, start: int, end: int) -> int:
        nonlocal fed
        taken = feed(scanner, piece, start, end)
        fed += taken
        return taken

    monkeypatch.setattr(JsonScanner, "feed", counting_feed)
    line = part * ((1 << 16) // len(part)) + b"\x00"
    salvage(line, version1=False)
    assert fed <= len(line) + 2 * line.count(b"{")


def test_nesting_of_record_starts_beyond_the_limit_is_not_looked_at() -> None:
    part = b'{"type":"a","id":"i","parentId":'
    assert len(salvage(b"[" + part * 255 + C, version1=False)) == 1
    assert salvage(b"[" + part * 256 + C, version1=False) == ()


def test_single_is_the_object_that_is_the_whole_line() -> None:
    cases = [(b" " + A + b"\r", "a"), (A, "a")]
    cases += [(line, "") for line in (A + B, b"[1]" + A + B, A[:9] + A + B, A + b"x", A[:-1], b"1")]
    for line, expected in cases:
        salvager = Salvager(version1=False)
        salvager.feed(line)
        salvager.finish()
        assert (salvager.single.id if salvager.single else "") == expected
