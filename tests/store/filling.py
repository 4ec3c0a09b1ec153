"""Streams put into a store without the operations above it: what sync does, in its simplest form."""

from __future__ import annotations

from typing import Any

from blake3 import blake3

from pivcs.objects.index import Indexer, index_source
from pivcs.objects.table import Table
from pivcs.session.lines import LineReader
from pivcs.session.source import BytesSource
from pivcs.store.records import FileStat, Stream
from pivcs.store.store import NewState, Store

KEY = b"k" * 32
COLUMNS = ("kind", "flags", "code", "offset", "length", "parent", "time", "entry_id", "oid", "other_ids", "salvaged")


def stat(size: int) -> FileStat:
    """Return what stat() might say of a file."""
    return FileStat(size, 1_700_000_000_000_000_000 + size, 1_700_000_000_000_000_001, -5, (1 << 63) - 1)


def columns(table: Table) -> dict[str, object]:
    """Return everything that a table holds, comparable."""
    return {name: getattr(table, name) for name in (*COLUMNS, "end", "pending")}


def table_of(data: bytes) -> Table:
    """Return the rows of a stream, read at once."""
    return index_source(BytesSource(data))[0]


def state(size: int, table: Table, version1: bool | None, last: tuple[int, bytes] | None, **more: Any) -> NewState:
    """Return what a stream of `size` bytes is, with made-up probes and summary; fields of no interest are None."""
    known = {
        "session": KEY, "size": size, "line_end": table.end, "version1": version1, "last_record": last,
        "verified_size": size, "probes": b"probes", "file": stat(size), "summary": b'{"entries": %d}' % size,
    }  # fmt: skip
    return NewState(**(dict.fromkeys(NewState._fields) | known | more))


def add(store: Store, source: int, data: bytes) -> Stream:
    """Add the next generation of a source."""
    reader, indexer = LineReader(BytesSource(data)), Indexer(BytesSource(data))
    for batch in reader.batches():
        indexer.add(batch)
    content = store.writer(None)
    content.add(data)
    with store.writing():
        new = state(len(data), indexer.table, reader.version1, indexer.last_record)
        return store.add_stream(source, content, indexer.table, new)


def extend(store: Store, stream: Stream, whole: bytes) -> Stream:
    """Let a stream grow to the bytes of `whole`, which begin with those that it has."""
    source = BytesSource(whole, start=stream.line_end)
    reader = LineReader(source, stream.line_end, stream.version1)
    indexer = Indexer(
        source, first_row=stream.row_count, last_record=stream.last_record, find_earlier=store.finder(stream)
    )
    indexer.table.end = stream.line_end
    for batch in reader.batches():
        indexer.add(batch)
    content = store.writer(stream)
    content.add(whole[stream.size :])
    with store.writing():
        new = state(len(whole), indexer.table, reader.version1, indexer.last_record)
        return store.extend_stream(stream, content, indexer.table, new)


def new_source(store: Store, path: bytes = b"/sessions/a.jsonl") -> int:
    """Add a source and return its number."""
    with store.writing():
        return store.add_source(path).id


def bytes_of(store: Store, stream: Stream) -> bytes:
    """Return all bytes of a stream."""
    return b"".join(store.bytes_of(stream).iter_range(0, stream.size))


def digest(data: bytes) -> bytes:
    """Return the plain BLAKE3 digest of bytes."""
    return blake3(data).digest()
