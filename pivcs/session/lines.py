"""A stream of bytes as lines: what each one is, in batches, with memory that does not grow with the stream.

Lines end at LF and nothing else (pi format 2.3). A last line without LF is *pending*: no line yet. The result does not
depend on the sizes in which the source gives its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pivcs.session.classify import classify_line
from pivcs.session.fields import SALVAGED, FieldsLike, LineKind, Verdict
from pivcs.session.jsontext import parse_json
from pivcs.session.longline import LongLine
from pivcs.session.migrations import version_of
from pivcs.session.source import ByteSource

LONG_LINE: Final = 16 << 20
"""Lines of this many bytes and more are never held whole."""

_FIRST_BUFFER: Final = 1 << 20
_BULK_FROM: Final = 4 << 20
"""Bytes after which the bulk decoder pays for its import (45 ms)."""

Bounds = list[tuple[int, int]]


@dataclass(slots=True)
class Rows:
    """Lines, and the objects salvaged from glued ones, in order, as columns.

    `kinds` has a `LineKind` or `SALVAGED` for each, `bounds` its start and end (without LF) relative to the batch,
    `fields` what was read of the object, None where there is none. `not_utf8` names the places that are not UTF-8.
    """

    kinds: bytearray = field(default_factory=bytearray)
    bounds: list[tuple[int, int]] = field(default_factory=list)
    fields: list[FieldsLike | None] = field(default_factory=list)
    not_utf8: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.kinds)

    def add(self, verdict: Verdict, start: int, stop: int) -> None:
        """Add the row of one line, and of what was salvaged from it."""
        whole = verdict.kind in (LineKind.ENTRY, LineKind.HEADER)
        self._append(verdict.kind, (start, stop), verdict.records[0].fields if whole else None, verdict.utf8)
        if not whole:
            for record in verdict.records:
                self._append(SALVAGED, (start + record.start, start + record.end), record.fields, verdict.utf8)

    def _append(self, kind: int, bounds: tuple[int, int], fields: FieldsLike | None, utf8: bool) -> None:
        if not utf8:
            self.not_utf8.add(len(self.kinds))
        self.kinds.append(kind)
        self.bounds.append(bounds)
        self.fields.append(fields)


@dataclass(slots=True)
class Batch:
    """Rows of consecutive complete lines, all read by the same rule (`version1`: every object is an entry).

    `data` holds bytes from stream position `offset` on and is reused for the next batch; it is None for a batch of one
    long line, whose bytes are to be read again from the source. `end` is the stream position after the last LF.
    """

    offset: int
    end: int
    data: memoryview | None
    rows: Rows
    version1: bool


@dataclass(slots=True)
class LineReader:
    """Reads a source once. After the iteration `offset` is the end of the last complete line and `pending` the number
    of bytes behind it.

    `version1` is None until the first header line is seen; give it, and `offset`, to go on where an earlier reading
    ended.
    """

    source: ByteSource
    offset: int = 0
    version1: bool | None = None
    pending: int = field(default=0, init=False)

    def batches(self) -> Iterator[Batch]:
        """Yield the rows of all complete lines in order. Raises `SourceNotReadable`."""
        first, buffer, have = self.offset, bytearray(_FIRST_BUFFER), 0
        while True:
            with memoryview(buffer) as view:
                count = self.source.readinto(view[have:])
            if not count:
                self.pending = have
                return
            end = buffer.rfind(b"\n", have, have + count) + 1
            have += count
            if not end and have == len(buffer):
                if have < LONG_LINE:
                    buffer.extend(bytes(have))
                    continue
                batch, rest = self._long_line(have)
                if batch is None:
                    return
                yield batch
                buffer, have = bytearray(rest.ljust(_FIRST_BUFFER, b"\0")), len(rest)
                end = buffer.rfind(b"\n", 0, have) + 1
            if not end:
                continue
            bulk = self.offset - first + end > _BULK_FROM
            for rows, stop, version1 in self._split(buffer, end, bulk=bulk):
                with memoryview(buffer) as view, view[:end] as data:
                    yield Batch(self.offset, self.offset + stop, data, rows, version1)
            self.offset += end
            have -= end
            buffer[:have] = buffer[end : end + have]

    def _split(self, buffer: bytearray, end: int, *, bulk: bool) -> Iterator[tuple[Rows, int, bool]]:
        """Yield the rows of `buffer[:end]`, where they end, and their rule; in two parts around the first header."""
        bounds, start, find = [], 0, buffer.find
        while start < end:
            stop = find(b"\n", start, end)
            bounds.append((start, stop))
            start = stop + 1
        if self.version1 is None:
            rows, done = self._until_header(buffer, bounds)
            yield rows, bounds[done - 1][1] + 1, False
            bounds = bounds[done:]
        if bounds:
            version1 = bool(self.version1)
            yield self._rows(buffer, bounds, version1=version1, bulk=bulk), end, version1

    def _until_header(self, buffer: bytearray, bounds: Bounds) -> tuple[Rows, int]:
        """Read lines up to and with the first header; returns their rows and the number of lines."""
        rows = Rows()
        for done, (start, stop) in enumerate(bounds, 1):
            line = bytes(buffer[start:stop])
            verdict = classify_line(line, version1=False)
            rows.add(verdict, start, stop)
            if verdict.kind is LineKind.HEADER:
                self.version1 = _states_version1(line)
                return rows, done
        return rows, len(bounds)

    def _rows(self, buffer: bytearray, bounds: Bounds, *, version1: bool, bulk: bool) -> Rows:
        if bulk:
            from pivcs.session.bulk import decode_block

            decoded = decode_block(buffer, bounds, version1=version1)
            if decoded is not None:
                return Rows(bytearray((LineKind.ENTRY,)) * len(bounds), bounds, decoded)
        rows = Rows()
        for start, stop in bounds:
            rows.add(classify_line(bytes(buffer[start:stop]), version1=version1), start, stop)
        return rows

    def _long_line(self, have: int) -> tuple[Batch | None, bytes]:
        """Read the line that begins at `offset` and of which `have` bytes were read without finding its end.

        Returns its batch (None when it never ends) and what was read beyond its LF.
        """
        length, rest = have, b""
        piece = bytearray(_FIRST_BUFFER)
        while True:
            with memoryview(piece) as view:
                count = self.source.readinto(view)
            if not count:
                self.pending = length
                return None, b""
            at = piece.find(b"\n", 0, count)
            length += at if at >= 0 else count
            if at >= 0:
                rest = bytes(piece[at + 1 : count])
                break
        version1 = bool(self.version1)
        scanner = LongLine(version1=version1)
        for part in self.source.iter_range(self.offset, length):
            scanner.feed(part)
        verdict = scanner.finish()
        if verdict.kind is LineKind.HEADER and self.version1 is None:
            self.version1 = _states_version1(self.source.read_range(self.offset, length))
        rows = Rows()
        rows.add(verdict, 0, length)
        batch = Batch(self.offset, self.offset + length + 1, None, rows, version1)
        self.offset = batch.end
        return batch, rest


def _states_version1(header_line: bytes) -> bool:
    header = parse_json(header_line)
    return isinstance(header, dict) and version_of(header) < 2
