"""The entries of a session in memory, growing: what pi's session manager holds (pi format 7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pivcs.session.jsonwrite import UNDEFINED, Undefined
from pivcs.session.jsstring import js_trim
from pivcs.session.tree import EntryId, Label, SessionTree
from pivcs.session.values import is_header_value

Object = dict[str, object]
Leaf = str | None | Undefined
"""A position: an entry's id, None before all entries, UNDEFINED at a last entry without id (7.6)."""

CONVERSATION_ROLES: Final = ("user", "assistant")
"""Roles of the messages with which a new session's file appears (10.1)."""


class SessionState:
    """Entries in file order with the answers that must not cost a walk over all of them.

    `values` are all kept values, headers among them, as a rewritten file would hold them.
    """

    def __init__(self, values: Iterable[object]) -> None:
        self.values: list[object] = []
        self.entries: list[object] = []
        self.leaf: Leaf = None
        self.name: str | None = None
        self.labels: dict[str, Label] = {}
        self.has_conversation = False
        self._by_id: dict[EntryId, object] = {}
        self._tree: SessionTree | None = None
        for value in values:
            self.add(value)

    @property
    def header(self) -> Object:
        """The first header."""
        return next(value for value in self.values if isinstance(value, dict) and value.get("type") == "session")

    def add(self, value: object, *, move: bool = True) -> None:
        """Take the next value of the file; with `move` an entry becomes the position."""
        self.values.append(value)
        if is_header_value(value):
            return
        fields = value if isinstance(value, dict) else {}
        ident = fields.get("id")
        ident = ident if isinstance(ident, str) else None
        self.entries.append(value)
        self._by_id[ident] = value
        self._tree = None
        if move:
            self.leaf = UNDEFINED if ident is None else ident
        kind = fields.get("type")
        if kind == "label":
            self._set_label(fields)
        elif kind == "session_info":
            name = fields.get("name")
            self.name = (js_trim(name) or None) if isinstance(name, str) else None
        elif kind == "message" and isinstance(message := fields.get("message"), dict):
            self.has_conversation |= message.get("role") in CONVERSATION_ROLES

    def __contains__(self, ident: object) -> bool:
        return isinstance(ident, str) and ident in self._by_id

    def get(self, ident: EntryId) -> object:
        """Return the entry of an id, the last one if it is repeated; None if there is none."""
        return None if ident is None else self._by_id.get(ident)

    def count(self) -> int:
        """Return the number of different ids."""
        return len(self._by_id)

    def path(self, leaf: Leaf) -> list[object]:
        """Return the entries from the root to a position: none for None, and from the last entry for UNDEFINED.

        Where parents go round in a circle, which pi does not survive, the path starts before one would come again.
        """
        current: object = None
        if leaf is UNDEFINED:
            current = self.entries[-1] if self.entries else None
        elif isinstance(leaf, str):
            current = self._by_id.get(leaf)
        path: list[object] = []
        seen: set[int] = set()
        while current is not None and id(current) not in seen:
            seen.add(id(current))
            path.append(current)
            parent = current.get("parentId") if isinstance(current, dict) else None
            current = self._by_id.get(parent) if isinstance(parent, str) and parent else None
        path.reverse()
        return path

    def children(self, ident: str | None) -> list[object]:
        """Return the entries whose `parentId` is this id, or null for None, in file order over different ids (7.4)."""
        return [
            value
            for value in self._by_id.values()
            if isinstance(value, dict) and "parentId" in value and value["parentId"] == ident
        ]

    def tree(self) -> SessionTree:
        """Return the whole tree; it is made anew after entries were added."""
        if self._tree is None:
            self._tree = SessionTree(self.entries)
        return self._tree

    def _set_label(self, fields: Object) -> None:
        target, text, stamp = fields.get("targetId"), fields.get("label"), fields.get("timestamp")
        if not isinstance(target, str):
            return
        if isinstance(text, str) and text:
            self.labels[target] = Label(text, stamp if isinstance(stamp, str) else None)
        else:
            self.labels.pop(target, None)
