from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.errors import InputError
from pivcs.session.values import Effect, NotASession, entries_of, is_falsy, kept_values, open_values
from tests.builders import build_session, entry_id, header_line, message_line

HEADER = header_line()


def test_blank_invalid_and_falsy_lines_are_skipped() -> None:
    lines = [
        b"", b" \t", "\u00a0\u2028\ufeff".encode(), b"null", b"false", b"0", b"-0", b"0.0", b'""', b"{", b"NaN",
        b"{'a':1}", b"[1,]", b"\x00\x00", b"{}{}",
    ]
    assert kept_values(b"\n".join(lines)) == []


def test_any_other_value_is_kept() -> None:
    assert kept_values(b'1\n"x"\n[]\n{}\ntrue\n[0]') == [1, "x", [], {}, True, [0]]


def test_only_lf_ends_a_line() -> None:
    text = '{"a":"x\u2028y\u2029z\u0085\x7f"}\r\n'.encode()
    assert kept_values(text + b"1\r2\n3") == [{"a": "x\u2028y\u2029z\u0085\x7f"}, 3]


def test_invalid_utf8_is_read_with_replacement_characters() -> None:
    assert kept_values(b'{"a":"\xe2\x82"}\n{"b":"\xed\xa0\x80"}') == [{"a": "\ufffd"}, {"b": "\ufffd\ufffd\ufffd"}]


def test_empty_file_gets_a_header() -> None:
    opening = open_values(b"", "x.jsonl")
    assert (opening.effect, opening.header, opening.entries) == (Effect.HEADER_WRITTEN, None, ())


@pytest.mark.parametrize("data", [
    b"\n", b"  ", b"text\n", b'{"type":"session"}\n', b'{"type":"session","id":5}\n', b"5\n" + HEADER,
    message_line("a") + HEADER, b"\xef\xbb\xbf" + HEADER, HEADER.replace(b"\n", b"\r") + message_line("a"),
    b'{"kind":"header","version":4,"id":"x"}\n',
])
def test_file_without_header_is_refused(data: bytes) -> None:
    with pytest.raises(NotASession) as refusal:
        open_values(data, "dir/x.jsonl")
    assert isinstance(refusal.value, InputError)
    assert refusal.value.pi_message == "Session file is not a valid pi session: dir/x.jsonl"
    assert str(refusal.value).startswith("'dir/x.jsonl' ")


def test_bad_lines_before_the_header_are_accepted() -> None:
    opening = open_values(b"// note\n\nnull\n" + build_session("a"), "x")
    assert opening.effect is Effect.NONE
    assert len(opening.entries) == 1


@pytest.mark.parametrize("rest", [b"", b'{"type":"mess', b"   ", b"\0" * 8])
def test_unterminated_file_gets_a_line_end(rest: bytes) -> None:
    data = build_session("a-b")
    opening = open_values((data + rest) if rest else data[:-1], "x")
    assert (opening.effect, opening.appended) == (Effect.APPENDED, b"\n")
    assert [entry["id"] for entry in opening.entries if isinstance(entry, dict)] == [entry_id("a"), entry_id("b")]


@pytest.mark.parametrize("version", [None, 1, 2, 2.5, "2", "", False])
def test_older_versions_are_rewritten(version: object) -> None:
    data = header_line(version=version)
    assert open_values(data, "x").effect is Effect.REWRITTEN
    assert open_values(data[:-1], "x") == open_values(data, "x"), "rewriting ends the last line as well"


@pytest.mark.parametrize("version", [3, "3", 4, 99, "new"])
def test_other_versions_are_left_alone(version: object) -> None:
    assert open_values(header_line(version=version), "x").effect is Effect.NONE


def test_all_headers_are_left_out_of_the_entries() -> None:
    data = build_session("a") + header_line("second") + message_line("b")
    opening = open_values(data, "x")
    assert opening.header is not None
    assert opening.header["id"] != "second"
    assert len(opening.entries) == 2


def test_falsy_is_what_the_engine_says() -> None:
    assert all(map(is_falsy, [None, False, 0, 0.0, -0.0, ""]))
    assert not any(map(is_falsy, [True, 1, "0", [], {}, " "]))


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_lines_are_read_independently(lines: list[bytes]) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    assert kept_values(b"\n".join(lines)) == [value for line in lines for value in kept_values(line)]


@given(st.binary(max_size=60))
def test_any_bytes_are_opened_or_refused(data: bytes) -> None:
    try:
        opening = open_values(HEADER + data, "x")
    except NotASession:
        pytest.fail("the header is there")
    assert opening.entries == entries_of(kept_values(data))
