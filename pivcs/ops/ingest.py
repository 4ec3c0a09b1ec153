"""Reading new bytes of a session file into the store: bytes to chunks, lines to rows.

A small piece is read once and used for both. For a large one a child process reads the lines while this one cuts,
compresses and writes the bytes: each takes about as long as the other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

from pivcs.errors import StateError
from pivcs.objects.index import Indexer
from pivcs.objects.table import Table
from pivcs.session.lines import LineReader
from pivcs.session.source import ByteSource, BytesSource, FileSource
from pivcs.store.content import ContentWriter
from pivcs.store.records import Stream
from pivcs.store.segments import append_segment, encode_segment
from pivcs.store.store import Store

IN_MEMORY: Final = 8 << 20
"""Up to this many bytes are read at once."""
_BATCH_ROWS: Final = 4096

Progress = Callable[[int], None]
"""Told how many bytes have been read so far."""


class SourceChanging(StateError):
    """A file is rewritten faster than it can be read."""

    def __init__(self, path: str) -> None:
        super().__init__(f"'{path}' changes while it is read", hint="try again when the program that writes it is done")


@dataclass(slots=True)
class Ingested:
    """What was read: bytes waiting in `content`, and the new rows. `apart`: the rows were read by another process,
    perhaps before the bytes were."""

    content: ContentWriter
    rows: Table
    version1: bool | None
    last_record: tuple[int, bytes] | None
    apart: bool = False


def ingest(store: Store, stream: Stream | None, file: FileSource, size: int, progress: Progress | None) -> Ingested:
    """Read a file up to `size`: all of it, or what lies behind the bytes of `stream`. Raises `SourceNotReadable`."""
    start = stream.size if stream is not None else 0
    line_start = stream.line_end if stream is not None else 0
    content = store.writer(stream)
    file.end = size
    file.seek(0)
    if size - start <= IN_MEMORY:
        data = file.read_range(start, size - start)
        content.add(data)
        if progress is not None:
            progress(size)
        if b"\n" not in data:  # a line that was pending still is
            last = stream.last_record if stream is not None else None
            return Ingested(content, _no_rows(line_start), stream.version1 if stream is not None else None, last)
        if size - line_start <= IN_MEMORY:
            if stream is not None and start > line_start:
                data = store.bytes_of(stream).read_range(line_start, start - line_start) + data
            return _rows(store, stream, _Shifted(data, line_start), content)
    elif stream is None and (read := _side_by_side(file, size, content, progress)) is not None:
        return read
    else:
        _copy(file, start, size, content, progress)
    file.seek(line_start)
    return _rows(store, stream, file, content)


def index_new(store: Store, stream: Stream | None, file: FileSource, size: int) -> Ingested:
    """Read the rows of what is new in a file up to `size`, and keep nothing. Raises `SourceNotReadable`."""
    file.end = size
    file.seek(stream.line_end if stream is not None else 0)
    return _rows(store, stream, file, store.writer(stream))


def read_rows_again(read: Ingested, file: FileSource) -> Ingested:
    """Read the rows of a whole file once more, in this process. Raises `SourceNotReadable`."""
    file.seek(0)
    reader, indexer = LineReader(file), Indexer(file)
    for batch in reader.batches():
        indexer.add(batch)
    return Ingested(read.content, indexer.table, reader.version1, indexer.last_record)


def _no_rows(end: int) -> Table:
    table = Table()
    table.end = end
    return table


def _rows(store: Store, stream: Stream | None, source: ByteSource, content: ContentWriter) -> Ingested:
    if stream is None:
        reader, indexer = LineReader(source), Indexer(source)
    else:
        reader = LineReader(source, stream.line_end, stream.version1)
        indexer = Indexer(
            source,
            first_row=stream.row_count,
            last_record=stream.last_record,
            find_earlier=store.finder(stream),
        )
    indexer.table.end = reader.offset
    for batch in reader.batches():
        indexer.add(batch)
    return Ingested(content, indexer.table, reader.version1, indexer.last_record)


def _copy(file: FileSource, start: int, size: int, content: ContentWriter, progress: Progress | None) -> None:
    done = start
    for piece in file.iter_range(start, size - start):
        content.add(piece)
        done += len(piece)
        if progress is not None:
            progress(done)


class _Shifted(BytesSource):
    """Bytes in memory that stand at a position of a stream."""

    def __init__(self, data: bytes, offset: int) -> None:
        super().__init__(data)
        self._offset = offset

    def read_range(self, offset: int, length: int) -> bytes:
        return super().read_range(offset - self._offset, length)

    def iter_range(self, offset: int, length: int):  # type: ignore[no-untyped-def]
        return super().iter_range(offset - self._offset, length)


def _side_by_side(
    file: FileSource, size: int, content: ContentWriter, progress: Progress | None
) -> Ingested | None:
    """Let a child index the file while this process stores its bytes. The child touches neither store nor terminal.

    Returns None, having done nothing, where there can be no child.
    """
    if not hasattr(os, "fork"):
        return None
    import tempfile

    with tempfile.TemporaryFile() as result:
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            child = os.fork()
        except OSError:  # too many processes, or no memory for one more
            return None
        if not child:
            code = 1
            try:
                _index_to(file, result.fileno())
                code = 0
            finally:
                os._exit(code)
        status = -1
        try:
            content.use_thread()
            _copy(file, 0, size, content, progress)
        finally:
            _, status = os.waitpid(child, 0)
        if status != 0:
            # Whatever went wrong there will go wrong here, with a message.
            return read_rows_again(Ingested(content, _no_rows(0), None, None), file)
        result.seek(0)
        return _read_result(result, content)


def _index_to(file: FileSource, target: int) -> None:
    """Write the rows of a file for `_read_result`. The path is not opened again: another file may be there by now."""
    import gc

    gc.disable()
    with open(target, "wb", closefd=False) as result:
        reader, indexer = LineReader(file), Indexer(file)
        for batch in reader.batches():
            indexer.add(batch)
        table, last = indexer.table, indexer.last_record
        version1 = {None: 0, False: 1, True: 2}[reader.version1]
        result.write(bytes((version1,)) + table.end.to_bytes(8, "little"))
        result.write((last[0] + 1 if last else 0).to_bytes(8, "little") + (last[1] if last else bytes(32)))
        for start in range(0, len(table), _BATCH_ROWS):
            stop = min(len(table), start + _BATCH_ROWS)
            data = encode_segment(table, start, stop)
            result.write((stop - start).to_bytes(4, "little") + len(data).to_bytes(8, "little") + data)


def _read_result(result: IO[bytes], content: ContentWriter) -> Ingested:
    table = Table()
    version1 = {0: None, 1: False, 2: True}[result.read(1)[0]]
    table.end = int.from_bytes(result.read(8), "little")
    last, digest = int.from_bytes(result.read(8), "little"), result.read(32)
    last_record = (last - 1, digest) if last else None
    while head := result.read(12):
        append_segment(table, result.read(int.from_bytes(head[4:], "little")), int.from_bytes(head[:4], "little"))
    return Ingested(content, table, version1, last_record, apart=True)
