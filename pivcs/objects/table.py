"""The rows of one stream as columns: what every reading command works on.

A row is a line, or an object salvaged from a glued line. Columns are packed arrays, so that a session of 400,000 lines
takes 30 MB and loads without a loop; the text of a line is read from the stream when it is shown.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from pivcs.objects.oid import DIGEST_SIZE, ObjectId
from pivcs.session.codes import FORGOTTEN, GONE, LABEL, SESSION_INFO, is_conversation
from pivcs.session.fields import SALVAGED, LineKind

NO_ROW: Final = 0xFFFFFFFF
"""Parent of a row that has none in the stream."""
NO_TIME: Final = -(1 << 63)
"""Time of a row whose timestamp is absent or unreadable."""

# Flags of a row. They are part of the store's format: never renumber, only add.
NODE: Final = 1
"""The row is a record, so it has an object id."""
POSITIONAL: Final = 2
"""The record has no id of its own; it is called by its line (`L31`, `L31.2`)."""
ORPHAN: Final = 4
"""The record names a parent that no earlier record has."""
OTHER_ID: Final = 8
"""The id is not eight lower-case hexadecimal digits and stands in `other_ids`."""
NOT_UTF8: Final = 16
TOOL_USE: Final = 32
"""An answer that stopped to call tools."""
FAILED: Final = 64
"""A tool result with an error, or an answer that failed or was aborted."""
DOUBLED: Final = 128
"""The record is the same node as that of an earlier row (a line written twice); views pass over it."""


class Table:
    """Columns of equal length, one element a row; `oid` has 32 bytes a row (zeros where the row is no node).

    Offsets are positions in the stream, lengths are without the LF, times are milliseconds since 1970. `parent` is the
    row of the node's parent, always an earlier one, or `NO_ROW`. `entry_id` holds an id of eight hexadecimal digits as
    a number. `end` is the stream position after the last complete line, `pending` the number of bytes behind it.
    """

    __slots__ = (
        "code",
        "end",
        "entry_id",
        "flags",
        "kind",
        "length",
        "offset",
        "oid",
        "other_ids",
        "parent",
        "pending",
        "salvaged",
        "time",
    )  # fmt: skip

    def __init__(self) -> None:
        self.kind = array("B")
        self.flags = array("B")
        self.code = array("B")
        self.offset = array("Q")
        self.length = array("Q")
        self.parent = array("I")
        self.time = array("q")
        self.entry_id = array("I")
        self.oid = bytearray()
        self.other_ids: dict[int, str] = {}
        self.salvaged: list[int] = []
        self.end = 0
        self.pending = 0

    def __len__(self) -> int:
        return len(self.kind)

    def extend(self, other: Table) -> None:
        """Add the rows of another table of the same stream, which go on where this one ends."""
        first = len(self)
        for name in ("kind", "flags", "code", "offset", "length", "parent", "time", "entry_id"):
            getattr(self, name).extend(getattr(other, name))
        self.oid += other.oid
        self.other_ids.update((first + row, text) for row, text in other.other_ids.items())
        self.salvaged.extend(first + row for row in other.salvaged)
        self.end, self.pending = other.end, other.pending

    def truncate(self, count: int) -> None:
        """Keep the first `count` rows only."""
        for name in ("kind", "flags", "code", "offset", "length", "parent", "time", "entry_id"):
            del getattr(self, name)[count:]
        del self.oid[count * DIGEST_SIZE :]
        del self.salvaged[bisect_left(self.salvaged, count) :]
        for row in [row for row in self.other_ids if row >= count]:
            del self.other_ids[row]

    def digest(self, row: int) -> bytes:
        """Return the digest of a node's row."""
        return bytes(self.oid[row * DIGEST_SIZE : (row + 1) * DIGEST_SIZE])

    def object_id(self, row: int) -> ObjectId:
        """Return the object id of a node's row."""
        return ObjectId(self.digest(row))

    def is_node(self, row: int) -> bool:
        """Whether the row is a record."""
        return bool(self.flags[row] & NODE)

    def nodes(self) -> Iterator[int]:
        """Yield the rows of the nodes, each once, in file order."""
        return (row for row, flags in enumerate(self.flags) if flags & (NODE | DOUBLED) == NODE)

    def last_node(self) -> int | None:
        """Return the row of the node of the last record, where pi would resume, or None."""
        for row in range(len(self) - 1, -1, -1):
            if self.flags[row] & NODE:
                return self.first_row(row)
        return None

    def first_row(self, row: int) -> int:
        """Return the row that stands for the node of `row`: the first one with its object id."""
        if not self.flags[row] & DOUBLED:
            return row
        return self.rows_with_digest_prefix(self.digest(row))[0]

    def line_number(self, row: int) -> int:
        """Return the number, from 1, of the line that a row is or was salvaged from."""
        before = bisect_left(self.salvaged, row)
        inside = before < len(self.salvaged) and self.salvaged[before] == row
        return row - before + (0 if inside else 1)

    def line_count(self) -> int:
        """Return the number of complete lines."""
        return len(self) - len(self.salvaged)

    def place_in_line(self, row: int) -> int:
        """Return which record of its line a row is, from 1."""
        place = 1
        while self.kind[row] == SALVAGED and self.kind[row - 1] == SALVAGED:
            row -= 1
            place += bool(self.flags[row] & NODE)
        return place

    def name(self, row: int, *, lines_before: int = 0) -> str:
        """Return what a row is called: the entry's own id, or `L31` and `L31.2` after its line and place there.

        `lines_before` is the number of lines of the stream that stand before the table's first.
        """
        flags = self.flags[row]
        if flags & OTHER_ID:
            return self.other_ids[row]
        if flags & NODE and not flags & POSITIONAL:
            return f"{self.entry_id[row]:08x}"
        place = self.place_in_line(row)
        return f"L{lines_before + self.line_number(row)}" + (f".{place}" if place > 1 else "")

    def parent_of(self, row: int) -> int | None:
        """Return the row of a node's parent, or None."""
        parent = self.parent[row]
        return None if parent == NO_ROW else parent

    def path(self, row: int) -> list[int]:
        """Return the rows from the root to `row`."""
        path, at = [row], self.parent[row]
        while at != NO_ROW:
            path.append(at)
            at = self.parent[at]
        path.reverse()
        return path

    def time_of(self, row: int) -> int | None:
        """Return the time of a row in milliseconds since 1970, or None."""
        time = self.time[row]
        return None if time == NO_TIME else time

    def conversation_ancestor(self, row: int) -> int | None:
        """Return `row` or its nearest ancestor that is part of the conversation, or None."""
        at = row
        while at != NO_ROW and not is_conversation(self.code[at]):
            at = self.parent[at]
        return None if at == NO_ROW else at

    def counts(self) -> dict[LineKind, int]:
        """Return how many lines are of each kind; the sum is `line_count()`."""
        return {kind: self.kind.count(kind) for kind in LineKind}

    def rows_of_kind(self, *kinds: LineKind) -> list[int]:
        """Return the rows of lines of these kinds, in file order."""
        data = self.kind.tobytes()
        return sorted(row for kind in kinds for row in _places(data, kind))

    def rows_with_code(self, code: int) -> list[int]:
        """Return the nodes with this code, in file order, without a loop over all rows."""
        return [row for row in self._records_with_code(code) if not self.flags[row] & DOUBLED]

    def _records_with_code(self, code: int) -> list[int]:
        return [row for row in _places(self.code.tobytes(), code) if self.flags[row] & NODE]

    def label_rows(self) -> Sequence[int]:
        """Return the records that set or clear labels, doubled ones too: the last line wins."""
        return self._records_with_code(LABEL)

    def name_rows(self) -> Sequence[int]:
        """Return the records that name the session, doubled ones too: the last line wins."""
        return self._records_with_code(SESSION_INFO)

    def forgotten_rows(self) -> list[int]:
        """Return the records that were forgotten, doubled ones too, in file order."""
        data = self.code.tobytes()
        return sorted((*_places(data, GONE), *_places(data, FORGOTTEN)))

    def records_with_digest(self, digest: bytes) -> list[int]:
        """Return the records with an object id, doubled ones too, in file order."""
        rows, at = [], -1
        while (at := self.oid.find(digest, at + 1)) >= 0:
            row, inside = divmod(at, DIGEST_SIZE)
            if not inside and self.flags[row] & NODE:
                rows.append(row)
        return rows

    def records_named(self, name: str) -> list[int]:
        """Return the records whose entry id is `name`, doubled ones too, in file order."""
        rows = [row for row, other in self.other_ids.items() if other == name]
        if len(name) == 8 and not name.strip("0123456789abcdef"):
            needle = array("I", [int(name, 16)]).tobytes()
            data, at = self.entry_id.tobytes(), -1
            while (at := data.find(needle, at + 1)) >= 0:
                row, inside = divmod(at, len(needle))
                if not inside and self.flags[row] & (NODE | POSITIONAL | OTHER_ID) == NODE:
                    rows.append(row)
        return rows

    def row_named(self, name: str) -> int | None:
        """Return the row of the node that an entry id names: that of the last record with it (pi format 7.5)."""
        rows = self.records_named(name)
        return self.first_row(rows[-1]) if rows else None

    def rows_with_digest_prefix(self, prefix: bytes, odd_nibble: int | None = None) -> list[int]:
        """Return the nodes whose digest begins with `prefix`, and then with the four bits `odd_nibble`, each once."""
        rows, at = [], -1
        while (at := self.oid.find(prefix, at + 1)) >= 0:
            row, inside = divmod(at, DIGEST_SIZE)
            if inside or self.flags[row] & (NODE | DOUBLED) != NODE:
                continue
            if odd_nibble is None or self.oid[at + len(prefix)] >> 4 == odd_nibble:
                rows.append(row)
        return rows


def _places(data: bytes, value: int) -> Iterator[int]:
    """Yield where a byte stands, without a loop over all bytes."""
    at = -1
    while (at := data.find(value, at + 1)) >= 0:
        yield at
