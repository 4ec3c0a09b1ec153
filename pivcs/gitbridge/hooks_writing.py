"""Changes in a directory of hooks: each file is replaced in one step, and errors of the system are told as ours."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pivcs.errors import StateError
from pivcs.gitbridge.hook_files import ASIDE


class CannotWriteHooks(StateError):
    """A hook's file or directory cannot be written."""


def unwritable(path: Path, error: OSError) -> CannotWriteHooks:
    """Return what to raise for an error of the system at a path."""
    reason = (error.strerror or str(error)).lower()
    return CannotWriteHooks(f"cannot write '{path}': {reason}", hint="`pivcs hooks status` tells how things stand")


class Writing:
    """Changes in a directory of hooks; temporary files go when it ends. Errors of the system are `CannotWriteHooks`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._left: set[Path] = set()

    def __enter__(self) -> Writing:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self._directory, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._left:
            with suppress(OSError):
                path.unlink()

    def write(self, content: bytes, mode: int) -> Path:
        """Write a temporary file."""
        try:
            fd, name = tempfile.mkstemp(prefix=".pivcs-", dir=self._directory)
            self._left.add(Path(name))
            with open(fd, "wb") as file:
                file.write(content)
            os.chmod(name, mode)
        except OSError as error:
            raise unwritable(self._directory, error) from error
        return Path(name)

    def replace(self, prepared: Path, path: Path) -> None:
        """Put a temporary file where it belongs."""
        try:
            os.replace(prepared, path)
        except OSError as error:
            raise unwritable(path, error) from error
        self._left.discard(prepared)

    def move(self, old: Path, new: Path) -> None:
        """Move a hook to another directory; a relative link goes on leading where it did."""
        try:
            new.parent.mkdir(exist_ok=True)
            if os.path.islink(old) and not os.path.isabs(os.readlink(old)):
                target = os.readlink(old)
                away = new.parent.name == ASIDE
                target = os.path.join("..", target) if away else target.removeprefix(".." + os.sep)
                with suppress(FileNotFoundError):
                    os.unlink(new)
                os.symlink(target, new)
                os.unlink(old)
            else:
                os.replace(old, new)
        except OSError as error:
            raise unwritable(new, error) from error

    def remove(self, path: Path) -> None:
        """Delete a hook."""
        try:
            path.unlink()
        except OSError as error:
            raise unwritable(path, error) from error
