"""The same entry in another stream: by object id, and where ids differ because something above it does, by what the
entry says of itself (`docs/format.md`, "Relatives")."""

from __future__ import annotations

from pivcs.objects.table import NODE, POSITIONAL, Table
from pivcs.ops.view import SessionView
from pivcs.session.codes import ROLES


def find_relative(view: SessionView, row: int, other: SessionView) -> int | None:
    """Return the row in `other` that is the same entry as `row` of `view`, or None.

    First by object id; then by entry id, type and time; for records without an id of their own, as in version 1, by
    their place among the records, type, time and message.
    """
    table, there = view.table, other.table
    same = there.rows_with_digest_prefix(table.digest(row))
    if same:
        return same[0]
    if table.flags[row] & POSITIONAL:
        return _by_place(view, row, other)
    for candidate in reversed(there.records_named(table.name(row))):
        if _alike(table, row, there, candidate):
            return there.first_row(candidate)
    return None


def are_relatives(view: SessionView, row: int, other: SessionView, candidate: int) -> bool:
    """Whether two entries that stand at the same place of their paths are the same one.

    They are of one type and time; beyond that they have the same entry id, or where one has no id of its own (version
    1), say the same.
    """
    table, there = view.table, other.table
    if _migrated(table.code[row]) != _migrated(there.code[candidate]) or table.time[row] != there.time[candidate]:
        return False
    if (table.flags[row] | there.flags[candidate]) & POSITIONAL:
        return _says(view, row) == _says(other, candidate)
    return table.name(row) == there.name(candidate)


def _migrated(code: int) -> int:
    """Return the code that an entry has after a migration: version 3 renamed a role."""
    return ROLES["custom"] if code == ROLES["hookMessage"] else code


def _alike(table: Table, row: int, other: Table, candidate: int) -> bool:
    return table.code[row] == other.code[candidate] and table.time[row] == other.time[candidate]


def _by_place(view: SessionView, row: int, other: SessionView) -> int | None:
    """Return the record at the same place, if it says the same: a migration keeps order, types, times and messages."""
    place = sum(1 for flags in view.table.flags[:row] if flags & NODE)
    for candidate, flags in enumerate(other.table.flags):
        if not flags & NODE:
            continue
        if not place:
            alike = _alike(view.table, row, other.table, candidate)
            return candidate if alike and _says(view, row) == _says(other, candidate) else None
        place -= 1
    return None


def _says(view: SessionView, row: int) -> object:
    """Return what a migration keeps of an entry: its message without the role, which version 3 renamed."""
    fields = view.entry(row).fields
    message = fields.get("message")
    if isinstance(message, dict):
        return {key: value for key, value in message.items() if key != "role"}
    kept = ("parentId", "id", "firstKeptEntryIndex", "firstKeptEntryId")
    return {key: value for key, value in fields.items() if key not in kept}
