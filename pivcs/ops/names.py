"""What the names of a session mean, kind by kind in the order in which they win, and which name an entry has best.

A kind gives places: rows of the session's stream, or of another stream of the same session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from pivcs.objects.oid import ObjectId
from pivcs.ops.refs import Elsewhere
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind
from pivcs.store.records import Stream

Place = tuple[Stream | None, int]
"""A row of a stream, or with None of the session's own stream."""

_HEX: Final = re.compile(r"[0-9a-f]{4,64}\Z")
_LINE: Final = re.compile(r"L([0-9]{1,18})(?:\.([0-9]{1,18}))?\Z")
_EXPLICIT: Final = {"branch": "heads/", "tag": "tags/", "label": "label:", "entry id": "entry/"}
SHORTEST: Final = 4
"""Fewest characters of an id that name it."""


class Found(NamedTuple):
    """What a text names as one kind of name: a place, or several."""

    kind: str
    places: tuple[Place, ...]


class Names:
    """The names of a session, each kind read when it is first asked for."""

    def __init__(self, view: SessionView) -> None:
        self.view = view

    @cached_property
    def branches(self) -> dict[str, int]:
        """Rows of branches by name."""
        return {branch.name: branch.row for branch in self.view.refs.branches}

    @cached_property
    def elsewhere(self) -> dict[str, Elsewhere]:
        """Branches of other streams by what they are called here."""
        return {each.name: each for each in self.view.refs.elsewhere}

    @cached_property
    def labels(self) -> dict[str, list[int]]:
        """Rows of labels by text."""
        labels: dict[str, list[int]] = {}
        for row, text in self.view.labels.items():
            labels.setdefault(text, []).append(row)
        return labels

    @cached_property
    def longest(self) -> int:
        """The number of characters of the longest name there is, with what can stand around it."""
        table = self.view.table
        known = (self.branches, self.elsewhere, self.view.refs.tags, self.labels, table.other_ids.values())
        # A quoted label can be twice as long, when all its characters are quotes.
        return 80 + 2 * max((len(name) for names in known for name in names), default=0)

    def find(self, text: str) -> Iterator[Found]:
        """Yield what a text names, the kind that wins first. A kind that it names nothing of is left out."""
        if text in ("HEAD", "@"):
            if self.view.head is not None:
                yield Found("HEAD", ((None, self.view.head),))
            kinds = [("label", self._labels)]
        else:
            kinds = [
                ("branch", self._branches),
                ("tag", self._tags),
                ("label", self._labels),
                ("entry id", self._entries),
                ("line", self._lines),
                ("beginning of the id", self._beginnings),
            ]
        for kind, look in kinds:
            rows = look(text)
            if rows:
                yield Found(kind, tuple(rows))

    def find_explicit(self, text: str) -> Found | None:
        """Return what a text names that says its kind: `heads/x`, `tags/x`, `label:"x"`, `entry/x`, `"x"`."""
        for kind, prefix in _EXPLICIT.items():
            if text.startswith(prefix):
                for name in _unquoted(text[len(prefix) :]):
                    found = self._explicit(kind, name)
                    if found is not None:
                        return found
        if len(text) > 2 and text[0] == text[-1] == '"':
            return next((found for name in _unquoted(text) for found in self.find(name)), None)
        return None

    def _explicit(self, kind: str, name: str) -> Found | None:
        looks = {"branch": [self._branches], "tag": [self._tags], "label": [self._labels]}
        for look in looks.get(kind, [self._entries, self._lines, self._beginnings]):
            places = look(name)
            if places:
                return Found(kind if look != self._beginnings else "beginning of the id", tuple(places))
        return None

    def _branches(self, text: str) -> list[Place]:
        row = self.branches.get(text)
        if row is not None:
            return [(None, row)]
        other = self.elsewhere.get(text)
        return [(other.stream, other.row)] if other is not None else []

    def _tags(self, text: str) -> list[Place]:
        oid = self.view.refs.tags.get(text)
        place = self._place_of(oid) if oid is not None else None
        return [place] if place is not None else []

    def _place_of(self, oid: ObjectId) -> Place | None:
        """Return where in the session a node is."""
        rows = self.view.table.rows_with_digest_prefix(oid.digest)
        if rows:
            return None, rows[0]
        store, stream = self.view.store, self.view.stream
        if store is None or stream is None or stream.session is None:
            return None
        for other in store.streams_of_session(stream.session):
            rows = store.table_of(other).rows_with_digest_prefix(oid.digest) if other.id != stream.id else []
            if rows:
                return other, rows[0]
        return None

    def _labels(self, text: str) -> list[Place]:
        return [(None, row) for row in self.labels.get(text, ())]

    def _entries(self, text: str) -> list[Place]:
        row = self.view.table.row_named(text)
        return [] if row is None else [(None, row)]

    def _lines(self, text: str) -> list[Place]:
        match = _LINE.match(text)
        if match is None:
            return []
        line, place = int(match[1]), int(match[2] or 1)
        table = self.view.table
        # Rows are lines but for what was salvaged, so the row is at or shortly after the line's number.
        for row in range(max(0, line - 1), min(len(table), line + len(table.salvaged) + 1)):
            if table.line_number(row) == line and table.place_in_line(row) == place:
                glued = table.kind[row] == LineKind.GLUED and row + 1 < len(table) and table.is_node(row + 1)
                return [(None, row + 1 if glued else row)]
        return []

    def _beginnings(self, text: str) -> list[Place]:
        """Return the nodes whose object id or entry id begins with a text; of a repeated id, its last record's."""
        if len(text) < SHORTEST:
            return []
        table = self.view.table
        ids = {other: row for row, other in sorted(table.other_ids.items()) if other.startswith(text)}
        rows = {table.first_row(row): None for row in ids.values()}
        if _HEX.match(text):
            even = bytes.fromhex(text[: len(text) // 2 * 2])
            odd = int(text[-1], 16) if len(text) % 2 else None
            if len(text) < 8:
                rows.update(dict.fromkeys(self._rows_with_id_beginning(text)))
            rows.update(dict.fromkeys(table.rows_with_digest_prefix(even, odd)))
        return [(None, row) for row in rows]

    def _rows_with_id_beginning(self, text: str) -> list[int]:
        table, shift, wanted = self.view.table, 4 * (8 - len(text)), int(text, 16)
        last: dict[int, int] = {}
        for row, number in enumerate(table.entry_id):
            if number >> shift == wanted and table.is_node(row) and table.name(row).startswith(text):
                last[number] = row
        return [table.first_row(row) for row in last.values()]

    def name_of(self, row: int, *, branches: bool = True) -> str:
        """Return the shortest text that means a node's row: its branch (unless `branches` is false), its entry id, the
        beginning of its object id, whichever is the first that nothing else has."""
        tips = self._branches_by_row.get(row, ()) if branches else ()
        oid = self.view.table.object_id(row).hex
        ident = self.view.table.name(row)
        beginnings = [oid[:length] for length in range(12, len(oid) + 1, 4)]
        by_length = sorted(tips, key=lambda name: (len(name), name))
        for text in (*by_length, ident, f"entry/{ident}", *beginnings, f"entry/{oid}"):
            found = self.find_explicit(text) or next(self.find(text), None)
            if found is not None and found.places == ((None, row),):
                return text
        return oid

    @cached_property
    def _branches_by_row(self) -> dict[int, list[str]]:
        by_row: dict[int, list[str]] = {}
        for name, row in self.branches.items():
            by_row.setdefault(row, []).append(name)
        return by_row


def _unquoted(text: str) -> tuple[str, ...]:
    """Return what a name that may stand in quotes can be: without them, as it is inside them, or all of it."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return (text,)
    inside = text[1:-1]
    return re.sub(r'\\(["\\])', r"\1", inside), inside, text


def quoted(text: str) -> str:
    """Return a text in quotes, as it can be typed."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
