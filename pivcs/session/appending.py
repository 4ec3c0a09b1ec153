"""Appending to a session file that other processes may append to as well (pi format 10).

Whole lines go to the end of the file in one write, under an advisory lock that other programs of ours respect and pi
does not know. Before that the file must still be the one that was read: the same inode, at least as long, with the same
first and last bytes of what is known. Lines that others have appended meanwhile are read first.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pivcs.errors import StateError
from pivcs.session.source import FileSource
from pivcs.session.values import iter_kept
from pivcs.session.wholefile import SessionNotWritable

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None  # type: ignore[assignment]

_HAS_LOCKS: Final = fcntl is not None

_EDGE: Final = 4096
"""How many bytes at the beginning and at the end of what is known are compared."""

_WAIT: Final = 10.0
_STEP: Final = 0.005
_SETTLE: Final = 20
"""How many steps to wait for the rest of a line that another program is writing."""


class SessionFileGone(StateError):
    """The session file was moved or deleted; pi would go on with a file that can never be opened (10.3)."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"'{path}' is gone", hint="put the file back, or open the session where it is now")
        self.path = path


class SessionFileChanged(StateError):
    """The session file is not what was read: rewritten, shortened or replaced."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"'{path}' was rewritten since it was read", hint="open it again (or `reload`) and repeat")
        self.path = path


class SessionLocked(StateError):
    """Another process holds the lock of the session file for too long."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"'{path}' is locked by another process", hint="try again")
        self.path = path


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a file: which one it is, how much of it was taken in, and the edges of that.

    A last line without LF counts as taken in when it is a JSON value, as pi reads it, and else not: another program may
    just be writing it.
    """

    device: int
    inode: int
    size: int
    head: bytes
    tail: bytes

    @property
    def ends_in_lf(self) -> bool:
        """Whether what is known ends at the end of a line; an empty file does."""
        return not self.tail or self.tail.endswith(b"\n")


def read_file(path: Path) -> tuple[bytes, Seen]:
    """Return a file's bytes and what is to be known of it. Raises SourceNotReadable."""
    with FileSource(path) as source:
        status = source.status
        data = source.read_range(0, status.st_size)
    return data, seen_of(status, data)


def seen_of(status: os.stat_result, data: bytes) -> Seen:
    """Return what is known of a file of which these first bytes were read or written."""
    data = data[: _taken(data)]
    return Seen(status.st_dev, status.st_ino, len(data), data[:_EDGE], data[-_EDGE:])


def _taken(data: bytes) -> int:
    """Return how many of the bytes read so far are taken in: whole lines, and a last value without LF."""
    end = data.rfind(b"\n") + 1
    return len(data) if any(True for _ in iter_kept([data[end:]])) else end


class Appender:
    """A file that is open and locked; `others` is what was appended since it was `seen` and can be taken in."""

    def __init__(self, path: Path, fd: int, seen: Seen) -> None:
        self.path = path
        self._fd = fd
        self._end = self._settled_size(seen.size)
        new = self._read(seen.size, self._end)
        glued = new and not seen.ends_in_lf and not new.startswith(b"\n")
        if glued or self._look(seen.size) != seen:
            raise SessionFileChanged(path)
        self.others = new[: _taken(new)]
        self.seen = self._look(seen.size + len(self.others))

    def append(self, line: bytes) -> tuple[bytes, bytes]:
        """Append a line with its LF, after an LF where the file lacks its last one; all or nothing.

        Returns what programs that know no lock have written right before and after it, in this moment. Raises
        SessionNotWritable; what was written of the line is then taken back.
        """
        whole = self._end == 0 or self._read(self._end - 1, self._end) == b"\n"
        payload = line if whole else b"\n" + line
        try:
            written = os.write(self._fd, payload)
        except OSError as error:
            raise SessionNotWritable(self.path, error) from error
        size = os.fstat(self._fd).st_size
        if written != len(payload):
            if size == self._end + written:
                os.ftruncate(self._fd, self._end)
            raise SessionNotWritable(self.path, OSError(0, "only a part could be written"))
        before, after = b"", b""
        if size != self._end + written:
            before, _, after = self._read(self.seen.size, size).partition(payload)
            # A line that is being written now will be read the next time.
            size -= len(after)
            after = after[: after.rfind(b"\n") + 1]
            size += len(after)
        self._end = size
        self.seen = self._look(size)
        return before, after

    def _settled_size(self, known: int) -> int:
        """Return the size of the file; wait a little for the end of a line that is being written."""
        size = 0
        for _ in range(_SETTLE):
            size = os.fstat(self._fd).st_size
            if size <= known or self._read(size - 1, size) == b"\n":
                break
            time.sleep(_STEP)
        return size

    def _look(self, size: int) -> Seen:
        status = os.fstat(self._fd)
        head, tail = self._read(0, min(size, _EDGE)), self._read(max(0, size - _EDGE), size)
        return Seen(status.st_dev, status.st_ino, min(size, status.st_size), head, tail)

    def _read(self, start: int, end: int) -> bytes:
        parts = []
        while start < end and (part := os.pread(self._fd, end - start, start)):
            parts.append(part)
            start += len(part)
        return b"".join(parts)


@contextmanager
def appending(path: Path, seen: Seen) -> Iterator[Appender]:
    """Open and lock a file that was `seen` before.

    Raises SessionFileGone, SessionFileChanged, SessionLocked and SessionNotWritable.
    """
    fd = _open_locked(path)
    try:
        yield Appender(path, fd, seen)
    finally:
        os.close(fd)


def _open_locked(path: Path) -> int:
    """Return a descriptor of the file that has this name after its lock was had: a rewriter may have replaced it."""
    deadline = time.monotonic() + _WAIT
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError as error:
            raise SessionFileGone(path) from error
        except OSError as error:
            raise SessionNotWritable(path, error) from error
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise SessionFileChanged(path)
            _lock(path, fd, deadline)
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        except FileNotFoundError as error:
            os.close(fd)
            raise SessionFileGone(path) from error
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _lock(path: Path, fd: int, deadline: float) -> None:
    while _HAS_LOCKS:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise SessionLocked(path) from None
            time.sleep(_STEP)
        except OSError:  # a file system without locks
            return
        else:
            return
