"""Where the bytes of a stream come from: a file, or bytes in memory.

A source is read once from front to back, and can give any range again (a line that is too long to hold is read
twice: to find out what it is, and to hash it).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from pivcs.errors import InputError

PIECE = 1 << 20


class SourceNotReadable(InputError):
    """The session file cannot be read: missing, a directory, a pipe, or not permitted."""


class ByteSource(Protocol):
    """Bytes that can be read in order and again by position."""

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of `buffer` with the next bytes and return how many; 0 at the end."""
        ...

    def read_range(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset`, fewer only at the end of the stream."""
        ...

    def iter_range(self, offset: int, length: int) -> Iterator[bytes]:
        """Yield `length` bytes from `offset` in pieces of at most 1 MiB."""
        ...

    def expect(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Tell which ranges, from start to end, will be read next and in this order, which may make it quicker."""
        ...

    def close(self) -> None:
        """Give back what the source holds; closing twice is harmless."""
        ...


class BytesSource:
    """A source over bytes in memory; `piece` limits what one read gives (for tests of streaming)."""

    def __init__(self, data: bytes, *, start: int = 0, piece: int = PIECE) -> None:
        self._data = data
        self._position = start
        self._piece = piece

    def readinto(self, buffer: memoryview) -> int:
        """See `ByteSource`."""
        count = min(len(buffer), self._piece, max(0, len(self._data) - self._position))
        buffer[:count] = self._data[self._position : self._position + count]
        self._position += count
        return count

    def read_range(self, offset: int, length: int) -> bytes:
        """See `ByteSource`."""
        return self._data[offset : offset + length]

    def iter_range(self, offset: int, length: int) -> Iterator[bytes]:
        """See `ByteSource`."""
        for start in range(offset, offset + length, PIECE):
            yield self._data[start : min(start + PIECE, offset + length)]

    def expect(self, ranges: Iterable[tuple[int, int]]) -> None:
        """See `ByteSource`: the bytes are there."""

    def close(self) -> None:
        """See `ByteSource`: there is nothing to give back."""


class FileSource:
    """A source over a regular file, opened for reading only. Use as a context manager.

    With `end` set the bytes from there on are not seen: a file that grows while it is read is read to one place.
    """

    def __init__(self, path: Path, *, start: int = 0) -> None:
        self.path = path
        self.end: int | None = None
        try:
            # O_NONBLOCK: opening a pipe must not wait for a writer; it changes nothing for a regular file.
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            raise _not_readable(path, error) from error
        self.status = os.fstat(self._fd)
        if not stat.S_ISREG(self.status.st_mode):
            os.close(self._fd)
            kind = "a directory" if stat.S_ISDIR(self.status.st_mode) else "no regular file"
            raise SourceNotReadable(f"cannot read '{path}': it is {kind}", hint="name a session file (.jsonl)")
        self._position = start

    def seek(self, position: int) -> None:
        """Let the next `readinto` begin at a position."""
        self._position = position

    def status_now(self) -> os.stat_result:
        """Return what the file is now; `status` is what it was when it was opened."""
        return os.fstat(self._fd)

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def readinto(self, buffer: memoryview) -> int:
        """See `ByteSource`."""
        if self.end is not None:
            buffer = buffer[: max(0, self.end - self._position)]
        try:
            count = os.preadv(self._fd, [buffer], self._position)
        except OSError as error:
            raise _not_readable(self.path, error) from error
        self._position += count
        return count

    def read_range(self, offset: int, length: int) -> bytes:
        """See `ByteSource`."""
        pieces = []
        while length > 0:
            piece = self._pread(length, offset)
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return b"".join(pieces)

    def _pread(self, length: int, offset: int) -> bytes:
        try:
            return os.pread(self._fd, length, offset)
        except OSError as error:
            raise _not_readable(self.path, error) from error

    def iter_range(self, offset: int, length: int) -> Iterator[bytes]:
        """See `ByteSource`."""
        end = offset + length
        while offset < end:
            piece = self._pread(min(PIECE, end - offset), offset)
            if not piece:
                return
            yield piece
            offset += len(piece)

    def expect(self, ranges: Iterable[tuple[int, int]]) -> None:
        """See `ByteSource`: the system reads ahead by itself."""


def _not_readable(path: Path, error: OSError) -> SourceNotReadable:
    reason = (error.strerror or str(error)).lower()
    return SourceNotReadable(f"cannot read '{path}': {reason}")
