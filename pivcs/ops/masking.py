"""Bytes of forgotten records, covered wherever bytes are read that might go into the store.

Nobody behind a `MaskedFile` ever sees them: comparing, hashing and storing all read the placeholder that the store has.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.objects.hashing import NodeHasher, content_digest
from pivcs.objects.oid import NO_PARENT
from pivcs.objects.placeholder import HEAD, Placeholder, make_placeholder, placeholder_of
from pivcs.objects.table import NO_TIME, NODE, POSITIONAL, Table
from pivcs.ops.view import SHOWN_WHOLE
from pivcs.session.classify import classify_line
from pivcs.session.codes import FORGOTTEN, GONE
from pivcs.session.fields import FieldsLike, LineKind
from pivcs.session.jsontext import NotJson, parse_json
from pivcs.session.source import PIECE, ByteSource, FileSource
from pivcs.session.times import format_time
from pivcs.store.forgotten import ForgottenRecord
from pivcs.store.store import Store

_OWN_KEYS: Final = ("id", "parentId")


class Mask(NamedTuple):
    """What is shown in the place of the bytes from `offset` on."""

    offset: int
    shown: Placeholder

    @property
    def end(self) -> int:
        """The position behind the last byte that is covered."""
        return self.offset + self.shown.length


class Masks:
    """Masks of a stream, applied to pieces of it."""

    def __init__(self, masks: Iterable[Mask] = ()) -> None:
        self._masks: list[Mask] = []
        self._ends: list[int] = []
        self.add(masks)

    def __bool__(self) -> bool:
        return bool(self._masks)

    def __iter__(self) -> Iterator[Mask]:
        return iter(self._masks)

    def add(self, masks: Iterable[Mask]) -> None:
        """Cover more; masks do not overlap."""
        self._masks = sorted({*self._masks, *masks})
        self._ends = [mask.end for mask in self._masks]

    def shown(self, offset: int, data: bytes) -> bytes:
        """Return a piece of the stream with what is covered replaced."""
        end = offset + len(data)
        place = bisect_right(self._ends, offset)
        if place == len(self._masks) or self._masks[place].offset >= end:
            return data
        covered = bytearray(data)
        for mask in self._masks[place:]:
            if mask.offset >= end:
                break
            first, last = max(mask.offset, offset), min(mask.end, end)
            covered[first - offset : last - offset] = mask.shown.part(first - mask.offset, last - mask.offset)
        return bytes(covered)


class MaskedFile(FileSource):
    """A file of which some bytes are never seen."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.masks = Masks()

    def __enter__(self) -> MaskedFile:
        return self

    def readinto(self, buffer: memoryview) -> int:
        """See `ByteSource`."""
        start = self._position
        count = super().readinto(buffer)
        if self.masks:
            buffer[:count] = self.masks.shown(start, bytes(buffer[:count]))
        return count

    def _pread(self, length: int, offset: int) -> bytes:
        data = super()._pread(length, offset)
        return self.masks.shown(offset, data) if self.masks else data


class MaskedSource:
    """Another source, of which some bytes are not seen; a `ByteSource`."""

    def __init__(self, source: ByteSource, masks: Masks) -> None:
        self._source = source
        self._masks = masks
        self._position = 0

    def readinto(self, buffer: memoryview) -> int:
        """See `ByteSource`."""
        count = self._source.readinto(buffer)
        buffer[:count] = self._masks.shown(self._position, bytes(buffer[:count]))
        self._position += count
        return count

    def read_range(self, offset: int, length: int) -> bytes:
        """See `ByteSource`."""
        return self._masks.shown(offset, self._source.read_range(offset, length))

    def iter_range(self, offset: int, length: int) -> Iterator[bytes]:
        """See `ByteSource`."""
        for piece in self._source.iter_range(offset, length):
            yield self._masks.shown(offset, piece)
            offset += len(piece)

    def expect(self, ranges: Iterable[tuple[int, int]]) -> None:
        """See `ByteSource`."""
        self._source.expect(ranges)

    def close(self) -> None:
        """See `ByteSource`."""
        self._source.close()


class Guard:
    """Knows what a store must not take in. Cheap where nothing was forgotten."""

    def __init__(self, records: Iterable[ForgottenRecord] = (), sessions: Iterable[bytes] = ()) -> None:
        self.sessions = frozenset(sessions)
        self._oids: set[bytes] = set()
        self._contents: dict[bytes, set[bytes | None]] = {}
        self._times: set[int] = set()
        self.add(records)

    def add(self, records: Iterable[ForgottenRecord]) -> None:
        """Learn of more records."""
        for each in records:
            self._oids.add(each.oid)
            self._times.add(NO_TIME if each.time is None else each.time)
            if each.content is not None:
                self._contents.setdefault(each.content, set()).add(each.entry_id)

    @classmethod
    def of(cls, store: Store) -> Guard:
        """Read what a store has forgotten."""
        if store.forgotten.is_empty():
            return cls()
        return cls(store.forgotten.records(), store.forgotten.sessions())

    def is_current(self, store: Store) -> bool:
        """Whether nothing else has been forgotten since, or is remembered."""
        now = Guard.of(store)
        return (now._oids, now.sessions) == (self._oids, self.sessions)

    def __bool__(self) -> bool:
        """Whether there are forgotten records."""
        return bool(self._oids)

    def has(self, digest: bytes) -> bool:
        """Whether a record with an object id is forgotten."""
        return digest in self._oids

    def may_be_in(self, source: ByteSource, start: int, end: int) -> bool:
        """Whether bytes have the time of a forgotten record, as pi writes it; True also when that cannot be told."""
        if NO_TIME in self._times:
            return True
        stamps = [format_time(time).encode() for time in self._times]
        before = b""
        for piece in source.iter_range(start, end - start):
            joined = before + piece
            if any(stamp in joined for stamp in stamps):
                return True
            before = piece[-64:]
        return False

    def rows(self, table: Table, source: ByteSource) -> list[tuple[int, ForgottenRecord]]:
        """Return the rows of records that are forgotten ones, or copies of them, and still have their bytes; each with
        what tells it from others."""
        if self._times.isdisjoint(table.time):
            return []
        found = []
        for row, time in enumerate(table.time):
            if time not in self._times or not table.flags[row] & NODE or table.code[row] in (GONE, FORGOTTEN):
                continue
            record = record_of(table, row, source)
            if record.oid in self._oids or self._has_copy(record):
                found.append((row, record))
        return found

    def _has_copy(self, record: ForgottenRecord) -> bool:
        """Whether a forgotten record says the same under the same id, or one of both has none."""
        ids = self._contents.get(record.content) if record.content is not None else None
        return ids is not None and (record.entry_id is None or None in ids or record.entry_id in ids)


def record_of(table: Table, row: int, source: ByteSource) -> ForgottenRecord:
    """Return what tells a record from others, to be remembered when it is forgotten."""
    has_id = not table.flags[row] & POSITIONAL
    entry_id = table.name(row).encode("utf-8", "surrogatepass") if has_id else None
    return ForgottenRecord(table.digest(row), table.time_of(row), entry_id, content_of(table, row, source))


def content_of(table: Table, row: int, source: ByteSource) -> bytes | None:
    """Return a digest of what a record says, whatever its own and its parent's id are; None where that cannot be told.

    A fork gives entries other parents, and a migration gives ids to those that had none.
    """
    if table.length[row] > SHOWN_WHOLE:
        return None
    try:
        value = parse_json(source.read_range(table.offset[row], table.length[row]))
    except NotJson:
        return None
    if not isinstance(value, dict):
        return None
    from pivcs.session.jsonwrite import dump_json

    said = {key: item for key, item in value.items() if key not in _OWN_KEYS}
    return content_digest(dump_json(said))


def mask_of(table: Table, row: int, source: ByteSource, *, version1: bool) -> Mask | None:
    """Return what covers a record; None when it is too short for what must stand there."""
    offset, length = table.offset[row], table.length[row]
    fields = _fields_of(source, offset, length, version1=version1)
    if fields is None:
        return None
    shown = make_placeholder(fields, table.code[row], table.digest(row), length, version1=version1)
    return Mask(offset, shown) if shown is not None else None


def _fields_of(source: ByteSource, offset: int, length: int, *, version1: bool) -> FieldsLike | None:
    """Return what the index reads of a record."""
    if length <= PIECE:
        verdict = classify_line(source.read_range(offset, length), version1=version1)
    else:
        from pivcs.session.longline import LongLine

        scanner = LongLine(version1=version1)
        for piece in source.iter_range(offset, length):
            scanner.feed(piece)
        verdict = scanner.finish()
    return verdict.records[0].fields if verdict.kind is LineKind.ENTRY else None


def known_masks(guard: Guard, table: Table, stored: ByteSource, file: ByteSource, size: int) -> list[Mask]:
    """Return what covers the records in a file of `size` bytes that are forgotten in its stream and still what they
    were. One that is not complete any more is covered as well."""
    masks = []
    hasher = NodeHasher()
    for row in table.forgotten_rows():
        offset, length = table.offset[row], table.length[row]
        mask = Mask(offset, placeholder_of(stored.read_range(offset, min(HEAD, length)), length))
        if offset >= size or not guard.has(table.digest(row)):
            continue
        parent = table.parent_of(row)
        above = table.digest(parent) if parent is not None else NO_PARENT
        if size < mask.end or hasher.digest_pieces(above, file.iter_range(offset, length)) == table.digest(row):
            masks.append(mask)
    return masks
