"""The rows of a stream that grows: the old ones in the store, the new ones not there yet."""

from __future__ import annotations

from pivcs.objects.table import DOUBLED, NO_ROW, Table
from pivcs.session.codes import is_conversation
from pivcs.store.records import Stream
from pivcs.store.store import Store


class GrownRows:
    """All rows of a stream with its new ones; of the old ones no more is loaded than is asked for."""

    def __init__(self, store: Store, stream: Stream, new: Table) -> None:
        self._store = store
        self._stream = stream
        self._new = new
        self._old = store.row_finder(stream)

    def whole(self) -> Table:
        """Return all rows."""
        table = self._store.table_of(self._stream)
        table.extend(self._new)
        return table

    def at(self, row: int) -> tuple[Table, int]:
        """Return a table that has a row, and the row's place in it."""
        count = self._stream.row_count
        return (self._new, row - count) if row >= count else self._old.at(row)

    def digest(self, row: int) -> bytes:
        """Return the digest of a row."""
        table, at = self.at(row)
        return table.digest(at)

    def conversation_ancestor(self, row: int) -> int | None:
        """Return `row` or its nearest ancestor that is part of the conversation, or None."""
        while row != NO_ROW:
            table, at = self.at(row)
            if table.flags[at] & DOUBLED:
                whole = self.whole()
                return whole.conversation_ancestor(whole.first_row(row))
            if is_conversation(table.code[at]):
                return row
            row = table.parent[at]
        return None
