"""From lines to nodes: finds each record's parent, computes its object id, fills the columns.

The rules are those of `docs/format.md`, "Nodes". An id depends only on the record and on the records above it, so it is
final as soon as the line is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pivcs.objects import columns
from pivcs.objects.hashing import NodeHasher
from pivcs.objects.oid import DIGEST_SIZE, NO_PARENT
from pivcs.objects.placeholder import HEAD, read_placeholder
from pivcs.objects.table import DOUBLED, NO_ROW, NOT_UTF8, OTHER_ID, Table
from pivcs.session.codes import FORGOTTEN, GONE, OTHER
from pivcs.session.fields import SALVAGED
from pivcs.session.lines import Batch, LineReader, Rows
from pivcs.session.source import ByteSource

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
        self._other_ids: list[int] = []
        self._hasher = NodeHasher()

    @property
    def last_record(self) -> tuple[int, bytes] | None:
        """The row that stands for the node of the last record so far, and its digest."""
        return self._last

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch, in order."""
        table, rows = self.table, batch.rows
        codes = columns.codes(rows.fields)
        declared: dict[int, bytes] = {}
        if GONE in codes or FORGOTTEN in codes:
            codes, declared = self._declared(batch, codes)
        parents = self._hash_chain(batch, declared) if batch.version1 else self._hash_tree(batch, declared)
        self._add_ids(rows, version1=batch.version1)
        flags = columns.flags(rows.fields, parents, version1=batch.version1)
        for place in rows.not_utf8:
            flags[place] |= NOT_UTF8
        first = len(table)
        table.parent.extend(parents)
        table.kind.frombytes(rows.kinds)
        table.offset.extend([batch.offset + start for start, _ in rows.bounds])
        table.length.extend([end - start for start, end in rows.bounds])
        table.time.extend(columns.times(rows.fields))
        table.code.frombytes(codes)
        table.flags.extend(flags)
        for row in self._other_ids:
            table.flags[row] |= OTHER_ID
        for row in self._doubled:
            table.flags[row - self._first_row] |= DOUBLED
        self._other_ids.clear()
        self._doubled.clear()
        table.salvaged.extend([first + at for at, kind in enumerate(rows.kinds) if kind == SALVAGED])
        table.end = batch.end

    def _declared(self, batch: Batch, codes: bytes) -> tuple[bytes, dict[int, bytes]]:
        """Return the object ids that placeholders of forgotten records declare, by row, and the codes of the batch:
        what only calls itself forgotten is an entry like any other."""
        right, declared = bytearray(codes), {}
        first = len(self.table) + self._first_row
        for place, code in enumerate(codes):
            if code not in (GONE, FORGOTTEN):
                continue
            start, end = batch.rows.bounds[place]
            if batch.data is not None:
                record = bytes(batch.data[start:end])
                digest = read_placeholder(record[:HEAD], (record[HEAD:],))
            else:
                at, stop = batch.offset + start, batch.offset + end
                rest = self._source.iter_range(at + HEAD, max(0, stop - at - HEAD))
                digest = read_placeholder(self._source.read_range(at, min(HEAD, stop - at)), rest)
            if digest is not None:
                declared[first + place] = digest
            else:
                right[place] = OTHER
        return bytes(right), declared

    def _hash_tree(self, batch: Batch, declared: dict[int, bytes]) -> list[int]:
        """Compute the ids of a batch of a version 2 or 3 file; returns the parents' rows."""
        parents: list[int] = []
        oids, rows_by_id = self.table.oid, self._rows_by_id
        digest, data, find_earlier = self._hasher.digest, batch.data, self._find_earlier
        found = rows_by_id.get
        last_row, last_digest = self._last or (NO_ROW, NO_PARENT)
        for row, ((start, end), fields) in enumerate(
            zip(batch.rows.bounds, batch.rows.fields, strict=True), len(self.table) + self._first_row
        ):
            if fields is None or fields.type == "session":
                parents.append(NO_ROW)
                oids += NO_PARENT
                continue
            entry_id, parent_id = fields.id or "", fields.parentId
            parent, parent_digest = NO_ROW, NO_PARENT
            if parent_id:
                at = found(parent_id)
                if at is None and find_earlier is not None:
                    at = self._recall(parent_id)
                if at is not None:
                    parent, parent_digest = at, last_digest if at == last_row else self._digest(at)
            if declared and row in declared:
                node = declared[row]
            elif data is not None:
                node = digest(parent_digest, data[start:end])
            else:
                node = self._long_digest(parent_digest, batch.offset + start, end - start)
            oids += node
            parents.append(parent)
            if entry_id in rows_by_id or (find_earlier is not None and self._recall(entry_id) is not None):
                rows_by_id[entry_id] = last_row = self._repeated(entry_id, row, node)
            else:
                rows_by_id[entry_id] = last_row = row
            last_digest = node
        if last_row != NO_ROW:
            self._last = last_row, last_digest
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

    def _hash_chain(self, batch: Batch, declared: dict[int, bytes]) -> list[int]:
        """Compute the ids of a batch of a version 1 file, where the parent is the record before."""
        parents: list[int] = []
        oids, last = self.table.oid, self._last
        for row, ((start, end), fields) in enumerate(
            zip(batch.rows.bounds, batch.rows.fields, strict=True), len(self.table) + self._first_row
        ):
            if fields is None or fields.type == "session":
                parents.append(NO_ROW)
                oids += NO_PARENT
                continue
            parent, parent_digest = last or (NO_ROW, NO_PARENT)
            if row in declared:
                node = declared[row]
            elif batch.data is not None:
                node = self._hasher.digest(parent_digest, batch.data[start:end])
            else:
                node = self._long_digest(parent_digest, batch.offset + start, end - start)
            oids += node
            parents.append(parent)
            last = (row, node)
        self._last = last
        return parents

    def _long_digest(self, parent: bytes, offset: int, length: int) -> bytes:
        return self._hasher.digest_pieces(parent, self._source.iter_range(offset, length))

    def _add_ids(self, rows: Rows, *, version1: bool) -> None:
        table = self.table
        own = [None if version1 or f is None or f.type == "session" else f.id or "" for f in rows.fields]
        packed = columns.packed_ids(own) if None not in own else None  # type: ignore[arg-type]
        if packed is not None:
            table.entry_id.extend(packed)
            return
        for row, entry_id in enumerate(own, len(table)):
            number = columns.packed_ids([entry_id]) if entry_id is not None else None
            if entry_id is not None and number is None:
                table.other_ids[row] = entry_id
                self._other_ids.append(row)
            table.entry_id.append(0 if number is None else number[0])


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
