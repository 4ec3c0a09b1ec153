"""What stands for a forgotten record has its length, its ids and its object id, and no other is taken for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.hashing import node_id
from pivcs.objects.index import index_source
from pivcs.objects.placeholder import HEAD, Placeholder, make_placeholder, placeholder_of, read_placeholder
from pivcs.session.classify import classify_line
from pivcs.session.codes import FORGOTTEN, GONE, LABEL, OTHER, USER
from pivcs.session.fields import Fields, LineKind
from pivcs.session.source import BytesSource
from tests.builders import CLOCK, header_line, iso, message_line

DIGEST = bytes(range(200, 232))
TEXTS = st.text(max_size=12) | st.sampled_from(["aaaaaaaa", "", "\ud800", '"\\\n', "\u2028"])
TIMES = st.sampled_from(["", iso(CLOCK), "no time", "2026-01-01"])


def whole(placeholder: Placeholder) -> bytes:
    return placeholder.part(0, placeholder.length)


@given(TEXTS, st.none() | TEXTS, TIMES, st.integers(0, 400), st.sampled_from([USER, LABEL, OTHER]), st.booleans())
def test_placeholder_reads_as_the_record_that_it_stands_for(
    ident: str, parent: str | None, stamp: str, length: int, code: int, version1: bool
) -> None:
    made = make_placeholder(Fields("x", ident, parent, stamp), code, DIGEST, length, version1=version1)
    if made is None:
        return
    record = whole(made)
    assert len(record) == length
    assert read_placeholder(record) == DIGEST
    assert placeholder_of(record, length) == made
    verdict = classify_line(record, version1=version1)
    assert verdict.kind is LineKind.ENTRY
    fields = verdict.records[0].fields
    assert fields.type == ("pivcs.forgotten" if code == USER else "pivcs.gone")
    assert (fields.id, fields.parentId) == ((None, None) if version1 else (ident, parent))
    assert fields.timestamp in ("", stamp)


@given(st.integers(0, 220), st.integers(0, 220))
def test_any_part_of_a_placeholder_is_that_part_of_it(start: int, stop: int) -> None:
    made = make_placeholder(Fields("x", "a", None, iso(CLOCK)), USER, DIGEST, 200, version1=False)
    assert made is not None
    assert made.part(start, stop) == whole(made)[start:stop]


@pytest.mark.parametrize("code", [USER, LABEL])
def test_shortest_entries_that_pi_writes_have_room(code: int) -> None:
    """A name of one letter, and a prompt of one."""
    shortest = {
        LABEL: f'{{"type":"session_info","id":"aaaaaaaa","parentId":"bbbbbbbb","timestamp":"{iso(CLOCK)}","name":"x"}}',
        USER: f'{{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"{iso(CLOCK)}",'
        '"message":{"role":"user","content":"x"}}',
    }[code].encode()
    fields = classify_line(shortest, version1=False).records[0].fields
    assert isinstance(fields, Fields)
    assert make_placeholder(fields, code, DIGEST, len(shortest), version1=False) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"oid":"', b'"oid":"A'),
        (b'"oid":"', b'"oid": "'),
        (b"}", b",}"),
        (b"}", b'"x":1}'),
        (b"}", b"} "),
        (b"}", b"} }"),
        (b"   }", b"  \t}"),
        (b"pivcs.gone", b"pivcs.gon"),
        (b'"id"', b'"ID"'),
        (b"Pc\"", b"Pd\""),  # a bit that is not used
        (b"{", b" {"),
    ],
)
def test_what_only_looks_like_a_placeholder_is_none(old: bytes, new: bytes) -> None:
    made = make_placeholder(Fields("x", "a", None), LABEL, bytes(31) + b"\xf7", 140, version1=False)
    assert made is not None
    assert old in whole(made)
    assert read_placeholder(whole(made).replace(old, new)) is None


def test_padding_comes_in_pieces() -> None:
    made = make_placeholder(Fields("x", "a", None), LABEL, DIGEST, 3 * HEAD, version1=False)
    assert made is not None
    record = whole(made)
    for cut in (HEAD, len(record) - 1):
        assert read_placeholder(record[:cut], (record[cut:], b"")) == DIGEST
    assert read_placeholder(record[:HEAD], (record[HEAD:-1],)) is None
    assert read_placeholder(record[:HEAD], (record[HEAD:], b" ")) is None


def test_entry_that_calls_itself_forgotten_is_hashed_and_has_no_code_of_its_own() -> None:
    line = b'{"type":"pivcs.forgotten","id":"aaaaaaaa","parentId":null,"oid":"short"}'
    table, _ = index_source(BytesSource(header_line() + line + b"\n" + message_line("bbbbbbbb", "aaaaaaaa")))
    assert table.code[1] == OTHER
    assert table.object_id(1) == node_id(None, line)
    assert table.forgotten_rows() == []


def test_codes_of_placeholders() -> None:
    said = make_placeholder(Fields("x", "aaaaaaaa", None), USER, DIGEST, 200, version1=False)
    kept = make_placeholder(Fields("x", "bbbbbbbb", "aaaaaaaa"), LABEL, bytes(32), 200, version1=False)
    assert said is not None
    assert kept is not None
    table, _ = index_source(BytesSource(header_line() + whole(said) + b"\n" + whole(kept) + b"\n"))
    assert list(table.code)[1:] == [FORGOTTEN, GONE]
    assert [table.digest(row) for row in (1, 2)] == [DIGEST, bytes(32)]
    assert table.conversation_ancestor(2) == 1
