"""Which objects a repository has, asked millions of times: from the indexes of its packs and the names of its loose
objects, as they were when first looked at.

dulwich answers the same, but looks for new packs whenever an object is not there, which is the usual answer here.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_MAGIC: Final = b"\xfftOc\x00\x00\x00\x02"
_FANOUT: Final = 8
_IDS: Final = _FANOUT + 1024
_ID_SIZE: Final = 20
_DEEPEST: Final = 5
"""How far alternates of alternates are followed, as git does."""


class Existing:
    """The objects of a repository and its alternates. Use as a context manager."""

    def __init__(self, objects: Path) -> None:
        self._packs: list[_PackIndex] = []
        self._loose: dict[int, list[tuple[Path, frozenset[bytes]]]] = {}
        self._directories = list(_with_alternates(objects))
        for directory in self._directories:
            for path in sorted(_packs_in(directory)):
                index = _PackIndex.open(path)
                if index is not None:
                    self._packs.append(index)

    def __enter__(self) -> Existing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the indexes; closing twice is harmless."""
        for index in self._packs:
            index.close()
        self._packs.clear()

    def has(self, ident: bytes) -> bool:
        """Whether an object is there. One that is gets a fresh date, so that git's gc keeps it for a while."""
        for index in self._packs:
            if index.has(ident):
                index.freshen()
                return True
        rest = ident[1:]
        for directory, names in self._loose_in(ident[0]):
            if rest in names:
                _freshen(directory / rest.hex())
                return True
        return False

    def missing(self, idents: Iterable[bytes]) -> list[bytes]:
        """Return the objects that are not there."""
        return [ident for ident in idents if not self.has(ident)]

    def _loose_in(self, first: int) -> list[tuple[Path, frozenset[bytes]]]:
        found = self._loose.get(first)
        if found is None:
            found = self._loose[first] = []
            for objects in self._directories:
                directory = objects / f"{first:02x}"
                with suppress(OSError):
                    names = frozenset(bytes.fromhex(name) for name in os.listdir(directory) if _is_rest(name))
                    found.append((directory, names))
        return found


class _PackIndex:
    """The ids in the index of one pack, version 2."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        self._fanout = struct.unpack_from(">256I", data, _FANOUT)
        self._is_fresh = False

    @classmethod
    def open(cls, path: Path) -> _PackIndex | None:
        """Open an index; None for one that is not understood, whose objects are then written again."""
        try:
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # gone meanwhile, or empty
            return None
        if data[: len(_MAGIC)] == _MAGIC and len(data) >= _IDS:
            index = cls(path, data)
            if len(data) >= _IDS + index._fanout[-1] * _ID_SIZE and sorted(index._fanout) == list(index._fanout):
                return index
        data.close()
        return None

    def has(self, ident: bytes) -> bool:
        low = self._fanout[ident[0] - 1] if ident[0] else 0
        high = self._fanout[ident[0]]
        data = self._data
        while low < high:
            middle = (low + high) >> 1
            at = _IDS + middle * _ID_SIZE
            found = data[at : at + _ID_SIZE]
            if found == ident:
                return True
            if found < ident:
                low = middle + 1
            else:
                high = middle
        return False

    def freshen(self) -> None:
        if not self._is_fresh:
            self._is_fresh = True
            _freshen(self._path.with_suffix(".pack"))

    def close(self) -> None:
        self._data.close()


def _freshen(path: Path) -> None:
    with suppress(OSError):
        os.utime(path)


def _is_rest(name: str) -> bool:
    return len(name) == 2 * (_ID_SIZE - 1) and not set(name) - set("0123456789abcdef")


def _packs_in(objects: Path) -> Iterator[Path]:
    try:
        names = set(os.listdir(objects / "pack"))
    except OSError:
        return
    for name in names:
        if name.endswith(".idx") and name[: -len("idx")] + "pack" in names:
            yield objects / "pack" / name


def _with_alternates(objects: Path) -> Iterator[Path]:
    """Yield a directory of objects and those that it borrows from."""
    seen: set[str] = set()
    waiting = [(objects, 0)]
    while waiting:
        directory, depth = waiting.pop()
        real = os.path.realpath(directory)
        if real in seen or depth > _DEEPEST:
            continue
        seen.add(real)
        yield directory
        with suppress(OSError):
            for line in (directory / "info" / "alternates").read_bytes().splitlines():
                if line and not line.startswith(b"#") and b"\0" not in line:
                    waiting.append((directory / os.fsdecode(line), depth + 1))
