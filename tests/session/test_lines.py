"""The reader of lines against a plain statement of what it does, however the bytes come and whatever path they take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pivcs.session import lines
from pivcs.session.classify import classify_line
from pivcs.session.fields import FieldsLike, LineKind
from pivcs.session.jsontext import parse_json
from pivcs.session.lines import SALVAGED, LineReader
from pivcs.session.migrations import version_of
from pivcs.session.source import BytesSource
from tests.builders import build_session, header_line, message_line
from tests.session.streams import orderly_streams, piece_sizes, streams

Seen = tuple[int, int, int, Any, bool, bool]
"""Kind, bounds in the stream, fields, UTF-8, version 1."""


def plain(fields: FieldsLike | None) -> Any:
    if fields is None:
        return None
    message = fields.message and (fields.message.role, fields.message.stopReason, fields.message.isError)
    return fields.type, fields.id, fields.parentId, fields.timestamp, message


def by_the_book(data: bytes) -> tuple[list[Seen], int, bool | None]:
    """Rows, bytes of complete lines and version 1: every line by itself."""
    version1: bool | None = None
    seen: list[Seen] = []
    offset = 0
    for line in data.split(b"\n")[:-1]:
        rule = bool(version1)
        verdict = classify_line(line, version1=rule)
        whole = verdict.kind in (LineKind.ENTRY, LineKind.HEADER)
        fields = verdict.records[0].fields if whole else None
        seen.append((verdict.kind, offset, offset + len(line), plain(fields), verdict.utf8, rule))
        for record in () if whole else verdict.records:
            bounds = offset + record.start, offset + record.end
            seen.append((SALVAGED, *bounds, plain(record.fields), verdict.utf8, rule))
        if verdict.kind is LineKind.HEADER and version1 is None:
            value = parse_json(line)
            assert isinstance(value, dict)
            version1 = version_of(value) < 2
        offset += len(line) + 1
    return seen, offset, version1


def read(data: bytes, piece: int = 1 << 20, reader: LineReader | None = None) -> tuple[list[Seen], LineReader]:
    """Rows as they are seen; checks on the way what must hold of every batch."""
    reader = reader or LineReader(BytesSource(data, piece=piece))
    seen: list[Seen] = []
    at = reader.offset
    for batch in reader.batches():
        assert batch.offset <= at <= batch.end
        assert data[batch.end - 1 : batch.end] == b"\n"
        at = batch.end
        rows = batch.rows
        assert len(rows) == len(rows.bounds) == len(rows.fields)
        for place, (start, end) in enumerate(rows.bounds):
            bounds = batch.offset + start, batch.offset + end
            if batch.data is not None:
                assert batch.data[start:end] == data[slice(*bounds)]
            utf8 = place not in rows.not_utf8
            seen.append((rows.kinds[place], *bounds, plain(rows.fields[place]), utf8, batch.version1))
    assert reader.offset == at
    return seen, reader


@contextmanager
def limits(*, long_line: int = 16 << 20, bulk_from: int = 4 << 20, first_buffer: int = 1 << 20) -> Iterator[None]:
    with (
        patch.object(lines, "LONG_LINE", long_line),
        patch.object(lines, "_BULK_FROM", bulk_from),
        patch.object(lines, "_FIRST_BUFFER", first_buffer),
    ):
        yield


small_limits = st.builds(
    lambda long_line, bulk, first: {"long_line": long_line, "bulk_from": bulk, "first_buffer": first},
    st.sampled_from([16, 150, 1000, 16 << 20]),
    st.sampled_from([-1, 0, 500, 4 << 20]),
    st.sampled_from([16, 64, 200, 1 << 20]),
)


@given(streams(), piece_sizes(), small_limits)
@example(header_line() + message_line("aaaaaaaa"), 1, {"long_line": 16, "bulk_from": -1, "first_buffer": 16})
def test_rows_do_not_depend_on_pieces_buffers_or_path(data: bytes, piece: int, given_limits: dict[str, int]):
    expected, end, version1 = by_the_book(data)
    with limits(**given_limits):
        seen, reader = read(data, piece)
    assert seen == expected
    assert (reader.offset, reader.pending, reader.version1) == (end, len(data) - end, version1)


@given(orderly_streams(), piece_sizes())
def test_many_lines_at_once_read_as_one_by_one(data: bytes, piece: int):
    expected = by_the_book(data)[0]
    with limits(bulk_from=-1, first_buffer=256):
        assert read(data, piece)[0] == expected


@given(streams())
def test_kinds_add_up_and_lines_joined_give_the_bytes_back(data: bytes):
    seen, reader = read(data)
    whole = [row for row in seen if row[0] != SALVAGED]
    assert len(whole) == data.count(b"\n")
    assert all(kind in set(LineKind) for kind, *_ in whole)
    joined = b"".join(data[start:end] + b"\n" for _, start, end, *_ in whole)
    assert joined + data[reader.offset :] == data
    assert len(data) == reader.offset + reader.pending


@given(streams())
def test_salvaged_records_follow_their_glued_line_in_order_and_apart(data: bytes):
    seen, _ = read(data)
    at = bounds = None
    for kind, start, end, fields, *_ in seen:
        if kind == LineKind.GLUED:
            bounds, at = (start, end), start
        elif kind == SALVAGED:
            assert bounds is not None
            assert at is not None
            assert at <= start < end <= bounds[1]
            assert fields is not None
            assert data[start : start + 1] + data[end - 1 : end] == b"{}"
            at = end
        else:
            bounds = None
    glued = [place for place, row in enumerate(seen) if row[0] == LineKind.GLUED]
    assert all(seen[place + 1][0] == SALVAGED for place in glued)


@given(streams(), st.integers(0, 10_000), small_limits)
def test_reading_goes_on_where_an_earlier_reading_ended(data: bytes, cut: int, given_limits: dict[str, int]):
    whole, _, version1 = by_the_book(data)
    cut = min(cut, len(data))
    with limits(**given_limits):
        before, first = read(data[:cut])
        reader = LineReader(BytesSource(data, start=first.offset), first.offset, first.version1)
        after, second = read(data, reader=reader)
    assert before + after == whole
    assert second.version1 is version1
    assert second.offset + second.pending == len(data)


@given(streams(), st.binary(max_size=40))
def test_rows_of_complete_lines_stay_when_bytes_are_appended(data: bytes, more: bytes):
    before, _ = read(data)
    after, _ = read(data + more)
    assert after[: len(before)] == before


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 31, 32, 33, 64])
@pytest.mark.parametrize("piece", [1, 16, 17, 1000])
def test_line_as_long_as_the_buffer(size: int, piece: int):
    data = b"x" * size + b"\n" + b"y" * size + b"\n" + b"z" * size
    with limits(long_line=32, bulk_from=0, first_buffer=16):
        seen, reader = read(data, piece)
    assert [(start, end) for _, start, end, *_ in seen] == [(0, size), (size + 1, 2 * size + 1)]
    assert reader.pending == size


def test_long_header_states_the_version():
    data = header_line(version=1, cwd="/w" * 500) + b'{"role":"x"}\n'
    with limits(long_line=100, first_buffer=64):
        seen, reader = read(data)
    assert [row[0] for row in seen] == [LineKind.HEADER, LineKind.ENTRY]
    assert reader.version1 is True


def test_objects_before_the_first_header_are_read_by_the_newer_rule():
    data = b'{"role":"x"}\n' + header_line(version=1) + b'{"role":"x"}\n'
    for bulk in (-1, 1 << 20):
        with limits(bulk_from=bulk):
            assert [row[0] for row in read(data)[0]] == [LineKind.FOREIGN, LineKind.HEADER, LineKind.ENTRY]


def test_second_header_does_not_change_the_rule():
    data = header_line() + b'{"role":"x"}\n' + header_line(version=1) + b'{"role":"x"}\n'
    kinds = [LineKind.HEADER, LineKind.FOREIGN, LineKind.HEADER, LineKind.FOREIGN]
    for bulk in (-1, 1 << 20):
        with limits(bulk_from=bulk):
            assert [row[0] for row in read(data)[0]] == kinds


def test_empty_stream_has_no_rows():
    assert read(b"")[0] == []


def test_bulk_decoder_is_used_for_all_but_the_first_megabytes():
    data = build_session("a-b") + message_line("cccccccc", "bbbbbbbb", content="x" * 900) * 9_000
    from pivcs.session import bulk

    with patch.object(bulk, "decode_block", wraps=bulk.decode_block) as decode:
        assert len(read(data)[0]) == 9_003
        assert decode.call_count >= 3
    with patch.object(bulk, "decode_block", wraps=bulk.decode_block) as decode:
        read(data[: 2 << 20])
        assert decode.call_count == 0
