"""Entries that stand in more than one session: forks, clones and migrated files copy them, and they count once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pivcs.objects.table import NO_TIME, OTHER_ID, POSITIONAL, Table
from pivcs.ops.view import SessionView
from pivcs.session.codes import ROLES
from pivcs.session.listitem import read_header
from pivcs.session.times import parse_time


class Copies:
    """Remembers the entries of sessions, about 70 bytes for each.

    A copy has entry id, time and type of the entry that it is a copy of; the same object id implies these. Entries
    without an id of their own (version 1) are copies by object id, and a migrated file has them by place, time and type
    under the same header. Such a file must come after the one that it was made from (`parents_first`).
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._placed: dict[bytes, set[int]] = {}

    def of(self, view: SessionView) -> bytearray:
        """Return 1 for each row that is an entry of an earlier session, and remember the others."""
        table, known, copied = view.table, self._known, bytearray(len(view.table))
        key = view.key.digest if view.key is not None else b""
        placed = self._placed.get(key)
        new: set[int] = set()
        positional: set[int] = set()
        for place, row in enumerate(table.nodes()):
            mark = mark_of(table, row)
            at_place = _place_of(table, row, place)
            if mark in known or (placed is not None and at_place in placed):
                copied[row] = 1
            new.add(mark)  # of a copy by place, too: that may be copied on
            if table.flags[row] & POSITIONAL:
                positional.add(at_place)
        known |= new
        if positional:
            self._placed.setdefault(key, set()).update(positional)
        return copied


def mark_of(table: Table, row: int) -> int:
    """Return a number that an entry and its copies in other files have in common; two other entries share one once in
    2^61 pairs. It holds for this process only."""
    flags = table.flags[row]
    if flags & POSITIONAL:
        return hash(table.digest(row))
    name: object = table.other_ids[row] if flags & OTHER_ID else table.entry_id[row]
    if table.time[row] == NO_TIME:  # too little to tell it by
        return hash(table.digest(row))
    return hash((name, table.time[row], _code(table, row)))


def _place_of(table: Table, row: int, place: int) -> int:
    return hash((place, table.time[row], _code(table, row)))


def _code(table: Table, row: int) -> int:
    """Return the code that an entry has after a migration: version 3 renamed a role."""
    code = table.code[row]
    return ROLES["custom"] if code == ROLES["hookMessage"] else code


def parents_first(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield session files so that one comes after those that it may be a copy of: by the time of the header, version 1
    before what it was migrated to. Files without a header, and those that are gone, come last."""
    aged = []
    for path in paths:
        header = read_header(path) or {}
        version, stamp = header.get("version"), header.get("timestamp")
        time = parse_time(stamp) if isinstance(stamp, str) else None
        aged.append((time is None, time or 0, version is not None, path.name, path))
    return (item[-1] for item in sorted(aged))
