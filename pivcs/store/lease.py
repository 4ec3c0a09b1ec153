"""Who has stored chunks that no stream has yet, so that they are not collected: a lock on a file beside the store.

The lock is advisory and vanishes with its process, so a crash leaves nothing behind. Where it cannot be had, nothing is
lost either: a writer whose chunks were collected notices it and starts again (`ChunkVanished`).
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None  # type: ignore[assignment]

SUFFIX: Final = ".lease"
_WAIT: Final = 2.0
_STEP: Final = 0.01


def hold_lease(store: Path | None, holder: object) -> None:
    """Keep chunks from being collected for as long as `holder` lives."""
    fd = _open(store)
    if fd is None or fcntl is None:
        return
    for _ in range(int(_WAIT / _STEP)):
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            weakref.finalize(holder, os.close, fd)
            return
        except BlockingIOError:
            time.sleep(_STEP)
        except OSError:  # a file system without locks
            break
    os.close(fd)


@contextmanager
def no_leases(store: Path | None) -> Iterator[bool]:
    """Say whether nobody has a lease, and let nobody get one until the end of the block."""
    fd = _open(store)
    if fd is None or fcntl is None:
        yield True
        return
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        except OSError:
            alone = True
        yield alone
    finally:
        os.close(fd)


def lease_file(store: Path) -> Path:
    """Return the file that is locked; it is empty, and may be deleted when no pivcs runs."""
    return store.with_name(store.name + SUFFIX)


def _open(store: Path | None) -> int | None:
    if store is None or fcntl is None:
        return None
    try:
        return os.open(lease_file(store), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
