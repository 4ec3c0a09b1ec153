"""The files below one directory: looked at, and changed one by one without ever writing through a symbolic link.

Where the system can, every path is walked from the opened root, name by name, and no name on the way may be a symbolic
link; so nobody can lead a write elsewhere by putting a link there in between. A file gets its new content under
another name in the same directory, is synced, and then takes its place in one step. The old file is held by a second
name meanwhile: if somebody has written to it up to the last moment, it gets its place back.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, NamedTuple

from pivcs.errors import InputError, StateError
from pivcs.objects.hashing import whole_hash

Kind = Literal["nothing", "file", "link", "directory", "other", "behind-link", "behind-file", "unreadable"]

_PIECE: Final = 1 << 20
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_READ: Final = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(
    os, "O_BINARY", 0
)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(
    os, "O_BINARY", 0
)
_DIRECTORY: Final = _READ | getattr(os, "O_DIRECTORY", 0)
_BY_DESCRIPTOR: Final = {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.rmdir, os.symlink, os.link} <= (
    os.supports_dir_fd
)
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK, errno.EACCES)


class NoDirectoryThere(InputError):
    """The directory in which files are to be restored is not there, or cannot be opened."""


class TreeInUse(StateError):
    """Another process is restoring files in the same directory."""


class SomebodyWasFaster(Exception):
    """What is at a path is not what it was; nothing was changed."""


class Found(NamedTuple):
    """What is at a path. `digest` is the BLAKE3 digest of a file's bytes, or of what a symbolic link says; `stamp`
    tells quickly whether it is still the same; `reason` says why it could not be looked at.

    `behind-link`, `behind-file`: a directory on the way is a symbolic link, or no directory.
    """

    kind: Kind
    mode: int | None = None
    size: int = 0
    digest: bytes | None = None
    stamp: tuple[int, ...] = ()
    reason: str | None = None

    def is_like(self, mode: int | None, digest: bytes | None) -> bool:
        """Whether it is of the kind that a mode says, and has bytes of a digest; permissions do not count."""
        if mode is None:
            return self.kind == "nothing"
        if self.mode is None or self.kind not in ("file", "link", "directory"):
            return False
        return stat.S_IFMT(mode) == stat.S_IFMT(self.mode) and digest == self.digest


NOTHING_THERE: Final = Found("nothing")


class _Place(NamedTuple):
    """A directory, and how its names are given to the system: below a descriptor, or as whole paths."""

    fd: int | None
    path: bytes

    def at(self, name: bytes) -> bytes:
        return name if self.fd is not None else os.path.join(self.path, name)


class WorkTree:
    """The files below a directory. Paths are relative, with slashes; they must have been found safe.

    Use as a context manager. Raises `NoDirectoryThere`.
    """

    def __init__(self, root: str | bytes) -> None:
        self.root = os.path.realpath(os.fsencode(root))
        self._fd: int | None = None
        try:
            if not stat.S_ISDIR(os.stat(self.root).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "not a directory")
            if _BY_DESCRIPTOR:
                self._fd = os.open(self.root, _DIRECTORY)
        except OSError as error:
            shown = os.fsencode(root).decode("utf-8", "backslashreplace")
            raise NoDirectoryThere(
                f"cannot use the directory '{shown}': {(error.strerror or str(error)).lower()}"
            ) from error

    def __enter__(self) -> WorkTree:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other restores out of this directory. Raises `TreeInUse`. Does nothing where there are no such locks."""
        if self._fd is None or sys.platform == "win32":
            yield
            return
        import fcntl

        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            shown = self.root.decode("utf-8", "backslashreplace")
            raise TreeInUse(f"files are being restored in '{shown}' right now", hint="wait until it is done") from error
        except OSError:  # a file system without locks
            yield
            return
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def folds_case(self) -> bool:
        """Whether names that differ only by case are the same here, as far as an existing name can tell."""
        names = [self.root]
        with suppress(OSError):
            names += [os.path.join(self.root, name) for name in os.listdir(self.root)]
        for path in names:
            directory, name = os.path.split(path)
            other = os.path.join(directory, os.fsencode(os.fsdecode(name).swapcase()))
            if other == path:
                continue
            try:
                one, two = os.lstat(path), os.lstat(other)
            except OSError:
                return False
            return (one.st_dev, one.st_ino) == (two.st_dev, two.st_ino)
        return os.name == "nt"

    # Looking

    def look(self, path: str | bytes) -> Found:
        """Return what is at a path; a file is read to its end."""
        names = os.fsencode(path).split(b"/")
        try:
            with self._parent(names) as place:
                return _look(place, names[-1])
        except FileNotFoundError:
            return NOTHING_THERE
        except _Behind as behind:
            return Found(behind.kind)
        except OSError as error:
            return Found("unreadable", reason=(error.strerror or str(error)).lower())

    def read(self, path: str | bytes) -> Iterator[bytes]:
        """Yield the bytes of a file, or what a symbolic link says. Raises OSError."""
        names = os.fsencode(path).split(b"/")
        with self._parent(names) as place:
            status = os.stat(place.at(names[-1]), dir_fd=place.fd, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                yield os.readlink(place.at(names[-1]), dir_fd=place.fd)
                return
            fd = os.open(place.at(names[-1]), _READ, dir_fd=place.fd)
            try:
                yield from _pieces(fd)
            finally:
                os.close(fd)

    def names_in(self, path: str | bytes) -> list[bytes]:
        """Return the names in a directory. Raises OSError."""
        return sorted(os.listdir(os.path.join(self.root, os.fsencode(path))))

    # Changing. All of these raise OSError, and `SomebodyWasFaster` when what is there is not what was expected.

    def put(self, path: bytes, mode: int, pieces: Iterable[bytes], seen: Found, name: str) -> None:
        """Put a file or a symbolic link in the place of what was seen at a path; temporary names begin with `name`."""
        names = path.split(b"/")
        new, old = os.fsencode(name + ".tmp"), os.fsencode(name + ".old")
        with self._parent(names) as place:
            fd = None
            if stat.S_ISLNK(mode):
                os.symlink(b"".join(pieces), place.at(new), dir_fd=place.fd)
            else:
                fd = os.open(place.at(new), _NEW, 0o600, dir_fd=place.fd)
            try:
                if fd is not None:
                    _write(fd, place, mode, pieces)
                _take_place(place, new, old, names[-1], seen)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(place.at(new), dir_fd=place.fd)
            _sync(place)

    def remove(self, path: bytes, seen: Found, name: str) -> None:
        """Remove a file or a symbolic link that was seen at a path."""
        names = path.split(b"/")
        old = os.fsencode(name + ".old")
        with self._parent(names) as place:
            _check(place, names[-1], seen)
            if _look(place, old).kind != "nothing":
                raise FileExistsError(errno.EEXIST, f"a file '{os.fsdecode(old)}' is in the way")
            # Out of sight first: if it is not the one that was seen, it comes back.
            os.rename(place.at(names[-1]), place.at(old), src_dir_fd=place.fd, dst_dir_fd=place.fd)
            if not _is_same(place, old, seen):
                _give_back(place, old, names[-1])
                raise SomebodyWasFaster
            try:
                os.unlink(place.at(old), dir_fd=place.fd)
            except OSError:
                _give_back(place, old, names[-1])
                raise
            _sync(place)

    def make_directory(self, path: bytes, mode: int, *, exactly: bool = False) -> None:
        """Make a directory; one that is there stays as it is. With `exactly` the umask takes nothing from its mode."""
        names = path.split(b"/")
        with self._parent(names) as place:
            try:
                os.mkdir(place.at(names[-1]), stat.S_IMODE(mode), dir_fd=place.fd)
            except FileExistsError:
                if not stat.S_ISDIR(os.stat(place.at(names[-1]), dir_fd=place.fd, follow_symlinks=False).st_mode):
                    raise SomebodyWasFaster from None
                return
            if hasattr(os, "fchmod"):
                fd = os.open(place.at(names[-1]), _DIRECTORY, dir_fd=place.fd)
                try:
                    _give_owner(fd, place)
                    if exactly:
                        os.fchmod(fd, stat.S_IMODE(mode))
                finally:
                    os.close(fd)
            _sync(place)

    def remove_directory(self, path: bytes) -> bool:
        """Remove a directory if it is empty; returns whether it is gone."""
        names = path.split(b"/")
        try:
            with self._parent(names) as place:
                os.rmdir(place.at(names[-1]), dir_fd=place.fd)
        except FileNotFoundError:
            return True
        except (OSError, _Behind):
            return False
        return True

    def clean(self, path: bytes, name: str, known: frozenset[bytes]) -> None:
        """Remove temporary files that a stopped process left beside a path. An old file that was held by a second name
        goes only if its bytes are `known`; otherwise it gets its place back, or stays under the second name."""
        names = path.split(b"/")
        new, old = os.fsencode(name + ".tmp"), os.fsencode(name + ".old")
        with suppress(OSError, _Behind), self._parent(names) as place:
            with suppress(FileNotFoundError):
                os.unlink(place.at(new), dir_fd=place.fd)
            found = _look(place, old)
            if found.digest is not None and found.digest in known:
                os.unlink(place.at(old), dir_fd=place.fd)
            elif found.kind != "nothing" and _look(place, names[-1]).kind == "nothing":
                os.rename(place.at(old), place.at(names[-1]), src_dir_fd=place.fd, dst_dir_fd=place.fd)

    @contextmanager
    def _parent(self, names: list[bytes]) -> Iterator[_Place]:
        """Open the directory that the last of names is in. Raises `_Behind`, FileNotFoundError, other OSErrors."""
        if self._fd is None:
            yield self._parent_by_path(names)
            return
        fd = os.dup(self._fd)
        try:
            for name in names[:-1]:
                try:
                    below = os.open(name, _DIRECTORY, dir_fd=fd)
                except OSError as error:
                    if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
                        raise
                    raise _behind(os.stat(name, dir_fd=fd, follow_symlinks=False)) from error
                os.close(fd)
                fd = below
            yield _Place(fd, b"")
        finally:
            os.close(fd)

    def _parent_by_path(self, names: list[bytes]) -> _Place:
        path = self.root
        for name in names[:-1]:
            path = os.path.join(path, name)
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode):
                raise _behind(status)
        return _Place(None, path)


class _Behind(SomebodyWasFaster):
    """A name on the way to a path is no directory."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind: Kind = kind


def _behind(status: os.stat_result) -> _Behind:
    return _Behind("behind-link" if stat.S_ISLNK(status.st_mode) else "behind-file")


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes when somebody writes to a file or puts another in its place. A second name changes ctime."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _look(place: _Place, name: bytes) -> Found:
    try:
        status = os.stat(place.at(name), dir_fd=place.fd, follow_symlinks=False)
    except FileNotFoundError:
        return NOTHING_THERE
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        target = os.readlink(place.at(name), dir_fd=place.fd)
        return Found("link", mode, len(target), whole_hash([target]), _stamp(status))
    if stat.S_ISDIR(mode):
        return Found("directory", mode)
    if not stat.S_ISREG(mode):
        return Found("other", mode)
    fd = os.open(place.at(name), _READ, dir_fd=place.fd)
    try:
        status = os.fstat(fd)
        digest = whole_hash(_pieces(fd))
    finally:
        os.close(fd)
    return Found("file", status.st_mode, status.st_size, digest, _stamp(status))


def _pieces(fd: int) -> Iterator[bytes]:
    while piece := os.read(fd, _PIECE):
        yield piece


def _write(fd: int, place: _Place, mode: int, pieces: Iterable[bytes]) -> None:
    """Write a new file to the disk, and close it."""
    with open(fd, "wb", buffering=_PIECE) as file:
        file.writelines(pieces)
        file.flush()
        if hasattr(os, "fchmod"):
            _give_owner(fd, place)
            os.fchmod(fd, stat.S_IMODE(mode))
        os.fsync(fd)


def _give_owner(fd: int, place: _Place) -> None:
    """Give what root makes the owner of the directory that it is in: a user must be able to go on with their files."""
    if os.geteuid() == 0 and place.fd is not None:
        status = os.fstat(place.fd)
        with suppress(OSError):
            os.fchown(fd, status.st_uid, status.st_gid)


def _check(place: _Place, name: bytes, seen: Found) -> None:
    """Raise `SomebodyWasFaster` unless a name has what was seen there."""
    if not _is_same(place, name, seen):
        raise SomebodyWasFaster


def _is_same(place: _Place, name: bytes, seen: Found) -> bool:
    try:
        status = os.stat(place.at(name), dir_fd=place.fd, follow_symlinks=False)
    except FileNotFoundError:
        return seen.kind == "nothing"
    if seen.mode is None or stat.S_IFMT(status.st_mode) != stat.S_IFMT(seen.mode):
        return False
    return _stamp(status) == seen.stamp or _look(place, name).digest == seen.digest


def _take_place(place: _Place, new: bytes, old: bytes, name: bytes, seen: Found) -> None:
    """Give a finished file its name. What was not seen there stays there."""
    if seen.kind == "nothing":
        try:
            os.link(place.at(new), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd, follow_symlinks=False)
            return
        except FileExistsError as error:
            raise SomebodyWasFaster from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    held = False
    if seen.kind == "file":
        try:
            os.link(place.at(name), place.at(old), src_dir_fd=place.fd, dst_dir_fd=place.fd, follow_symlinks=False)
            held = True
        except FileNotFoundError as error:
            raise SomebodyWasFaster from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    try:
        _check(place, name, seen)
        os.replace(place.at(new), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd)
        if held and not _is_same(place, old, seen):
            os.replace(place.at(old), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd)
            held = False
            raise SomebodyWasFaster
    finally:
        if held:
            os.unlink(place.at(old), dir_fd=place.fd)


def _give_back(place: _Place, old: bytes, name: bytes) -> None:
    """Put a file that was moved out of sight back, but over nothing that came there since."""
    try:
        os.link(place.at(old), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd, follow_symlinks=False)
    except FileExistsError:
        return  # both stay
    except OSError:
        os.rename(place.at(old), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd)
        return
    os.unlink(place.at(old), dir_fd=place.fd)


def _sync(place: _Place) -> None:
    """Let a directory's names come to the disk, where the system can."""
    with suppress(OSError):
        if place.fd is not None:
            os.fsync(place.fd)
