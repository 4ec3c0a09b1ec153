"""From lines to nodes: against a plain statement of the rules, in one go and in steps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from unittest.mock import patch

from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.index import Indexer, index_source
from pivcs.objects.table import (
    DOUBLED,
    FAILED,
    NO_ROW,
    NODE,
    NOT_UTF8,
    ORPHAN,
    OTHER_ID,
    POSITIONAL,
    TOOL_USE,
    Table,
)
from pivcs.session import lines
from pivcs.session.lines import SALVAGED, LineReader
from pivcs.session.source import BytesSource
from pivcs.session.times import parse_time
from tests.builders import build_session, header_line, message_line
from tests.session.streams import piece_sizes, streams
from tests.session.test_lines import by_the_book


@dataclass
class Plain:
    """What a table says, as lists."""

    kinds: list[int] = field(default_factory=list)
    bounds: list[tuple[int, int]] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    parents: list[int | None] = field(default_factory=list)
    times: list[int | None] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def records(self) -> list[int]:
        return [row for row, flags in enumerate(self.flags) if flags & NODE]


def by_the_rules(data: bytes) -> Plain:
    seen, _, _ = by_the_book(data)
    made = Plain()
    latest: dict[str, int] = {}
    first_of: dict[bytes, int] = {}
    last: int | None = None
    line = place = 0
    for row, (kind, start, end, fields, utf8, version1) in enumerate(seen):
        if kind != SALVAGED:
            line, place = line + 1, 0
        flags = 0 if utf8 else NOT_UTF8
        parent: int | None = None
        digest = bytes(32)
        name = f"L{line}"
        is_record = fields is not None and fields[0] != "session"
        if kind == SALVAGED:
            place += is_record
            name += f".{place}" if place > 1 else ""
        if is_record:
            _, entry_id, parent_id, _, message = fields
            parent = last if version1 else latest.get(parent_id) if parent_id else None
            above = bytes(32) if parent is None else made.digests[parent]
            digest = blake3(above + data[start:end], derive_key_context="pivcs node v1").digest()
            flags |= NODE
            last = row if version1 else first_of.setdefault(digest, row)
            if last != row:
                flags |= DOUBLED
            if version1:
                flags |= POSITIONAL
            else:
                latest[entry_id] = last
                name = entry_id
                if len(name) != 8 or set(name) - set("0123456789abcdef"):
                    flags |= OTHER_ID
                if parent is None and parent_id is not None:
                    flags |= ORPHAN
            if message is not None:
                flags |= TOOL_USE if message[1] == "toolUse" else 0
                flags |= FAILED if message[2] or message[1] in ("error", "aborted") else 0
        made.kinds.append(kind)
        made.bounds.append((start, end))
        made.flags.append(flags)
        made.parents.append(parent)
        made.times.append(parse_time(fields[3]) if fields is not None else None)
        made.digests.append(digest)
        made.names.append(name if is_record else "")
    return made


def said_by(table: Table) -> Plain:
    rows = range(len(table))
    columns = (table.flags, table.code, table.offset, table.length, table.parent, table.time, table.entry_id)
    assert {len(column) for column in columns} == {len(table)}
    assert len(table.oid) == 32 * len(table)
    return Plain(
        list(table.kind),
        [(table.offset[row], table.offset[row] + table.length[row]) for row in rows],
        list(table.flags),
        [table.parent_of(row) for row in rows],
        [table.time_of(row) for row in rows],
        [table.digest(row) for row in rows],
        [table.name(row) if table.is_node(row) else "" for row in rows],
    )


@given(streams(), piece_sizes(), st.sampled_from([16, 200, 16 << 20]))
def test_table_says_what_the_rules_say(data: bytes, piece: int, long_line: int):
    with patch.object(lines, "LONG_LINE", long_line), patch.object(lines, "_FIRST_BUFFER", min(long_line, 1 << 20)):
        table, reader = index_source(BytesSource(data, piece=piece))
    assert said_by(table) == by_the_rules(data)
    assert (table.end, table.pending) == (reader.offset, reader.pending)
    assert table.end + table.pending == len(data)


@given(streams())
def test_table_is_the_same_by_the_bulk_decoder(data: bytes):
    with patch.object(lines, "_BULK_FROM", -1), patch.object(lines, "_FIRST_BUFFER", 300):
        table, _ = index_source(BytesSource(data))
    assert said_by(table) == by_the_rules(data)


@given(streams())
def test_laws_of_every_table(data: bytes):
    table, _ = index_source(BytesSource(data))
    nodes = list(table.nodes())
    records = [row for row in range(len(table)) if table.is_node(row)]
    if len({table.flags[row] & POSITIONAL for row in records}) < 2:  # no version 1 header behind entries
        assert len(nodes) == len({table.digest(row) for row in records})
    assert {table.first_row(row) for row in records} == set(nodes)
    assert all(table.digest(table.first_row(row)) == table.digest(row) for row in records)
    for row in records:
        parent = table.parent_of(row)
        assert parent is None or (parent < row and parent in nodes)
        path = table.path(row)
        assert path == sorted(path)
        assert path[-1] == row
        if table.other_ids.get(row, "x") and not table.flags[row] & POSITIONAL:
            assert row in table.records_named(table.name(row))
    assert sum(table.counts().values()) == table.line_count() == data.count(b"\n")
    assert [table.line_number(row) for row in range(len(table)) if table.kind[row] != SALVAGED] == list(
        range(1, table.line_count() + 1)
    )
    assert table.last_node() == (table.first_row(records[-1]) if records else None)


@given(streams(), streams())
def test_ids_and_names_stay_when_lines_are_added_later(data: bytes, more: bytes):
    before = said_by(index_source(BytesSource(data))[0])
    after = said_by(index_source(BytesSource(data + more))[0])
    count = len(before.kinds)
    for column in ("kinds", "bounds", "flags", "parents", "digests", "names", "times"):
        assert getattr(after, column)[:count] == getattr(before, column), column


@given(streams(), st.lists(st.integers(0, 8_000), max_size=3))
def test_indexing_in_steps_gives_the_same_columns_as_in_one_go(data: bytes, cuts: list[int]):
    expected = by_the_rules(data)
    found = Plain()
    known: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    offset, version1, last = 0, None, None
    for end in sorted({min(cut, len(data)) for cut in cuts} | {len(data)}):
        first_row = len(found.kinds)
        source = BytesSource(data[:end], start=offset)
        reader = LineReader(source, offset, version1)
        earlier = {name: tuple(records) for name, records in known.items()}
        indexer = Indexer(
            source,
            first_row=first_row,
            last_record=last,
            find_earlier=(lambda name, earlier=earlier: earlier.get(name, ())) if first_row else None,
        )
        for batch in reader.batches():
            indexer.add(batch)
        offset, version1, last = reader.offset, reader.version1, indexer.last_record
        step, table = said_by(indexer.table), indexer.table
        for column in ("kinds", "bounds", "flags", "times", "digests"):
            getattr(found, column).extend(getattr(step, column))
        found.parents.extend(None if parent == NO_ROW else parent for parent in table.parent)
        for row in step.records():
            if not table.flags[row] & POSITIONAL:
                known[table.name(row)].append((first_row + row, table.digest(row)))
    for column in ("kinds", "bounds", "flags", "parents", "digests", "times"):
        assert getattr(found, column) == getattr(expected, column), column


def test_id_changes_when_any_ancestor_changes():
    texts = {"a": "one", "b": "two", "c": "three"}
    ids = []
    for name in (None, "a", "b", "c"):
        changed = texts | ({name: "other"} if name else {})
        table, _ = index_source(BytesSource(build_session("a-b-c, b-d", texts=changed)))
        ids.append([table.digest(row) for row in table.nodes()])
    same = [[one == other for one, other in zip(ids[0], other, strict=True)] for other in ids]
    assert same == [[True] * 4, [False] * 4, [True, False, False, False], [True, True, False, True]]


def test_ids_do_not_depend_on_the_header_or_on_what_stands_between():
    plain, _ = index_source(BytesSource(build_session("a-b")))
    other, _ = index_source(BytesSource(header_line("x", cwd="/y") + b"\n\n{torn\n" + build_session("a-b", header=b"")))
    assert [plain.digest(row) for row in plain.nodes()] == [other.digest(row) for row in other.nodes()]


def test_version_1_entry_behind_a_doubled_line_hangs_below_the_node_that_is_shown():
    table, _ = index_source(BytesSource(message_line("aaaaaaaa") * 2 + header_line(version=1) + message_line("b")))
    assert [table.parent_of(row) for row in table.nodes()] == [None, 0]


def test_lookups_in_an_empty_table():
    table, _ = index_source(BytesSource(b""))
    assert [table.row_named(name) for name in ("no such id", "", "99999999")] == [None] * 3
    assert table.last_node() is None
    assert table.rows_with_digest_prefix(b"\0\0") == []
