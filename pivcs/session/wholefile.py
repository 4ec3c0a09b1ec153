"""Files written whole: a file is there with all its bytes, or not at all.

The bytes go to a temporary file in the same directory, which is synced and then given its name. A process that is
killed in between can leave the temporary file behind (its name ends in `.tmp`, which pi's list ignores), never half a
session.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pivcs.errors import StateError

_BATCH: Final = 1 << 16
"""Smaller pieces are put together; larger ones are written without being copied."""
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK)
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class SessionFileExists(StateError):
    """A new session file would replace a file that is there."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"cannot create '{path}': it exists", hint="open it, or choose another path")
        self.path = path


class SessionNotWritable(StateError):
    """The system refuses to write."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"cannot write '{path}': {(error.strerror or str(error)).lower()}")
        self.path = path


def write_new(path: Path, pieces: Iterable[bytes]) -> None:
    """Create a file, and the directories that it needs. Raises SessionFileExists and SessionNotWritable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise SessionFileExists(path)
        with _temporary(path, pieces, 0o666) as part:
            _name(part, path)
        _sync_directory(path.parent)
    except OSError as error:
        raise SessionNotWritable(path, error) from error


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Put other bytes in the place of a file, with its permissions. Raises SessionNotWritable.

    A symbolic link stays one; the file that it names is replaced.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode & 0o7777
        with _temporary(target, pieces, 0o600) as part:
            part.chmod(mode)
            part.replace(target)
        _sync_directory(target.parent)
    except OSError as error:
        raise SessionNotWritable(path, error) from error


@contextmanager
def _temporary(path: Path, pieces: Iterable[bytes], mode: int) -> Iterator[Path]:
    """Write the bytes to a new synced file beside `path`, which is removed at the end unless it got another name."""
    part = path.parent / f".pivcs-{secrets.token_hex(8)}.tmp"
    try:
        _write_all(os.open(part, _FLAGS, mode), pieces)
        yield part
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _write_all(fd: int, pieces: Iterable[bytes]) -> None:
    with open(fd, "wb", buffering=_BATCH) as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(fd)


def _name(part: Path, path: Path) -> None:
    """Give a file a name that must be free: a link, unlike a rename, replaces nothing. Raises SessionFileExists."""
    try:
        try:
            os.link(part, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # A file system without links: the name is taken first and then given to the finished file.
            os.close(os.open(path, _FLAGS, 0o666))
            part.replace(path)
    except FileExistsError as error:
        raise SessionFileExists(path) from error


def _sync_directory(directory: Path) -> None:
    # Some systems cannot sync a directory; the name may then come to the disk a little later.
    with suppress(OSError):
        fd = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
