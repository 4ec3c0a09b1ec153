"""Trees of files that change a little from commit to commit: only directories with a change in them are made anew, each
as a delta to what it was.

A tree is never changed itself, so that commits on other branches can go on from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pivcs.gitbridge.deltas import splice_delta
from pivcs.gitbridge.objects import TREE, TREE_MODE, ObjectSink, tree_order

ID_SIZE: Final = 20

File = tuple[bytes, bytes]
"""Mode and id of a file."""
Reader = Callable[[bytes], bytes]
"""Gives the bytes of a tree by its id."""
Change = tuple[tuple[bytes, ...], File | None]
"""A path by its components, and the file that is there from now on; None removes it."""


class Tree:
    """One directory: its bytes as git has them, where in them the ids of its entries are, and its directories.

    `read` gives the bytes of a directory that is in a repository already, by its id; such a directory is read when
    something in it changes.
    """

    __slots__ = ("directories", "ident", "places", "raw", "read")

    def __init__(
        self,
        raw: bytes,
        places: dict[bytes, int],
        directories: dict[bytes, Tree],
        ident: bytes = b"",
        read: Reader | None = None,
    ) -> None:
        self.raw = raw
        self.places = places
        self.directories = directories
        self.ident = ident
        self.read = read

    def directory(self, name: bytes) -> Tree | None:
        """Return a directory in it; None when there is none of that name."""
        found = self.directories.get(name)
        if found is None and self.read is not None:
            entry = self.entry(name)
            if entry is not None and entry[0] == TREE_MODE:
                found = self.directories[name] = stored_tree(entry[1], self.read)
        return found

    def names(self) -> list[bytes]:
        """Return the names of the entries in git's order."""
        return sorted(self.places, key=self.places.__getitem__)

    def entry(self, name: bytes) -> File | None:
        """Return mode and id of an entry."""
        place = self.places.get(name)
        if place is None:
            return None
        start = place - len(name) - 2
        return self.raw[start - _mode_size(self.raw, start) : start], self.raw[place : place + ID_SIZE]


EMPTY: Final = Tree(b"", {}, {})
"""A directory without entries. git keeps none, but for the tree of a commit without files."""


def stored_tree(ident: bytes, read: Reader) -> Tree:
    """Return a directory that is in a repository. Raises what `read` raises."""
    raw = read(ident)
    places: dict[bytes, int] = {}
    at = 0
    while at < len(raw):
        space = raw.index(b" ", at)
        end = raw.index(b"\0", space)
        places[raw[space + 1 : end]] = end + 1
        at = end + 1 + ID_SIZE
    return Tree(raw, places, {}, ident, read)


def _mode_size(raw: bytes, end: int) -> int:
    """Return the length of the mode that ends at `end`: six digits, five for a directory."""
    return 6 if raw[end - 6 : end - 4] in (b"10", b"12", b"16") else 5


class _Frame:
    """A directory whose changes are being made."""

    __slots__ = ("changes", "name", "old", "waiting")

    def __init__(self, name: bytes, old: Tree, wanted: dict[bytes, object]) -> None:
        self.name = name
        self.old = old
        self.waiting = list(wanted.items())
        self.changes: dict[bytes, tuple[bytes, bytes, Tree | None] | None] = {}


def changed(writer: ObjectSink, tree: Tree, changes: Iterable[Change]) -> Tree:
    """Return a tree with some files put, replaced or removed; what is new of it is added to a pack.

    A directory that is left without files goes, too. A file takes the place of a directory and the other way round.
    Raises `NotWritten`.
    """
    stack = [_Frame(b"", tree, _nested(changes))]
    while True:
        frame = stack[-1]
        if frame.waiting:
            name, wanted = frame.waiting.pop()
            if isinstance(wanted, dict):
                stack.append(_Frame(name, frame.old.directory(name) or EMPTY, wanted))
            else:
                frame.changes[name] = (wanted[0], wanted[1], None) if wanted is not None else None  # type: ignore[index]
            continue
        made = _made(writer, frame.old, frame.changes)
        stack.pop()
        if not stack:
            return made
        if made.raw:
            stack[-1].changes[frame.name] = TREE_MODE, made.ident, made
        elif stack[-1].old.directory(frame.name) is not None:  # not a file, below which nothing could be removed
            stack[-1].changes[frame.name] = None


def _nested(changes: Iterable[Change]) -> dict[bytes, object]:
    """Return changes by the components of their paths."""
    root: dict[bytes, object] = {}
    for path, file in changes:
        at = root
        for name in path[:-1]:
            below = at.get(name)
            if not isinstance(below, dict):
                below = at[name] = {}
            at = below
        at[path[-1]] = file
    return root


def _made(writer: ObjectSink, old: Tree, changes: dict[bytes, tuple[bytes, bytes, Tree | None] | None]) -> Tree:
    """Return a directory with changed entries, after adding it to the pack."""
    directories = dict(old.directories)
    for name, change in changes.items():
        if change is not None and change[2] is not None:
            directories[name] = change[2]
        else:
            directories.pop(name, None)
    replaced = _replaced(old, changes)
    if replaced is not None:
        raw, delta = replaced
        return Tree(raw, old.places, directories, writer.add(TREE, raw, old.ident, delta), old.read)
    raw, places = _rebuilt(old, changes)
    if not old.raw:
        return Tree(raw, places, directories, writer.add(TREE, raw), old.read)
    return Tree(raw, places, directories, writer.add(TREE, raw, old.ident, _spliced(old.raw, raw)), old.read)


def _replaced(
    old: Tree, changes: dict[bytes, tuple[bytes, bytes, Tree | None] | None]
) -> tuple[bytes, bytes] | None:
    """Return the new bytes and the delta when entries only get other ids, which is the usual change; else None."""
    raw = old.raw
    first, last = len(raw), 0
    for name, change in changes.items():
        place = old.places.get(name)
        if change is None or place is None:
            return None
        mode, ident, _ = change
        start = place - len(name) - 2
        if raw[max(0, start - len(mode)) : start] != mode or _mode_size(raw, start) != len(mode):
            return None
        if len(changes) == 1:
            return (
                raw[:place] + ident + raw[place + ID_SIZE :],
                splice_delta(len(raw), place, place + ID_SIZE, ident),
            )
        raw = raw[:place] + ident + raw[place + ID_SIZE :]
        first, last = min(first, place), max(last, place + ID_SIZE)
    if not changes:
        return None
    return raw, splice_delta(len(raw), first, last, raw[first:last])


def _rebuilt(
    old: Tree, changes: dict[bytes, tuple[bytes, bytes, Tree | None] | None]
) -> tuple[bytes, dict[bytes, int]]:
    """Return the bytes of a directory and where its ids are, when entries come or go."""
    entries: dict[bytes, File] = {}
    for name in old.places:
        if name not in changes:
            file = old.entry(name)
            assert file is not None
            entries[name] = file
    for name, change in changes.items():
        if change is not None:
            entries[name] = change[0], change[1]
    out: list[bytes] = []
    places: dict[bytes, int] = {}
    at = 0
    for name in sorted(entries, key=lambda name: tree_order(entries[name][0], name)):
        mode, ident = entries[name]
        places[name] = at + len(mode) + len(name) + 2
        out += (mode, b" ", name, b"\0", ident)
        at += len(mode) + len(name) + 2 + ID_SIZE
    return b"".join(out), places


def _spliced(old: bytes, new: bytes) -> bytes:
    """Return the delta between two trees that differ in one stretch."""
    shortest = min(len(old), len(new))
    front = 0
    while front < shortest and old[front : front + 64] == new[front : front + 64]:
        front += 64
    front = min(front, shortest)
    while front < shortest and old[front] == new[front]:
        front += 1
    back = 0
    while back < shortest - front and old[-1 - back] == new[-1 - back]:
        back += 1
    return splice_delta(len(old), front, len(old) - back, new[front : len(new) - back])
