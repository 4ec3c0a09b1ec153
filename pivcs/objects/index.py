"""From lines to nodes: finds each record's parent, computes its object id, fills the columns.

The rules are those of `docs/format.md`, "Nodes". An id depends only on the record and on the records above it, so it is
final as soon as the line is complete.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from pivcs.objects.hashing import NodeHasher
from pivcs.objects.oid import DIGEST_SIZE, NO_PARENT
from pivcs.objects.table import (
    DOUBLED,
    FAILED,
    NO_ROW,
    NO_TIME,
    NODE,
    NOT_UTF8,
    ORPHAN,
    OTHER_ID,
    POSITIONAL,
    TOOL_USE,
    Table,
)
from pivcs.session.codes import OTHER, code_of
from pivcs.session.fields import FieldsLike, LineKind, is_entry
from pivcs.session.lines import SALVAGED, Batch, LineReader, Row
from pivcs.session.source import ByteSource
from pivcs.session.times import parse_time

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_HEX_IDS: Final = re.compile("[0-9a-f]*").fullmatch
_BIG_ENDIAN: Final = array("I", [1]).tobytes()[0] == 0

FindEarlier = Callable[[str], Sequence[tuple[int, bytes]]]
"""Finds the records of an earlier reading that have an id: row and digest of each, in file order."""


class Indexer:
    """Adds the rows of batches to a table.

    To go on where an earlier reading ended, give the number of rows that it had (`first_row`), the row and the digest
    of its last record, and a way to find its records by id; the table then holds the new rows only.
    """

    def __init__(
        self,
        source: ByteSource,
        *,
        first_row: int = 0,
        last_record: tuple[int, bytes] | None = None,
        find_earlier: FindEarlier | None = None,
    ) -> None:
        self.table = Table()
        self._source = source
        self._first_row = first_row
        self._last = last_record
        self._find_earlier = find_earlier
        # The row that stands for the latest record of each id, and for repeated ids the first row of each digest.
        self._rows_by_id: dict[str, int] = {}
        self._repeats: dict[str, dict[bytes, int]] = {}
        self._earlier_digests: dict[int, bytes] = {}
        self._doubled: set[int] = set()
        self._hasher = NodeHasher()

    @property
    def last_record(self) -> tuple[int, bytes] | None:
        """Row and digest of the last record so far."""
        return self._last

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch, in order."""
        table, version1 = self.table, batch.version1
        first = len(table) + self._first_row
        parents = self._hash_chain(batch, first) if version1 else self._hash_tree(batch, first)
        table.parent.extend(parents)
        table.kind.extend([row.kind for row in batch.rows])
        base = batch.offset
        table.offset.extend([base + row.start for row in batch.rows])
        table.length.extend([row.end - row.start for row in batch.rows])
        table.time.extend([_time_of(row.fields) for row in batch.rows])
        table.code.extend([_code_of(row.fields) for row in batch.rows])
        self._add_flags(batch, parents)
        self._add_ids(batch.rows, first, version1=version1)
        table.end = batch.end

    def _hash_tree(self, batch: Batch, row_number: int) -> list[int]:
        """Compute the ids of a batch of a version 2 or 3 file; returns the parents' rows."""
        parents: list[int] = []
        oids, rows_by_id = self.table.oid, self._rows_by_id
        digest, data, find_earlier = self._hasher.digest, batch.data, self._find_earlier
        last, found = self._last, rows_by_id.get
        for _, start, end, fields, _ in batch.rows:
            if fields is None or fields.type == "session":
                parents.append(NO_ROW)
                oids += NO_PARENT
                row_number += 1
                continue
            entry_id, parent_id = fields.id or "", fields.parentId
            parent, parent_digest = NO_ROW, NO_PARENT
            if parent_id:
                at = found(parent_id)
                if at is None and find_earlier is not None:
                    at = self._recall(parent_id)
                if at is not None:
                    parent, parent_digest = at, self._digest(at)
            if data is not None:
                node = digest(parent_digest, data[start:end])
            else:
                node = self._long_digest(parent_digest, batch.offset + start, end - start)
            oids += node
            parents.append(parent)
            if entry_id in rows_by_id or (find_earlier is not None and self._recall(entry_id) is not None):
                rows_by_id[entry_id] = self._repeated(entry_id, row_number, node)
            else:
                rows_by_id[entry_id] = row_number
            last = (row_number, node)
            row_number += 1
        self._last = last
        return parents

    def _digest(self, row: int) -> bytes:
        """Return the digest of a row, of this reading or of an earlier one."""
        at = (row - self._first_row) * DIGEST_SIZE
        return bytes(self.table.oid[at : at + DIGEST_SIZE]) if at >= 0 else self._earlier_digests[row]

    def _recall(self, entry_id: str) -> int | None:
        """Return the row that stands for the latest record of an id in the earlier reading, and remember it."""
        records = self._find_earlier(entry_id) if self._find_earlier is not None else ()
        if not records:
            return None
        firsts: dict[bytes, int] = {}
        for row, digest in records:
            firsts.setdefault(digest, row)
        if len(firsts) > 1:
            self._repeats[entry_id] = firsts
        latest = records[-1][1]
        row = firsts[latest]
        self._earlier_digests[row] = latest
        self._rows_by_id[entry_id] = row
        return row

    def _repeated(self, entry_id: str, row: int, node: bytes) -> int:
        """Note a record whose id an earlier one has; returns the row that stands for its node."""
        firsts = self._repeats.get(entry_id)
        if firsts is None:
            earlier = self._rows_by_id[entry_id]
            firsts = self._repeats[entry_id] = {self._digest(earlier): earlier}
        first = firsts.setdefault(node, row)
        if first != row:
            self._doubled.add(row)
            if first < self._first_row:
                self._earlier_digests[first] = node
        return first

    def _hash_chain(self, batch: Batch, row_number: int) -> list[int]:
        """Compute the ids of a batch of a version 1 file, where the parent is the record before."""
        parents: list[int] = []
        oids, last = self.table.oid, self._last
        for _, start, end, fields, _ in batch.rows:
            if fields is None or fields.type == "session":
                parents.append(NO_ROW)
                oids += NO_PARENT
            else:
                parent, parent_digest = last or (NO_ROW, NO_PARENT)
                if batch.data is not None:
                    node = self._hasher.digest(parent_digest, batch.data[start:end])
                else:
                    node = self._long_digest(parent_digest, batch.offset + start, end - start)
                oids += node
                parents.append(parent)
                last = (row_number, node)
            row_number += 1
        self._last = last
        return parents

    def _long_digest(self, parent: bytes, offset: int, length: int) -> bytes:
        return self._hasher.digest_pieces(parent, self._source.iter_range(offset, length))

    def _add_flags(self, batch: Batch, parents: list[int]) -> None:
        version1, table = batch.version1, self.table
        flags = []
        for (_, _, _, fields, utf8), parent in zip(batch.rows, parents, strict=True):
            flag = 0 if utf8 else NOT_UTF8
            if fields is not None and is_entry(fields, version1=version1):
                flag |= NODE
                if version1:
                    flag |= POSITIONAL
                elif parent == NO_ROW and fields.parentId is not None:
                    flag |= ORPHAN
                if (message := fields.message) is not None:
                    stop_reason = message.stopReason
                    if stop_reason == "toolUse":
                        flag |= TOOL_USE
                    if message.isError or stop_reason in ("error", "aborted"):
                        flag |= FAILED
            flags.append(flag)
        table.flags.extend(flags)
        for row in self._doubled:
            table.flags[row - self._first_row] |= DOUBLED
        self._doubled.clear()

    def _add_ids(self, rows: list[Row], first: int, *, version1: bool) -> None:
        table = self.table
        if not version1 and all(row.kind == LineKind.ENTRY for row in rows):
            ids = [row.fields.id or "" for row in rows if row.fields is not None]
            joined = "".join(ids)
            if len(joined) == 8 * len(ids) and all(len(i) == 8 for i in ids) and _HEX_IDS(joined):
                column = array("I", bytes.fromhex(joined))
                if not _BIG_ENDIAN:
                    column.byteswap()
                table.entry_id.extend(column)
                return
        for place, row in enumerate(rows):
            number, fields = 0, row.fields
            if row.kind == SALVAGED:
                table.salvaged.append(first + place - self._first_row)
            if fields is not None and not version1 and is_entry(fields, version1=False):
                entry_id = fields.id or ""
                if len(entry_id) == 8 and _HEX_IDS(entry_id):
                    number = int(entry_id, 16)
                else:
                    at = first + place - self._first_row
                    table.flags[at] |= OTHER_ID
                    table.other_ids[at] = entry_id
            table.entry_id.append(number)


def _code_of(fields: FieldsLike | None) -> int:
    if fields is None:
        return OTHER
    return code_of(fields.type, fields.message.role if fields.message is not None else None)


def _time_of(fields: FieldsLike | None) -> int:
    if fields is None:
        return NO_TIME
    text = fields.timestamp
    # The form that pi writes, read four times as fast; the dashes rule out what only Python takes for a date.
    if len(text) == 24 and text[10] == "T" and text[7] == "-" and text[23] == "Z" and text.isascii():
        try:
            return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
        except ValueError:
            pass
    time = parse_time(text)
    return NO_TIME if time is None else time


def index_source(source: ByteSource) -> tuple[Table, LineReader]:
    """Read a whole source. Returns its table, and the reader for what it learned (version, pending bytes).

    Raises `SourceNotReadable`.
    """
    reader = LineReader(source)
    indexer = Indexer(source)
    for batch in reader.batches():
        indexer.add(batch)
    indexer.table.pending = reader.pending
    return indexer.table, reader
