"""Whether the store already has what a file holds: the question that nearly every command asks first, and which is
answered by stat() alone."""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.store.records import FileStat, Source, Stream
from pivcs.store.store import Store


class RealPaths:
    """Paths without symbolic links, for many files: each directory is resolved once."""

    def __init__(self) -> None:
        self._directories: dict[bytes, bytes] = {}

    def of(self, path: str | bytes | Path) -> bytes:
        """Return the path under which a file is a source: absolute, without symbolic links."""
        head, tail = os.path.split(os.path.abspath(os.fsencode(path)))
        directory = self._directories.get(head)
        if directory is None:
            directory = self._directories[head] = os.path.realpath(head)
        real = os.path.join(directory, tail)
        return os.path.realpath(real) if not tail or os.path.islink(real) else real

    def has_file(self, path: bytes) -> bool:
        """Whether a file is at a real path; a symbolic link there now means that the file itself is elsewhere."""
        return os.path.isfile(path) and self.of(path) == path


def real_path(path: Path) -> bytes:
    """Return the path under which a file is a source: absolute, without symbolic links."""
    return RealPaths().of(path)


def current_stream(store: Store, path: Path) -> Stream | None:
    """Return the stream of a file when nothing about the file has changed since it was synced, else None."""
    real = real_path(path)
    source = store.source_at(real)
    stream = store.current_stream(source.id) if source is not None else None
    return stream if source is not None and stream is not None and is_same(source, stream) else None


def is_same(source: Source, stream: Stream) -> bool:
    """Whether stat() says of a source's file what it said when it was read."""
    try:
        return not source.gone and FileStat.of(os.stat(source.path)) == stream.file
    except OSError:
        return False
