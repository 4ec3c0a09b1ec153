"""The labels of a session: pi's own marks on entries (pi format 7.2)."""

from __future__ import annotations

from typing import NamedTuple

from pivcs.ops.view import SessionView


class ListedLabel(NamedTuple):
    """A label on an entry's row; `time` is when it was set, in milliseconds since 1970."""

    text: str
    row: int
    time: int | None


def list_labels(view: SessionView) -> list[ListedLabel]:
    """Return the labels in the order of their entries in the file."""
    times: dict[int | None, int | None] = {}
    for row in view.table.label_rows():
        target = view.entry(row).target_id
        times[view.table.row_named(target) if target is not None else None] = view.table.time_of(row)
    return [ListedLabel(text, row, times.get(row)) for row, text in sorted(view.labels.items())]
