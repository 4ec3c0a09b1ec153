"""Trees of git as bases: what a commit, or a snapshot, has for a session's working directory.

Contents are the bytes of git's objects. Nothing is converted as a checkout might do it: where line ends are changed
(`core.autocrlf`, `text` and `eol` attributes) a base has those of the repository, not of the work tree; where a filter
is in between, what the filter stored (of Git LFS the pointer). No filter is ever run.
"""

from __future__ import annotations

import os
import stat
import zlib
from typing import TYPE_CHECKING, Final

from pivcs.errors import DataError
from pivcs.gitbridge.repository import Repository, UnknownCommit
from pivcs.workspace.base import BaseFile

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

TreeEntries = dict[bytes, tuple[int, bytes]]
_LINK: Final = 0o160000
"""The mode of another repository's commit, as submodules have it: nothing in it can be read here."""
_KEPT: Final = 256
"""Directories that are kept in memory; all are let go when there are more."""


class MissingObject(DataError):
    """An object of a tree is not in the repository, or is damaged."""


class TreeFiles:
    """The files of a tree below `prefix`: a base. It has the objects open until it is closed."""

    def __init__(self, objects: DiskObjectStore, tree: str, prefix: str, label: str) -> None:
        self.label = label
        self._objects = objects
        self._tree = tree.encode("ascii")
        self._prefix = encode_path(prefix) or b""
        self._directories: dict[bytes, TreeEntries | None] = {}

    def __enter__(self) -> TreeFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the objects; closing twice is harmless."""
        self._objects.close()

    def read(self, path: str) -> BaseFile | None:
        """Return a file; None when the tree has none there. Raises `MissingObject`."""
        name = encode_path(path)
        if not name:
            return None
        directory, _, last = self._full(name).rpartition(b"/")
        entry = (self._entries(directory) or {}).get(last)
        if entry is None or stat.S_ISDIR(entry[0]) or entry[0] == _LINK:
            return None
        mode, ident = entry
        return BaseFile(self._get(ident, b"blob"), executable=bool(mode & 0o100), symlink=stat.S_ISLNK(mode))

    def paths(self) -> list[str]:
        """Return the paths of all files and symbolic links, sorted. Raises `MissingObject`."""
        found: list[str] = []
        waiting = [b""]
        while waiting:
            inside = waiting.pop()
            for name, (mode, _) in (self._entries(self._full(inside)) or {}).items():
                path = inside + b"/" + name if inside else name
                if stat.S_ISDIR(mode):
                    waiting.append(path)
                elif mode != _LINK:
                    found.append(decode_path(path))
        return sorted(found)

    def _full(self, path: bytes) -> bytes:
        return b"/".join(filter(None, (self._prefix, path)))

    def _entries(self, directory: bytes) -> TreeEntries | None:
        """Return name -> mode and id of what is in a directory; None when it is no directory."""
        if directory in self._directories:
            return self._directories[directory]
        # From the nearest directory above that is known, down: a deep path must not need a deep stack.
        parts = directory.split(b"/") if directory else []
        entries: TreeEntries | None = None
        for depth in range(len(parts) + 1):
            above = b"/".join(parts[:depth])
            if above not in self._directories:
                if depth == 0:
                    ident: bytes | None = self._tree
                else:
                    mode, ident = (entries or {}).get(parts[depth - 1], (0, None))
                    ident = ident if stat.S_ISDIR(mode) else None
                if len(self._directories) >= _KEPT:
                    self._directories.clear()
                self._directories[above] = None if ident is None else tree_entries(self._get(ident, b"tree"))
            entries = self._directories[above]
        return entries

    def _get(self, ident: bytes, kind: bytes) -> bytes:
        return read_object(self._objects, ident, kind, self.label)


class GitBase(TreeFiles):
    """What a commit has below `prefix`. Raises `UnknownCommit`, `MissingObject`, `OtherHash`."""

    def __init__(self, repository: Repository, commit: str, prefix: str) -> None:
        objects = repository.open_objects()
        try:
            tree = _tree_of(objects, commit)
            if tree is None:
                raise UnknownCommit(f"'{commit}' is no commit of '{repository.common_dir}'")
        except BaseException:
            objects.close()
            raise
        super().__init__(objects, tree, prefix, f"commit {commit[:8]}")
        self.commit = commit


def read_object(objects: DiskObjectStore, ident: bytes, kind: bytes, label: str) -> bytes:
    """Return the content of an object of a kind, `blob` or `tree`; its id is not checked. Raises `MissingObject`."""
    from dulwich.errors import ObjectFormatException
    from dulwich.objects import ObjectID, object_class

    try:
        number, data = objects.get_raw(ObjectID(ident))
    except (KeyError, OSError, ValueError, zlib.error, ObjectFormatException) as error:
        raise MissingObject(f"{label}: object {ident.decode()} is missing or damaged") from error
    found = object_class(number)
    if found is None or found.type_name != kind:
        raise MissingObject(f"{label}: object {ident.decode()} is no {kind.decode()}")
    return data


def tree_entries(data: bytes) -> TreeEntries:
    """Return name -> mode and id of what a tree object has."""
    from dulwich.objects import Tree

    parsed = Tree.from_raw_string(Tree.type_num, data)
    assert isinstance(parsed, Tree)
    return {name: (mode, ident) for name, mode, ident in parsed.iteritems()}


def commit_time(repository: Repository, commit: str) -> int | None:
    """Return when a commit was made, in milliseconds since 1970; None when it is not in the repository."""
    from dulwich.objects import Commit

    with repository.objects() as objects:
        found = _object(objects, commit)
        return found.commit_time * 1000 if isinstance(found, Commit) else None


def _tree_of(objects: DiskObjectStore, commit: str) -> str | None:
    from dulwich.objects import Commit

    found = _object(objects, commit)
    return found.tree.decode("ascii") if isinstance(found, Commit) else None


def _object(objects: DiskObjectStore, ident: str) -> object:
    from dulwich.errors import ObjectFormatException
    from dulwich.objects import ObjectID

    try:
        return objects[ObjectID(ident.encode("ascii"))]
    except (KeyError, OSError, ValueError, zlib.error, ObjectFormatException):
        return None


def encode_path(path: str) -> bytes | None:
    """Return a path as git has it; None when no file can have it."""
    try:
        encoded = path.encode("utf-8", "surrogateescape")
    except UnicodeError:
        return None
    return None if b"\0" in encoded else encoded


def decode_path(path: bytes) -> str:
    """Return a path of git as text; bytes that are not UTF-8 as the file system's names have them."""
    return path.decode("utf-8", "surrogateescape")


def git_path(path: str | os.PathLike[str]) -> bytes:
    """Return a path of the file system as bytes with slashes."""
    return os.fsencode(path).replace(os.sep.encode(), b"/")
