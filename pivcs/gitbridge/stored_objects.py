"""Objects that a repository has already, read by their ids of 20 bytes."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pivcs.errors import DataError
from pivcs.gitbridge.objects import COMMIT, KIND_NAMES, TREE

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore


_TRIES: Final = 3


class ObjectMissing(DataError):
    """An object is not in a repository, or is damaged, or of another kind."""


class StoredObjects:
    """The objects of a repository. Use as a context manager; what it needs is opened when it is first asked."""

    def __init__(self, objects: Path) -> None:
        self._path = objects
        self._opened: DiskObjectStore | None = None

    def __enter__(self) -> StoredObjects:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _store(self) -> DiskObjectStore:
        from dulwich.object_store import DiskObjectStore

        if self._opened is None:
            self._opened = DiskObjectStore(self._path)
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def read(self, kind: int, ident: bytes) -> bytes:
        """Return the bytes of an object of a kind. Raises `ObjectMissing`."""
        from dulwich.errors import ObjectFormatException
        from dulwich.objects import ObjectID

        name = ident.hex()
        for tries_left in range(_TRIES - 1, -1, -1):
            try:
                number, data = self._store().get_raw(ObjectID(name.encode()))
                break
            except (KeyError, OSError, ValueError, zlib.error, ObjectFormatException) as error:
                if not tries_left:
                    raise ObjectMissing(f"object {name} of '{self._path}' is missing or damaged") from error
                self._close()  # git may just be moving it to another pack
        if number != kind:
            raise ObjectMissing(f"object {name} of '{self._path}' is no {KIND_NAMES[kind].decode()}")
        return bytes(data)

    def tree(self, ident: bytes) -> bytes:
        """Return the bytes of a tree. Raises `ObjectMissing`."""
        return self.read(TREE, ident)

    def commit(self, ident: bytes) -> tuple[bytes, int]:
        """Return the tree of a commit, and the date of its committer in seconds. Raises `ObjectMissing`."""
        tree, time = b"", 0
        for line in self.read(COMMIT, ident).split(b"\n\n", 1)[0].split(b"\n"):
            if line.startswith(b"tree "):
                tree = bytes.fromhex(line[5:].decode("ascii", "replace"))
            elif line.startswith(b"committer "):
                words = line.rsplit(b" ", 2)
                time = int(words[1]) if len(words) == 3 and words[1].isdigit() else 0
        return tree, time
