"""The six kinds of line, for lines that are held whole."""

from __future__ import annotations

import pytest

from pivcs.session.classify import classify_line
from pivcs.session.fields import Fields, LineKind, Record, Verdict

ENTRY = b'{"type":"label","id":"a","parentId":null}'


def kind(line: bytes, *, version1: bool = False) -> LineKind:
    return classify_line(line, version1=version1).kind


@pytest.mark.parametrize("line", [b"", b"\r", b" \t\x0b\x0c", "\u00a0\ufeff\u2028\u2029\u3000".encode()])
def test_line_of_javascript_white_space_is_blank(line: bytes) -> None:
    assert classify_line(line, version1=False) == Verdict(LineKind.BLANK)


def test_entry_has_the_bounds_of_the_line() -> None:
    line = b" " + ENTRY + b"\r"
    assert classify_line(line, version1=False) == Verdict(
        LineKind.ENTRY, (Record(0, len(line), Fields("label", "a", None)),), True
    )


def test_session_object_is_a_header_with_and_without_id() -> None:
    for version1 in (False, True):
        assert kind(b'{"type":"session","id":"s","version":3}', version1=version1) is LineKind.HEADER
        assert kind(b'{"type":"session"}', version1=version1) is LineKind.HEADER


@pytest.mark.parametrize(
    "line", [b"{}", b'{"type":"message"}', b'{"id":"a"}', b'{"id":"a","type":1}', b'{"id":1,"type":"a"}']
)
def test_object_without_id_and_type_is_an_entry_in_version_1_only(line: bytes) -> None:
    assert kind(line) is LineKind.FOREIGN
    assert kind(line, version1=True) is LineKind.ENTRY


@pytest.mark.parametrize(
    "line", [b"null", b"0", b'""', b"false", b"123", b'["a"]', b"1e400", b'"\\ud800"', b"[" * 10_000 + b"]" * 10_000]
)
def test_other_values_are_foreign(line: bytes) -> None:
    assert kind(line) is LineKind.FOREIGN
    assert kind(line, version1=True) is LineKind.FOREIGN


@pytest.mark.parametrize(
    "line", [b"x", b"\x00" * 4096, b"{" * 5, ENTRY[:-1], b"[NaN]", b"{'a':1}", b"\xe2\x82", b"[1,]", b"{}{}"]
)
def test_other_lines_are_damaged(line: bytes) -> None:
    assert kind(line) is LineKind.DAMAGED


def test_byte_order_mark_hides_the_value_but_not_the_record() -> None:
    verdict = classify_line(b"\xef\xbb\xbf" + ENTRY, version1=False)
    assert verdict == Verdict(LineKind.GLUED, (Record(3, 3 + len(ENTRY), Fields("label", "a", None)),), True)
    assert kind(b"\xef\xbb\xbf{}") is LineKind.DAMAGED


def test_invalid_utf8_leaves_an_entry_readable_and_is_noted() -> None:
    line = b'{"type":"label","id":"\xff","parentId":"\xed\xa0\x80"}'
    verdict = classify_line(line, version1=False)
    assert verdict == Verdict(LineKind.ENTRY, (Record(0, len(line), Fields("label", "\ufffd", "\ufffd" * 3)),), False)
    assert classify_line(b"\xff", version1=False) == Verdict(LineKind.DAMAGED, (), False)
    assert classify_line(b'{"a":"\\ud800"}', version1=False).utf8


def test_line_separators_of_other_kinds_stay_inside_a_string() -> None:
    text = "a\u0085b\u2028c\u2029d\x7f".encode()
    assert kind(ENTRY[:-1] + b',"label":"' + text + b'"}') is LineKind.ENTRY
    for raw in (b"\x0b", b"\x0c", b"\x1c"):
        # JSON has no raw control characters in strings, and pi skips such a line.
        assert kind(ENTRY[:-1] + b',"label":"' + raw + b'"}') is LineKind.DAMAGED


def test_last_of_repeated_keys_decides() -> None:
    verdict = classify_line(b'{"id":"a","type":"x","id":"b"}', version1=False)
    assert verdict.records[0].fields.id == "b"
    assert kind(b'{"id":"a","type":"x","id":2}') is LineKind.FOREIGN


def test_deep_entry_is_read() -> None:
    line = ENTRY[:-1] + b',"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert kind(line) is LineKind.ENTRY
