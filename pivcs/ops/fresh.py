"""Whether the store already has what a file holds: the question that nearly every command asks first, and which is
answered by stat() alone."""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.store.records import FileStat, Source, Stream
from pivcs.store.store import Store


def real_path(path: Path) -> bytes:
    """Return the path under which a file is a source: absolute, without symbolic links."""
    return os.fsencode(os.path.realpath(path))


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
