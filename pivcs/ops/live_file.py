"""The session's file itself, where it still is what the store has of it: reading it is quicker than unpacking."""

from __future__ import annotations

from pathlib import Path

from pivcs.ops.fresh import is_same
from pivcs.ops.view import SessionView
from pivcs.session.source import FileSource, SourceNotReadable
from pivcs.store.records import FileStat


def unchanged_file(view: SessionView) -> FileSource | None:
    """Open the session's file if it is what the store has of it; whoever reads it closes it, and asks `is_unchanged`
    when all is read."""
    if view.store is None or view.stream is None or view.table.forgotten_rows():
        return None
    source = view.store.source(view.stream.source)
    if source is None or not is_same(source, view.stream):
        return None
    try:
        file = FileSource(Path(view.where))
    except SourceNotReadable:
        return None
    if FileStat.of(file.status) == view.stream.file:
        return file
    file.close()
    return None


def is_unchanged(file: FileSource) -> bool:
    """Whether a file is what it was when it was opened."""
    return FileStat.of(file.status_now()) == FileStat.of(file.status)


class LiveReading:
    """Reads ranges of a session: from its file as long as that is unchanged, then from the store. A context manager."""

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._file = unchanged_file(view)

    def __enter__(self) -> LiveReading:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __call__(self, offset: int, length: int) -> bytes:
        """Return the bytes of a range."""
        if self._file is not None:
            try:
                data = self._file.read_range(offset, length)
                if len(data) == length and is_unchanged(self._file):
                    return data
            except SourceNotReadable:
                pass
            self._file.close()
            self._file = None
        return self._view.source.read_range(offset, length)
