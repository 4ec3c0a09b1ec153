"""What the scanner of JSON keeps: the fields of some of the objects that it passes.

An object is *marked* when its fields are wanted. While it is open its fields stand in a node, and those of its
`message` in another. Which of two equal keys counts and what a value of another type means is left to `fields_of`.
"""

from __future__ import annotations

from typing import Final

from pivcs.session.fields import Fields, fields_of
from pivcs.session.jsontext import parse_json

Closed = tuple[int, int, Fields]
"""Where an object begins and ends, and its fields."""

_TEXTS = frozenset(("type", "id", "parentId", "timestamp", "role", "stopReason"))
_NAMES = _TEXTS | {"isError", "message"}
_LONGEST_NAME: Final = 60
"""No name of ours is longer, even with all its letters escaped."""

_MOST_MARKED: Final = 256
_OTHER: Final = 0
"""Stands for a value whose type no field has."""


class _Node:
    """An open object with `level` containers around it."""

    __slots__ = ("level", "marked", "start", "values")

    def __init__(self, level: int, start: int, *, marked: bool) -> None:
        self.level, self.start, self.marked = level, start, marked
        self.values: dict[str, object] = {}


class Capture:
    """Told of every key, value and end of an object in order; `level` is the number of containers around it.

    Marked are the first object and those that begin right after `mark`; of marked objects inside one another only the
    outer 256, so that memory stays bounded.
    """

    __slots__ = ("_in_key", "_mark", "_marked", "_name", "_nodes", "_raw")

    def __init__(self) -> None:
        self._nodes: list[_Node] = []
        self._marked = 0
        self._mark = True
        self._name: str | None = None
        self._in_key = False
        self._raw: bytearray | None = None

    def mark(self) -> None:
        """Mark the object that begins next."""
        self._mark = self._marked < _MOST_MARKED

    def wanted(self, level: int) -> bool:
        """Whether members at this level are kept."""
        return bool(self._nodes) and self._nodes[-1].level == level - 1

    def passes(self) -> bool:
        """Whether nothing is kept of the list or object that begins next."""
        return not self._mark and self._name != "message"

    def begin_key(self, level: int) -> None:
        """A key begins; its bytes follow."""
        self._in_key = True
        self._raw = bytearray() if self.wanted(level) else None

    def add_text(self, data: bytes) -> None:
        """Take bytes of the open key or string, escapes as they are spelled."""
        if self._raw is not None:
            self._raw += data
            if self._in_key and len(self._raw) > _LONGEST_NAME:
                self._raw = None

    def end_key(self) -> None:
        """The key is whole; its value follows."""
        self._in_key = False
        name = self._take_text()
        self._name = name if name in _NAMES else None

    def begin_text(self) -> None:
        """A string begins as value; its bytes follow."""
        self._mark = False
        if self._name is not None:
            self._nodes[-1].values[self._name] = _OTHER
            if self._name in _TEXTS:
                self._raw = bytearray()

    def end_text(self) -> None:
        """The string is whole."""
        text = self._take_text()
        if text is not None and self._name is not None:
            self._nodes[-1].values[self._name] = text
        self._name = None

    def value(self, value: object = _OTHER) -> None:
        """Take a literal, or pass a value without interest."""
        self._mark = False
        if self._name is not None:
            self._nodes[-1].values[self._name] = value
            self._name = None

    def begin_object(self, level: int, start: int) -> None:
        """An object begins as value at position `start`."""
        marked, name = self._mark, self._name
        outer = self._nodes[-1] if self._nodes else None
        self.value()
        is_message = name == "message" and outer is not None and outer.marked
        if marked or is_message:
            node = _Node(level, start, marked=marked)
            self._nodes.append(node)
            self._marked += marked
            if is_message and outer is not None:
                outer.values["message"] = node.values

    def end_container(self, level: int, end: int) -> Closed | None:
        """A list or an object ends before position `end`. Returns a marked object."""
        if not self._nodes or self._nodes[-1].level != level:
            return None
        node = self._nodes.pop()
        if not node.marked:
            return None
        self._marked -= 1
        return node.start, end, fields_of(node.values)

    def _take_text(self) -> str | None:
        raw, self._raw = self._raw, None
        return None if raw is None else str(parse_json(b'"' + raw + b'"'))
