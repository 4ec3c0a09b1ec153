"""The tree of a session as pi holds it in memory (pi format 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from pivcs.session.jsstring import js_trim
from pivcs.session.siblings import sort_siblings
from pivcs.session.times import time_of

EntryId = str | None
"""An entry's id; None stands for the `undefined` that all entries without a string id share."""


class Label(NamedTuple):
    """A label's text and the timestamp of the entry that set it, as it stands there (None if it is no string)."""

    text: str
    timestamp: str | None


class Visit(NamedTuple):
    """One appearance of an entry in the tree; `again` when its children were given at an earlier appearance."""

    id: EntryId
    depth: int
    again: bool


class _NoParent:
    """A parent that cannot be in the file: null, or a value of another type than a string."""


_NONE = _NoParent()


class SessionTree:
    """The entries of a session (headers left out, migrated if need be) as a tree.

    All questions are answered by loops, never by recursion, and end for entries in circles, where pi itself would not:
    the tree of a session may be 200,000 levels deep. `entries` are the values in file order.
    """

    def __init__(self, entries: Sequence[object]) -> None:
        self.entries = tuple(entries)
        self.ids: tuple[EntryId, ...] = tuple(_id_of(value) for value in self.entries)
        # As in pi's map, a repeated id keeps its first place and stands for its last entry (7.5).
        self._index: dict[EntryId, int] = {}
        for place, ident in enumerate(self.ids):
            self._index[ident] = place
        self._parents = tuple(_parent_of(value) for value in self.entries)
        self._children: dict[EntryId, list[EntryId]] = {}
        self._roots: list[EntryId] = []
        for ident, parent in zip(self.ids, self._parents, strict=True):
            if isinstance(parent, _NoParent) or parent == ident or parent not in self._index:
                self._roots.append(ident)
            else:
                self._children.setdefault(parent, []).append(ident)
        for parent, siblings in self._children.items():
            if len(siblings) > 1:
                self._children[parent] = sort_siblings(siblings, self._time)

    def __contains__(self, ident: EntryId) -> bool:
        return ident in self._index

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def distinct_ids(self) -> tuple[EntryId, ...]:
        """The different ids in the order of their first appearance; entries without id count as one."""
        return tuple(self._index)

    @property
    def leaf(self) -> str | None:
        """The current position: the id of the last entry; None when there is no entry or it has no id (7.1, 7.6)."""
        return self.ids[-1] if self.ids else None

    @property
    def leaf_is_undefined(self) -> bool:
        """Whether the last entry has no id, so that pi has no position that it could append to (7.6)."""
        return bool(self.ids) and self.ids[-1] is None

    @property
    def roots(self) -> tuple[EntryId, ...]:
        """Entries without a parent in the file, in file order; a repeated id is there once for each such line."""
        return tuple(self._roots)

    def entry(self, ident: EntryId) -> object:
        """Return the entry of an id, the last one if the id is repeated; raise KeyError if there is none."""
        return self.entries[self._index[ident]]

    def children(self, ident: EntryId) -> tuple[EntryId, ...]:
        """Return the children as pi's tree shows them: by time, equal and unreadable times in file order (7.4)."""
        return tuple(self._children.get(ident, ()))

    def parent(self, ident: EntryId) -> str | None:
        """Return the parent's id; None for a root, an orphan and an id that is not in the file."""
        place = self._index.get(ident)
        parent = _NONE if place is None else self._parents[place]
        return parent if isinstance(parent, str) and parent in self._index else None

    def path(self, ident: EntryId) -> tuple[EntryId, ...]:
        """Return the ids from the root to an entry; the path of an orphan starts at the orphan (7.4).

        Empty for an id that is not in the file and for None. Where parents go round in a circle, which pi does not
        survive, the path starts at the last entry before one would come again.
        """
        path: list[EntryId] = []
        seen: set[EntryId] = set()
        current = ident
        while current and current in self._index and current not in seen:
            seen.add(current)
            path.append(current)
            parent = self._parents[self._index[current]]
            current = None if isinstance(parent, _NoParent) else parent
        path.reverse()
        return tuple(path)

    def leaves(self) -> tuple[EntryId, ...]:
        """Return the entries that are nobody's parent, in file order."""
        named = set(self._parents)
        return tuple(ident for ident in self._index if ident not in named)

    def walk(self) -> Iterator[Visit]:
        """Yield every appearance of every entry below the roots, depth first in pi's order.

        The children of an id are given once; a later appearance of it (7.5) says `again`. Entries of a circle hang
        below no root and are not there.
        """
        done: set[EntryId] = set()
        stack = [(ident, 0) for ident in reversed(self._roots)]
        while stack:
            ident, depth = stack.pop()
            again = ident in done
            yield Visit(ident, depth, again)
            if not again:
                done.add(ident)
                stack.extend((child, depth + 1) for child in reversed(self._children.get(ident, ())))

    @cached_property
    def labels(self) -> dict[str, Label]:
        """Target id -> label, for all targets, also those that are not in the file, in pi's order (7.2)."""
        labels: dict[str, Label] = {}
        for value in self.entries:
            if isinstance(value, dict) and value.get("type") == "label":
                target, text, stamp = value.get("targetId"), value.get("label"), value.get("timestamp")
                if not isinstance(target, str):
                    continue
                if isinstance(text, str) and text:
                    labels[target] = Label(text, stamp if isinstance(stamp, str) else None)
                else:
                    labels.pop(target, None)
        return labels

    @cached_property
    def name(self) -> str | None:
        """The session's name: that of the last session_info on any branch, None when it is empty or absent (7.3)."""
        for value in reversed(self.entries):
            if isinstance(value, dict) and value.get("type") == "session_info":
                name = value.get("name")
                return (js_trim(name) or None) if isinstance(name, str) else None
        return None

    def _time(self, ident: EntryId) -> int | None:
        value = self.entries[self._index[ident]]
        return time_of(value["timestamp"]) if isinstance(value, dict) and "timestamp" in value else None


def _id_of(value: object) -> EntryId:
    ident = value.get("id") if isinstance(value, dict) else None
    return ident if isinstance(ident, str) else None


def _parent_of(value: object) -> EntryId | _NoParent:
    """Return the parent's id: None for a missing key, which is the id of the entries that have none."""
    if not isinstance(value, dict) or "parentId" not in value:
        return None
    parent = value["parentId"]
    return parent if isinstance(parent, str) else _NONE
