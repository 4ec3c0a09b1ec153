"""One session as commands see it: its rows, its bytes, and what is said about it as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pivcs.objects.hashing import headerless_key, session_key
from pivcs.objects.oid import ObjectId
from pivcs.objects.table import Table
from pivcs.ops.labels import Labels
from pivcs.session.blocks import ToolCall
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, USER
from pivcs.session.describe import subject
from pivcs.session.entries import Entry, Header
from pivcs.session.fields import LineKind
from pivcs.session.jsontext import NotJson, parse_json
from pivcs.session.jsstring import js_trim
from pivcs.session.source import ByteSource, FileSource
from pivcs.store.records import Stream
from pivcs.store.store import Store

if TYPE_CHECKING:
    from pivcs.ops.log import MadeCommit
    from pivcs.ops.refs import Refs

SHOWN_WHOLE: Final = 64 << 20
"""Records over this many bytes are not parsed to be shown."""


class SessionView:
    """The rows of one stream and access to its bytes. `where` is what people call it: a path, mostly.

    `store` and `stream` say where it comes from, when it does not come from a file that was just read.
    """

    def __init__(
        self,
        table: Table,
        source: ByteSource,
        where: str,
        version1: bool | None = None,
        store: Store | None = None,
        stream: Stream | None = None,
    ) -> None:
        self.table = table
        self.source = source
        self.where = where
        self.version1 = version1
        self.store = store
        self.stream = stream
        self.commits: Mapping[int, tuple[MadeCommit, ...]] = {}
        """Commits of git that the changes of rows went into, for logs to show; whoever wants them looks for them."""
        self._values: dict[int, object] = {}

    def __enter__(self) -> SessionView:
        return self

    def __exit__(self, *_: object) -> None:
        self.source.close()

    def record(self, row: int) -> bytes:
        """Return the bytes of a row, without the LF."""
        return self.source.read_range(self.table.offset[row], self.table.length[row])

    def iter_record(self, row: int) -> Iterator[bytes]:
        """Yield the bytes of a row in pieces."""
        return self.source.iter_range(self.table.offset[row], self.table.length[row])

    def value(self, row: int) -> object:
        """Return the parsed value of a row; None when it is no JSON or too large to be parsed for showing."""
        if self.table.length[row] > SHOWN_WHOLE:
            return None
        if row not in self._values:
            if len(self._values) >= 64:
                self._values.pop(next(iter(self._values)))
            try:
                self._values[row] = parse_json(self.record(row))
            except NotJson:
                self._values[row] = None
        return self._values[row]

    def entry(self, row: int) -> Entry:
        """Return the typed view of a record."""
        return Entry(self.value(row))

    def call_of(self, row: int) -> ToolCall | None:
        """Return the tool call that a tool result answers, looked for in the nearest answer above it."""
        message = self.entry(row).message
        call_id = message.tool_call_id if message is not None else None
        at = self.table.parent_of(row)
        while at is not None and self.table.code[at] == TOOL_RESULT:
            at = self.table.parent_of(at)
        if at is None or self.table.code[at] != ASSISTANT or call_id is None:
            return None
        answer = self.entry(at).message
        return next((call for call in answer.tool_calls() if call.id == call_id), None) if answer is not None else None

    def subject(self, row: int) -> str:
        """Return one line that says what a record is; raw text, to be made safe by whoever shows it."""
        if self.table.length[row] > SHOWN_WHOLE:
            return f"({self.table.length[row]:,} bytes)"
        return subject(self.value(row), self.call_of(row) if self.table.code[row] == TOOL_RESULT else None)

    @cached_property
    def header_row(self) -> int | None:
        """The first header line."""
        rows = self.table.rows_of_kind(LineKind.HEADER)
        return rows[0] if rows else None

    @cached_property
    def header(self) -> Header:
        """The first header; an empty one when there is none."""
        return Header({} if self.header_row is None else self.value(self.header_row))

    @cached_property
    def key(self) -> ObjectId | None:
        """The session's key; None when there is no complete line that is not blank."""
        for row in self.table.rows_of_kind(LineKind.HEADER):
            header = Header(self.value(row))
            if header.id:
                return session_key(header.id, header.timestamp or "")
        for row, kind in enumerate(self.table.kind):
            if kind != LineKind.BLANK:
                return headerless_key(self.iter_record(row))
        return None

    @cached_property
    def head(self) -> int | None:
        """The node of the last record line: where pi would resume."""
        return self.table.last_node()

    @cached_property
    def labels(self) -> Labels:
        """The labels of entries: from the store, or without one from the lines that set them."""
        if self.store is not None and self.stream is not None:
            return Labels(self.table, self.store.refs.label_settings(self.stream))
        return Labels(self.table, [(target, text) for _, target, text in self.label_settings()])

    def label_settings(self) -> Iterator[tuple[int, str, str]]:
        """Yield row, target id and text (empty to clear) of each line that sets a label, in file order."""
        for row in self.table.label_rows():
            entry = self.entry(row)
            if entry.target_id is not None:
                yield row, entry.target_id, entry.label or ""

    @cached_property
    def refs(self) -> Refs:
        """All names of the session: branches, tags, labels, HEAD."""
        from pivcs.ops.refs import refs_of

        return refs_of(self)

    @cached_property
    def name(self) -> str | None:
        """The session's name: the last `session_info` on any branch, None when empty (pi format 7.3)."""
        rows = self.table.name_rows()
        return (js_trim(self.entry(rows[-1]).name or "") or None) if rows else None

    @cached_property
    def first_prompt(self) -> str | None:
        """The first line of the first user message that has text, in file order."""
        for row in self.table.rows_with_code(USER):
            message = self.entry(row).message
            if message is not None and any(text.strip() for text in message.text_blocks()):
                return self.subject(row)
        return None

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Rows of the children of each node that has any, in file order."""
        children: dict[int, list[int]] = {}
        parents = self.table.parent
        for row in self.table.nodes():
            parent = self.table.parent_of(row)
            if parent is not None:
                children.setdefault(parents[row], []).append(row)
        return children

    def tips(self) -> list[int]:
        """Return the nodes without children, in file order."""
        return self._tips

    @cached_property
    def _tips(self) -> list[int]:
        has_child = bytearray(len(self.table) + 1)
        for parent in set(self.table.parent):
            has_child[min(parent, len(self.table))] = 1
        return [row for row in self.table.nodes() if not has_child[row]]

    def node_count(self) -> int:
        """Return the number of different nodes."""
        return sum(1 for _ in self.table.nodes())


def open_file(path: Path) -> SessionView:
    """Read a session file. Raises `SourceNotReadable`.

    The file stays open for reading as long as the view lives; it is never written.
    """
    from pivcs.objects.index import index_source

    source = FileSource(path)
    table, reader = index_source(source)
    return SessionView(table, source, str(path), reader.version1)
