"""What the store knows of sources and streams, as values."""

from __future__ import annotations

import os
import sqlite3
from functools import cache
from typing import Final, NamedTuple


class FileStat(NamedTuple):
    """What stat() says of a file; equal values mean that nothing need be read. Times are nanoseconds."""

    size: int
    mtime: int
    ctime: int
    device: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStat:
        """Take what matters from stat()."""
        # Inodes and devices may use all 64 bits, and the store's integers have a sign.
        return cls(
            status.st_size, status.st_mtime_ns, status.st_ctime_ns, _signed(status.st_dev), _signed(status.st_ino)
        )


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


ELSEWHERE: Final = b"git:"
"""Begins the path of a source that is no file: its bytes came from a repository. Paths of files are absolute."""


class Source(NamedTuple):
    """A real path at which bytes were seen; `gone` when no file is there now, as always for one that is no file."""

    id: int
    path: bytes
    gone: bool

    @property
    def is_file(self) -> bool:
        """Whether the bytes came from a file, and not from a repository."""
        return not self.path.startswith(ELSEWHERE)


class Stream(NamedTuple):
    """One generation of a source.

    `size` bytes are stored, complete lines end at `line_end`, the bytes from `tail_start` on are uncut. `version1` is
    None until a header line was seen. `conversation` is the row of the last record's nearest conversation ancestor.
    `summary` is what the upper layer keeps beside the stream.
    """

    id: int
    source: int
    generation: int
    session: bytes | None
    size: int
    line_end: int
    row_count: int
    tail_start: int
    version1: bool | None
    last_record: tuple[int, bytes] | None
    conversation: int | None
    verified_size: int
    probes: bytes
    file: FileStat
    summary: bytes


class Event(NamedTuple):
    """Something that happened to a source. `time` is milliseconds since 1970."""

    time: int
    source: int
    generation: int | None
    kind: str
    detail: str


STREAM_COLUMNS: Final = (
    "stream.id, stream.source, stream.generation, session.key, stream.size, stream.line_end, stream.row_count, "
    "stream.tail_start, stream.version1, stream.last_row, stream.last_oid, stream.conversation, "
    "stream.verified_size, stream.probes, stream.file_size, "
    "stream.file_mtime, stream.file_ctime, stream.device, stream.inode, stream.summary"
)
STREAM_TABLES: Final = "stream LEFT JOIN session ON session.id = stream.session"


_REQUIRED: Final = {3: bytes, 8: int, 9: int, 10: bytes, 11: int}
_TYPES: Final = tuple(
    (_REQUIRED[place], type(None)) if place in _REQUIRED else (bytes,) if place in (13, 19) else (int,)
    for place in range(20)
)
"""What each of `STREAM_COLUMNS` may be; SQLite itself keeps values of any type in any column."""


@cache
def _are_right(types: tuple[type, ...]) -> bool:
    return all(found in allowed for found, allowed in zip(types, _TYPES, strict=True))


def stream_of(row: tuple[object, ...] | sqlite3.Row) -> Stream:
    """Return the stream of a row of `STREAM_COLUMNS`. Raises ValueError for what cannot be one."""
    if not _are_right(tuple(map(type, row))):
        raise ValueError("a column has a value of another type")
    (
        ident, source, generation, key, size, line_end, rows, tail_start, version1, last_row, last_oid, conversation,
        verified, probes, file_size, mtime, ctime, device, inode, summary,
    ) = row  # fmt: skip
    last = None if last_row is None else (last_row, last_oid)
    stream = Stream(
        ident, source, generation, key, size, line_end, rows, tail_start,  # type: ignore[arg-type]
        None if version1 is None else bool(version1), last, conversation, verified, probes,  # type: ignore[arg-type]
        FileStat(file_size, mtime, ctime, device, inode), summary,  # type: ignore[arg-type]
    )  # fmt: skip
    if not (0 <= stream.line_end <= stream.size and 0 <= stream.tail_start <= stream.size and stream.row_count >= 0):
        raise ValueError("its sizes do not fit together")
    if last is not None and not (0 <= last[0] < stream.row_count and last[1] is not None):  # type: ignore[operator]
        raise ValueError("its last record has no row")
    if stream.conversation is not None and not 0 <= stream.conversation < stream.row_count:
        raise ValueError("its last conversation entry has no row")
    return stream
