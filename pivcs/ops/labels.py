"""pi's labels of a session: which entries have one. Looked up an entry at a time, so that a log of twenty entries does
not look for the targets of a thousand labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from pivcs.objects.table import NODE, OTHER_ID, POSITIONAL, Table


class Labels(Mapping[int, str]):
    """Labelled rows and their labels.

    The last line wins, on whatever branch it is; an empty text clears (pi format 7.2). A repeated id is labelled at its
    last record. `settings` are target ids and texts, in file order.
    """

    def __init__(self, table: Table, settings: list[tuple[str, str]]) -> None:
        self._table = table
        self._texts: dict[str, str] = {}
        for target, text in settings:
            if text:
                self._texts[target] = text
            else:
                self._texts.pop(target, None)

    def __getitem__(self, row: int) -> str:
        text = self._texts.get(self._table.name(row)) if self._texts else None
        if text is None or self._table.flags[row] & POSITIONAL or self._table.row_named(self._table.name(row)) != row:
            raise KeyError(row)
        return text

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def _rows(self) -> list[int]:
        """The labelled rows, in the order of pi's label map."""
        table, wanted = self._table, set(self._texts)
        numbers = {int(name, 16) for name in wanted if len(name) == 8 and not name.strip("0123456789abcdef")}
        last = {name: row for row, name in table.other_ids.items() if name in wanted}
        for row, number in enumerate(table.entry_id):
            if number in numbers and table.flags[row] & (NODE | POSITIONAL | OTHER_ID) == NODE:
                last[f"{number:08x}"] = row
        return [table.first_row(last[name]) for name in self._texts if name in last]
