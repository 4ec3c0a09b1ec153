"""Checks the store against itself, and session files against the store. Nothing is ever written.

The bytes are the truth: they are what their hashes say or not. Everything else that is kept beside them is made again
from them and compared.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pivcs.objects.index import Indexer
from pivcs.objects.table import Table
from pivcs.ops.access import AmbiguousSession
from pivcs.ops.compare import Difference, differing_chunk, find_difference, line_at
from pivcs.ops.fsck_finding import ERROR, Finding
from pivcs.ops.locate import NoSession, looks_like_path
from pivcs.ops.masking import Guard, Mask, MaskedFile, known_masks
from pivcs.ops.oddities import oddities, rows_without_id
from pivcs.ops.prefix import probes_match
from pivcs.ops.status import status_of
from pivcs.ops.summary import Summary, SummaryDamaged, decode_summary, summarise
from pivcs.ops.view import SessionView
from pivcs.session.lines import LineReader
from pivcs.session.source import SourceNotReadable
from pivcs.store import check
from pivcs.store.check import Problem
from pivcs.store.errors import StoreDamaged
from pivcs.store.records import FileStat, Source, Stream
from pivcs.store.store import Store

Progress = Callable[[int], None]
"""Told how many bytes have been checked since the last call."""


def choose(store: Store, names: Sequence[str]) -> list[Stream]:
    """Return the streams that names are about, all generations of them: a path means what came from there, anything
    else the session whose key or id begins so. Raises `NoSession`, `AmbiguousSession`."""
    chosen: dict[int, Stream] = {}
    every = store.streams()
    for name in names:
        if looks_like_path(name):
            source = store.source_at(os.fsencode(os.path.realpath(name)))
            found = [stream for stream in every if source is not None and stream.source == source.id]
        else:
            found = [stream for stream in every if _is_called(stream, name)]
            if len({stream.session for stream in found}) > 1:
                raise AmbiguousSession(f"'{name}' names several sessions", hint="type more of it, or a path")
        if not found:
            raise NoSession(f"the store has no session '{name}'", hint="`pivcs sync` takes it in")
        chosen |= {stream.id: stream for stream in found}
    return list(chosen.values())


def _is_called(stream: Stream, name: str) -> bool:
    key, ident = (stream.session or b"").hex(), decode_summary(stream.summary).id or ""
    return bool(name) and (key.startswith(name) or ident.startswith(name))


def amount(streams: Sequence[Stream], *, sources: bool) -> int:
    """Return about how many bytes `fsck` will check."""
    return sum(stream.size for stream in streams) * (3 if sources else 2)


def damage_of(store: Store, seconds: float = 10) -> StoreDamaged | None:
    """Return the first damage that is found in a store's own file, looked for by another connection; None when there is
    none, or none could be found in the time."""
    path, started = store.database.path, time.monotonic()
    if path is None:
        return None
    try:
        with Store.open(path, read_only=True) as again, closing(fsck(again, sources=False)) as findings:
            for finding in findings:
                if finding.severity == ERROR:
                    place = f" ({finding.source})" if finding.source is not None else ""
                    what = f"{finding.id}{place}: {finding.detail}" if finding.detail else f"{finding.id}{place}"
                    return StoreDamaged(store.database.where, what)
                if time.monotonic() - started > seconds:
                    break
    except StoreDamaged as error:
        return error
    except Exception:
        pass  # what happened first is told
    return None


def fsck(
    store: Store, streams: Sequence[Stream] | None = None, *, sources: bool = True, progress: Progress = lambda _: None
) -> Generator[Finding, None, None]:
    """Yield what is found in the streams and their sources, or in the whole store; all of one moment.

    Close it before the store when it is not read to its end.
    """
    damaged = False
    with store.database.snapshot():
        whole = streams is None
        if whole:
            for problem in check.check_database(store.database):
                damaged = True
                yield Finding(problem.id, detail=problem.detail)
        try:
            checked = store.streams() if streams is None else streams
            for finding in _Check(store, checked, sources=sources, progress=progress).findings():
                damaged |= finding.severity == ERROR
                yield finding
            if whole:
                for problem in check.check_kept(store.database, progress):
                    yield Finding(problem.id, detail=problem.detail)
            if whole and store.forgotten.needs_erasure():
                yield Finding("erasure-unfinished")
            if whole and (unused := check.unused_chunks(store.database)):
                yield Finding("chunks-unused", detail=str(unused))
        except StoreDamaged as error:
            yield Finding("database-damaged", detail=error.message)
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            if not damaged:
                raise
            yield Finding("database-damaged", detail=f"the rest cannot be checked: {error}")


class _Check:
    def __init__(self, store: Store, streams: Sequence[Stream], *, sources: bool, progress: Progress) -> None:
        self._store = store
        self._streams = {stream.id: stream for stream in streams}
        self._sources = {source.id: source for source in store.sources()}
        self._latest = {stream.id for stream in store.current_streams()}
        self._with_files = sources
        self._progress = progress
        self._guard = Guard.of(store)
        self._covered: list[int] = []

    def findings(self) -> Iterator[Finding]:
        database = self._store.database
        by_stream: dict[int, list[Problem]] = {}
        for problem in check.check_chunks(database, list(self._streams.values()), self._progress):
            by_stream.setdefault(problem.stream or 0, []).append(problem)
        for stream in self._streams.values():
            problems = [*by_stream.get(stream.id, ()), *check.check_layout(database, stream)]
            try:
                yield from self._stream(stream, problems)
            except StoreDamaged as error:
                yield Finding("database-damaged", self._path(stream), stream.generation, detail=error.message)

    def _stream(self, stream: Stream, problems: list[Problem]) -> Iterator[Finding]:
        whole = all(problem.id == "chunk-changed" for problem in problems)
        view = self._read(stream) if whole else None
        rows = view.table if view is not None else self._stored_rows(stream)
        for problem in problems:
            yield self._located(problem, stream, rows)
        expected = view.table if view is not None else None
        for problem in check.check_rows(self._store.database, stream, expected):
            yield self._located(problem, stream, rows)
        if view is not None:
            yield from self._derived(stream, view)
        if stream.id not in self._latest or rows is None:
            return
        if view is not None:
            yield from self._format(stream, view)
        source = self._sources.get(stream.source)
        if self._with_files and whole and source is not None and not source.gone:
            yield from self._file(source, stream, rows)

    def _read(self, stream: Stream) -> SessionView:
        """Read a stream's bytes as if they had come from a file just now."""
        source = self._store.bytes_of(stream, checked=False)
        reader, indexer = LineReader(source), Indexer(source)
        for batch in reader.batches():
            self._progress(batch.end - batch.offset)
            indexer.add(batch)
        indexer.table.pending = reader.pending
        self._last_record = indexer.last_record
        return SessionView(
            indexer.table, self._store.bytes_of(stream, checked=False), self._path(stream), reader.version1
        )

    def _stored_rows(self, stream: Stream) -> Table | None:
        try:
            return self._store.table_of(stream)
        except StoreDamaged:
            return None

    def _derived(self, stream: Stream, view: SessionView) -> Iterator[Finding]:
        """Compare what is kept beside a stream with what its bytes say."""
        table, path, generation = view.table, self._path(stream), stream.generation
        for problem in check.check_known_ids(self._store.database, stream, table):
            yield Finding(problem.id, path, generation, detail=problem.detail)
        last = self._last_record
        conversation = table.conversation_ancestor(last[0]) if last is not None else None
        facts = {
            "end of lines": (stream.line_end, table.end),
            "number of rows": (stream.row_count, len(table)),
            "version": (stream.version1, view.version1),
            "last record": (stream.last_record, last),
            "position": (stream.conversation, conversation),
        }
        wrong = [name for name, (known, found) in facts.items() if known != found]
        if wrong:
            yield Finding("facts-differ", path, generation, detail=", ".join(wrong))
        key = view.key.digest if view.key is not None else None
        if key != stream.session:
            shown = [each.hex()[:16] if each else "none" for each in (stream.session, key)]
            yield Finding("key-differs", path, generation, detail=f"{shown[0]} is kept, it is {shown[1]}")
        try:
            known, found = decode_summary(stream.summary), summarise(view)
            names = [name for name in Summary._fields if getattr(known, name) != getattr(found, name)]
        except SummaryDamaged:
            names = ["it cannot be read"]
        if names:
            yield Finding("summary-differs", path, generation, detail=", ".join(names).replace("_", " "))
        labels = [(target, text) for _, target, text in view.label_settings()]
        if self._store.refs.label_settings(stream) != labels:
            yield Finding("labels-differ", path, generation)
        for branch in self._store.refs.branches(stream):
            if branch.row >= len(table) or table.conversation_ancestor(branch.row) != branch.row:
                yield Finding("branch-lost", path, generation, detail=branch.name)
        if not probes_match(self._store.bytes_of(stream, checked=False), stream.probes):
            yield Finding("probes-differ", path, generation)

    def _format(self, stream: Stream, view: SessionView) -> Iterator[Finding]:
        """Name what is unusual in a session file."""
        path, generation = self._path(stream), stream.generation
        table = view.table
        for row in table.forgotten_rows():
            detail = f"{table.name(row)} ({table.digest(row).hex()[:16]})"
            yield Finding("entry-forgotten", path, generation, table.line_number(row), table.offset[row], detail)
        without_id = {table.line_number(row) for row in rows_without_id(view)}
        named = set()
        for found in status_of(view).findings:
            named.add(found.kind)
            if found.kind != "foreign-line" or found.line not in without_id:
                yield Finding(found.kind, path, generation, found.line, found.offset, found.detail)
        for oddity in oddities(view):
            if oddity.kind in named:
                continue
            line, offset = table.line_number(oddity.row), table.offset[oddity.row]
            yield Finding(oddity.kind, path, generation, line, offset, str(oddity.count))

    def _file(self, source: Source, stream: Stream, rows: Table) -> Iterator[Finding]:
        """Compare a session file with what is known of it."""
        path, generation = self._path(stream), stream.generation
        if not source.is_file:
            return
        if not os.path.lexists(source.path):
            yield Finding("source-gone", path, generation)
            return
        if os.path.realpath(source.path) != source.path:
            yield Finding("source-gone", path, generation, detail="a symbolic link is there")
            return
        try:
            with MaskedFile(Path(os.fsdecode(source.path))) as file:
                status = FileStat.of(file.status)
                file.masks.add(self._masks(stream, rows, file, status.size))
                if file.masks:
                    lines = [rows.line_number(row) for row in self._covered]
                    detail = f"{len(lines)} entries" if len(lines) > 1 else ""
                    yield Finding("source-has-forgotten", path, generation, lines[0], detail=detail)
                chunk = differing_chunk(self._store, stream, file, self._progress)
                if chunk is not None:
                    difference = find_difference(self._store, stream, rows, file, status.size, chunk)
                    yield _changed(path, generation, difference, status == stream.file)
                elif status.size > stream.size:
                    detail = str(status.size - stream.size)
                    yield Finding("source-ahead", path, generation, offset=stream.size, detail=detail)
                elif status != stream.file:
                    yield Finding("source-touched", path, generation)
        except SourceNotReadable as error:
            yield Finding("source-unreadable", path, generation, detail=error.message)

    def _masks(self, stream: Stream, rows: Table, file: MaskedFile, size: int) -> list[Mask]:
        """Return what covers the forgotten records of a file, and note their rows."""
        masks: list[Mask] = []
        if self._guard:
            masks = known_masks(self._guard, rows, self._store.bytes_of(stream), file, size)
        offsets = {mask.offset for mask in masks}
        self._covered = [row for row in rows.forgotten_rows() if rows.offset[row] in offsets]
        return masks

    def _located(self, problem: Problem, stream: Stream, rows: Table | None) -> Finding:
        """Return a problem of the store as a finding, with the line that it harms."""
        line, offset = None, problem.offset
        if rows is not None and problem.row is not None and problem.row < len(rows):
            line, offset = rows.line_number(problem.row), rows.offset[problem.row]
        elif rows is not None and offset is not None:
            line = line_at(rows, offset)[0]
        return Finding(problem.id, self._path(stream), stream.generation, line, offset, problem.detail)

    def _path(self, stream: Stream) -> str:
        source = self._sources.get(stream.source)
        return os.fsdecode(source.path) if source is not None else f"stream {stream.id}"


def _changed(path: str, generation: int, found: Difference, same_stat: bool) -> Finding:
    """Return the finding for a file that is not what it was."""
    details = {
        "bytes-changed": f"{found.count} of its bytes",
        "line-changed": "",
        "line-missing": f"{found.count} missing",
        "line-inserted": f"{found.count} inserted",
        "lines-swapped": f"with line {found.other}",
        "cut": "",
    }
    parts = [details[found.kind]]
    if found.kind in ("bytes-changed", "line-changed") and found.was is not None and found.now is not None:
        parts.append(f"the first was {found.was:02x} and is {found.now:02x}")
    if same_stat:
        parts.append("size and times of the file are as they were")
    detail = "; ".join(part for part in parts if part)
    return Finding(f"source-{found.kind}", path, generation, found.line, found.offset, detail)
