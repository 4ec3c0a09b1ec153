"""The tree of git's notes: a file for each commit, called by its id, that is cut into directories when there are many.

git takes any such cutting (`git notes`, "fanout"). Only directories on the way to a change are read and written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pivcs.gitbridge.base import TreeEntries, read_object, tree_entries
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.objects import TREE, object_id, tree_bytes
from pivcs.gitbridge.packs import NotWritten, PackWriter
from pivcs.gitbridge.repository import Repository

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

MOST: Final = 256
"""Notes that one directory has before it is cut."""
FEW: Final = 100
"""Objects that are written each to a file of its own; more of them go into a pack."""
_DIRECTORY: Final = 0o40000
_FILE: Final = 0o100644
_TWO: Final = re.compile(rb"[0-9a-f]{2}")
_LABEL: Final = "notes"


class _Node:
    """One directory: its entries, and those of its directories that were read."""

    __slots__ = ("below", "entries", "is_changed")

    def __init__(self, entries: TreeEntries) -> None:
        self.entries = entries
        self.below: dict[bytes, _Node] = {}
        self.is_changed = False

    def has_directories(self) -> bool:
        """Whether notes in it are in directories."""
        return any(mode == _DIRECTORY and _TWO.fullmatch(name) for name, (mode, _) in self.entries.items())


class NotesTree:
    """Notes by the id of what they are about. Raises `MissingObject` when a directory cannot be read."""

    def __init__(self, objects: DiskObjectStore, tree: str | None) -> None:
        self._objects = objects
        self._root = _Node(self._read(tree.encode("ascii")) if tree is not None else {})

    def find(self, commit: str) -> bytes | None:
        """Return the id (40 digits) of the note of a commit."""
        node, name, _ = self._place(commit, create=False)
        entry = node.entries.get(name)
        return entry[1] if entry is not None and entry[0] != _DIRECTORY else None

    def set(self, commit: str, blob: bytes | None) -> None:
        """Give a commit a note, by its id (20 bytes), or take it away."""
        node, name, way = self._place(commit, create=blob is not None)
        if blob is not None:
            node.entries[name] = (_FILE, blob.hex().encode("ascii"))
        else:
            node.entries.pop(name, None)
        for each in (*way, node):
            each.is_changed = True
        if blob is not None and not node.has_directories() and len(node.entries) > MOST and len(name) > 2:
            self._cut(node, len(name))

    def write(self, writer: NoteWriter) -> bytes:
        """Write the directories that are changed; returns the id of the root."""
        # From below: a directory is met after those that are in it.
        order = [self._root]
        for node in order:
            order += [each for each in node.below.values() if each.is_changed]
        idents: dict[int, bytes] = {}
        for node in reversed(order):
            for name, each in node.below.items():
                if each.is_changed and each.entries:
                    node.entries[name] = (_DIRECTORY, idents[id(each)].hex().encode("ascii"))
                elif each.is_changed:
                    node.entries.pop(name, None)
            entries = (
                (b"%o" % mode, name, bytes.fromhex(ident.decode("ascii")))
                for name, (mode, ident) in node.entries.items()
            )
            idents[id(node)] = writer.add(TREE, tree_bytes(entries))
        return idents[id(self._root)]

    def _place(self, commit: str, *, create: bool) -> tuple[_Node, bytes, list[_Node]]:
        """Return the directory that has a note, or would have it, its name there, and the directories above.

        `create`: a directory that is needed for it and is not there is made, and must be changed then.
        """
        node, name = self._root, commit.encode("ascii")
        way: list[_Node] = []
        while name not in node.entries and len(name) > 2:
            first = name[:2]
            entry = node.entries.get(first)
            if first not in node.below:
                if entry is not None and entry[0] == _DIRECTORY:
                    node.below[first] = _Node(self._read(entry[1]))
                elif create and entry is None and node.has_directories():
                    node.below[first] = _Node({})
                    node.entries[first] = (_DIRECTORY, b"")
                else:
                    break
            way.append(node)
            node, name = node.below[first], name[2:]
        return node, name, way

    def _cut(self, node: _Node, size: int) -> None:
        """Put the notes of a directory into directories of their own, by the first two digits."""
        for name in [name for name, (mode, _) in node.entries.items() if mode != _DIRECTORY and len(name) == size]:
            below = node.below.setdefault(name[:2], _Node({}))
            node.entries[name[:2]] = (_DIRECTORY, b"")  # its id is told when it is written
            below.entries[name[2:]] = node.entries.pop(name)
            below.is_changed = True

    def _read(self, ident: bytes) -> TreeEntries:
        return tree_entries(read_object(self._objects, ident, b"tree", _LABEL))


class NoteWriter:
    """Writes objects: few as files of their own, as git does for a commit, so that a hook leaves no pack each time;
    many as a pack."""

    def __init__(self, repository: Repository, objects: DiskObjectStore, count: int) -> None:
        self._objects = objects
        self._directory = repository.common_dir / "objects"
        self._existing = Existing(self._directory) if count > FEW else None
        self._pack = PackWriter(self._directory, self._existing) if self._existing is not None else None

    def __enter__(self) -> NoteWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pack is not None:
            self._pack.abandon()
        if self._existing is not None:
            self._existing.close()

    def add(self, kind: int, data: bytes) -> bytes:
        """Write an object and return its id. Raises `NotWritten`."""
        if self._pack is not None:
            return self._pack.add(kind, data)
        from dulwich.objects import ShaFile

        try:
            self._objects.add_object(ShaFile.from_raw_string(kind, data))
        except OSError as error:
            raise NotWritten(self._directory, error) from error
        return object_id(kind, data)

    def finish(self) -> None:
        """Complete the pack, if it is one; it is kept from git's gc until the block ends."""
        if self._pack is not None:
            self._pack.finish()
