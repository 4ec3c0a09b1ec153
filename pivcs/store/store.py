"""The store as upper layers use it: sources, streams, their bytes and rows, and the events of their lives."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.objects.table import Table
from pivcs.store.content import ContentWriter, StreamSource
from pivcs.store.database import WAIT, Database, memory_database, open_database
from pivcs.store.errors import StoreDamaged, StreamMoved
from pivcs.store.forgotten import ForgottenStore
from pivcs.store.records import STREAM_COLUMNS, STREAM_TABLES, Event, FileStat, Source, Stream, stream_of
from pivcs.store.refs import RefStore
from pivcs.store.remote import RemoteStore
from pivcs.store.rows import IdFinder, RowFinder, append_rows, load_table
from pivcs.store.scans import ScanStore

BESIDE: Final = ("stream_chunk", "tail", "segment", "known_id", "tip", "branch", "label", "scan")
"""Tables of what is kept of a stream, each with a column `stream`."""


class NewState(NamedTuple):
    """What a stream is after new bytes: the fields of `Stream` that the upper layer decides."""

    session: bytes | None
    size: int
    line_end: int
    version1: bool | None
    last_record: tuple[int, bytes] | None
    conversation: int | None
    verified_size: int
    probes: bytes
    file: FileStat
    summary: bytes


class Store:
    """One store. Use as a context manager; methods that write take part in the transaction of `writing`."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.refs = RefStore(database)
        self.remote = RemoteStore(database)
        self.forgotten = ForgottenStore(database)
        self.scans = ScanStore(database)

    @classmethod
    def open(cls, path: Path, *, create: bool = False, read_only: bool = False, wait: float = WAIT) -> Store:
        """Open the store at a path. Raises as `open_database`."""
        return cls(open_database(path, create=create, read_only=read_only, wait=wait))

    @classmethod
    def in_memory(cls) -> Store:
        """Return a new store that is gone when it is closed."""
        return cls(memory_database())

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; closing twice is harmless."""
        self.database.close()

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self.database.read_only

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Make what is written inside visible at once, or not at all. Raises `StoreBusy`, `StoreFull`."""
        with self.database.writing() as connection:
            yield connection

    # Sources

    def sources(self) -> list[Source]:
        """Return all sources in the order in which they were first seen."""
        return self._sources("ORDER BY id")

    def source_at(self, path: bytes) -> Source | None:
        """Return the source with a real path."""
        found = self._sources("WHERE path = ?", path)
        return found[0] if found else None

    def source(self, ident: int) -> Source | None:
        """Return a source by its number."""
        found = self._sources("WHERE id = ?", ident)
        return found[0] if found else None

    def add_source(self, path: bytes) -> Source:
        """Add a source and return it."""
        cursor = self.database.connection.execute("INSERT INTO source (path) VALUES (?)", (path,))
        assert cursor.lastrowid is not None
        return Source(cursor.lastrowid, path, False)

    def set_gone(self, source: int, gone: bool) -> None:
        """Say whether a file is at a source's path."""
        self.database.connection.execute("UPDATE source SET gone = ? WHERE id = ?", (gone, source))

    def move_source(self, source: int, path: bytes) -> None:
        """Give a source another path, where its bytes go on."""
        self.database.connection.execute("UPDATE source SET path = ?, gone = 0 WHERE id = ?", (path, source))

    # Streams

    def current_streams(self) -> list[Stream]:
        """Return the latest generation of every source, in the order of the sources."""
        return self._streams(
            "WHERE stream.generation = "
            "(SELECT max(generation) FROM stream AS other WHERE other.source = stream.source) ORDER BY stream.source"
        )

    def streams_of_source(self, source: int) -> list[Stream]:
        """Return the generations of a source, oldest first."""
        return self._streams("WHERE stream.source = ? ORDER BY stream.generation", source)

    def current_stream(self, source: int) -> Stream | None:
        """Return the latest generation of a source."""
        found = self._streams("WHERE stream.source = ? ORDER BY stream.generation DESC LIMIT 1", source)
        return found[0] if found else None

    def streams_of_session(self, key: bytes) -> list[Stream]:
        """Return all streams of a session, by source and generation."""
        return self._streams("WHERE session.key = ? ORDER BY stream.source, stream.generation", key)

    def stream(self, ident: int) -> Stream | None:
        """Return a stream by its number."""
        found = self._streams("WHERE stream.id = ?", ident)
        return found[0] if found else None

    def streams(self) -> list[Stream]:
        """Return all streams, by source and generation."""
        return self._streams("ORDER BY stream.source, stream.generation")

    def session_keys(self, prefix: bytes = b"") -> list[bytes]:
        """Return the keys of all sessions, those that begin with `prefix`."""
        return [key for (key,) in self._all("SELECT key FROM session WHERE substr(key, 1, ?) = ? ORDER BY key",
                                            len(prefix), prefix)]  # fmt: skip

    def bytes_of(self, stream: Stream, *, start: int = 0, checked: bool = True) -> StreamSource:
        """Return a stream's bytes, read in order from `start`; without `checked` also those that are not what their
        hashes say."""
        return StreamSource(self.database, stream, start=start, checked=checked)

    def table_of(self, stream: Stream) -> Table:
        """Return a stream's rows."""
        return load_table(self.database, stream)

    def finder(self, stream: Stream) -> IdFinder:
        """Return what finds a stream's records by their ids."""
        return IdFinder(self.database, stream)

    def row_finder(self, stream: Stream) -> RowFinder:
        """Return what looks at single rows of a stream."""
        return RowFinder(self.database, stream)

    def writer(self, stream: Stream | None) -> ContentWriter:
        """Return what takes the new bytes of a stream, or of one that is yet to be."""
        return ContentWriter(self.database, stream)

    def add_stream(self, source: int, content: ContentWriter, rows: Table, state: NewState) -> Stream:
        """Add the next generation of a source with its bytes and rows."""
        connection = self.database.connection
        (generation,) = connection.execute(
            "SELECT coalesce(max(generation), 0) + 1 FROM stream WHERE source = ?", (source,)
        ).fetchone()
        cursor = connection.execute(
            "INSERT INTO stream (source, generation, size, line_end, row_count, tail_start, verified_size, probes, "
            "file_size, file_mtime, file_ctime, device, inode, summary) "
            "VALUES (?, ?, 0, 0, 0, 0, 0, x'', 0, 0, 0, 0, 0, x'')",
            (source, generation),
        )
        ident = cursor.lastrowid
        assert ident is not None
        return self._grow(ident, 0, content, rows, state)

    def extend_stream(self, stream: Stream, content: ContentWriter, rows: Table, state: NewState) -> Stream:
        """Add bytes and rows to a stream. Raises `StreamMoved` when it is not as it was when `stream` was read."""
        now = self.stream(stream.id)
        if now != stream:
            raise StreamMoved(self.database.where)
        return self._grow(stream.id, stream.row_count, content, rows, state)

    def replace_stream(
        self, stream: Stream, content: ContentWriter, rows: Table, labels: Sequence[tuple[int, str, str]],
        probes: bytes, summary: bytes,
    ) -> Stream:  # fmt: skip
        """Give a stream other bytes of the same length, and rows that differ from the old ones in nothing that others
        refer to. Raises `StreamMoved` when it is not as it was when `stream` was read."""
        if self.stream(stream.id) != stream:
            raise StreamMoved(self.database.where)
        self._clear(stream.id, [table for table in BESIDE if table not in ("tip", "branch")])
        connection = self.database.connection
        content.finish(connection, stream.id)
        append_rows(connection, self.database.where, stream.id, 0, rows)
        self.refs.add_label_settings(stream.id, labels)
        connection.execute(
            "UPDATE stream SET tail_start = ?, probes = ?, summary = ? WHERE id = ?",
            (content.tail_start, probes, summary, stream.id),
        )
        changed = self.stream(stream.id)
        assert changed is not None
        return changed

    def remove_stream(self, stream: int) -> None:
        """Remove a stream and everything that is kept beside it; not what the log of operations says of it."""
        self._clear(stream, BESIDE)
        self.database.connection.execute("DELETE FROM stream WHERE id = ?", (stream,))

    def _clear(self, stream: int, tables: Sequence[str]) -> None:
        for table in tables:
            self.database.connection.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))

    def _grow(self, ident: int, row_count: int, content: ContentWriter, rows: Table, state: NewState) -> Stream:
        connection = self.database.connection
        content.finish(connection, ident)
        append_rows(connection, self.database.where, ident, row_count, rows)
        session = None
        if state.session is not None:
            connection.execute("INSERT OR IGNORE INTO session (key) VALUES (?)", (state.session,))
            (session,) = connection.execute("SELECT id FROM session WHERE key = ?", (state.session,)).fetchone()
        last_row, last_oid = state.last_record or (None, None)
        connection.execute(
            "UPDATE stream SET session = ?, size = ?, line_end = ?, row_count = ?, tail_start = ?, version1 = ?, "
            "last_row = ?, last_oid = ?, conversation = ?, verified_size = ?, probes = ?, "
            "file_size = ?, file_mtime = ?, file_ctime = ?, device = ?, inode = ?, summary = ? WHERE id = ?",
            (
                session, state.size, state.line_end, row_count + len(rows), content.tail_start, state.version1,
                last_row, last_oid, state.conversation, state.verified_size, state.probes,
                *_stat_values(state.file), state.summary, ident,
            ),
        )  # fmt: skip
        stream = self.stream(ident)
        assert stream is not None
        return stream

    def note_file(self, stream: int, file: FileStat, verified_size: int) -> None:
        """Remember what stat() says of a file whose bytes are as they were."""
        self.database.connection.execute(
            "UPDATE stream SET file_size = ?, file_mtime = ?, file_ctime = ?, device = ?, inode = ?, "
            "verified_size = max(verified_size, ?) WHERE id = ?",
            (*_stat_values(file), verified_size, stream),
        )

    # Events

    def add_event(self, event: Event) -> None:
        """Record something that happened to a source."""
        self.database.connection.execute(
            "INSERT INTO event (time, source, generation, kind, detail) VALUES (?, ?, ?, ?, ?)",
            (event.time, event.source, event.generation, event.kind, event.detail),
        )

    def events_of(self, sources: Sequence[int]) -> list[Event]:
        """Return the events of sources, oldest first."""
        marks = ",".join("?" * len(sources))
        return [
            Event(*row)
            for row in self._all(
                f"SELECT time, source, generation, kind, detail FROM event WHERE source IN ({marks}) ORDER BY id",
                *sources,
            )
        ]

    def _all(self, statement: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        with self.database.reading() as connection:
            return connection.execute(statement, values).fetchall()

    def _streams(self, condition: str, *values: object) -> list[Stream]:
        rows = self._all(f"SELECT {STREAM_COLUMNS} FROM {STREAM_TABLES} {condition}", *values)
        try:
            return [stream_of(row) for row in rows]
        except ValueError as error:
            raise StoreDamaged(self.database.where, f"a stream cannot be read: {error}") from error

    def _sources(self, condition: str, *values: object) -> list[Source]:
        rows = self._all(f"SELECT id, path, gone FROM source {condition}", *values)
        if not all(isinstance(path, bytes) for _, path, _ in rows):
            raise StoreDamaged(self.database.where, "the path of a source is no blob")
        return [Source(ident, path, bool(gone)) for ident, path, gone in rows]


def _stat_values(file: FileStat) -> tuple[int, int, int, int, int]:
    return file.size, file.mtime, file.ctime, file.device, file.inode
