"""Where the content of files comes from that a session did not write itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol


class BaseFile(NamedTuple):
    """A file of a base: its content, or where a symbolic link points to; and whether it may be executed."""

    content: bytes
    executable: bool = False
    symlink: bool = False


class Base(Protocol):
    """A whole tree of files, as a commit or a snapshot has it. Paths are relative to the session's working directory,
    with slashes; what is outside of it no base knows."""

    @property
    def label(self) -> str:
        """What people call it: `commit 1a2b3c4d`, `snapshot 3`."""

    def read(self, path: str) -> BaseFile | None:
        """Return a file; None when the tree has none there."""

    def paths(self) -> Iterable[str]:
        """Return the paths of all files and symbolic links, sorted."""


class MappingBase:
    """A base that is held in memory."""

    def __init__(self, files: Mapping[str, bytes | BaseFile], label: str = "base") -> None:
        self.label = label
        self._files = {
            path: file if isinstance(file, BaseFile) else BaseFile(file) for path, file in files.items()
        }

    def read(self, path: str) -> BaseFile | None:
        """Return a file; None when the tree has none there."""
        return self._files.get(path)

    def paths(self) -> Iterable[str]:
        """Return the paths of all files, sorted."""
        return sorted(self._files)
