"""What hooks leave to be done: commits in a queue, taken by one process at a time, and the log of what was done.

A hook appends the ids of commits to a file in the repository, and a comment that is its own; it starts a process when
that comment is still the last line a second later. So a rebase of hundreds of commits starts one process, not hundreds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DIRECTORY: Final = "pivcs"
QUEUE: Final = "hooks.queue"
LOG: Final = "hooks.log"
MAX_LOG: Final = 64 * 1024
"""Bytes above which the older part of a log is dropped."""

_TAKEN: Final = "hooks.taken"
_LOCK: Final = "hooks.lock"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def work_off(git_dir: Path, work: Callable[[Sequence[str]], None]) -> bool:
    """Call `work` with the commits of the queue, oldest first and each once, until there are none.

    What a process took and did not get done, because it was killed, comes first. False when another process is at it:
    that one will do what is in the queue by now.
    """
    directory = git_dir / DIRECTORY
    queue, taken = directory / QUEUE, directory / _TAKEN
    while True:
        with _alone(directory / _LOCK) as alone:
            if not alone:
                return False
            while taken.exists() or _take(queue, taken):
                done = 0
                # A hook that had opened the file before it was taken may write to it a moment later.
                while len(data := taken.read_bytes()) > done:
                    work(_commits(data[done:]))
                    done = len(data)
                taken.unlink()
        if not queue.exists():
            return True


def _take(queue: Path, taken: Path) -> bool:
    try:
        os.replace(queue, taken)
    except OSError:  # on Windows also while a hook writes to it: that hook will start a process
        return False
    return True


def _commits(data: bytes) -> list[str]:
    """Return the commits that lines name: after a commit its id, after a rewrite the old one's and the new one's."""
    found: dict[str, None] = {}
    for line in data.decode("ascii", "replace").splitlines():
        words = line.split()
        if words and _COMMIT.fullmatch(words[min(1, len(words) - 1)]):
            found[words[min(1, len(words) - 1)]] = None
    return list(found)


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Hold a lock while the block runs; False when another process has it."""
    with path.open("ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
        yield True


@contextmanager
def hook_log(common_dir: Path) -> Iterator[IO[bytes]]:
    """Open a repository's log of what hooks did, for adding to it; only its end is kept when it has grown large."""
    path = log_path(common_dir)
    path.parent.mkdir(exist_ok=True)
    with path.open("ab+", buffering=0) as log:
        size = log.seek(0, os.SEEK_END)
        if size > MAX_LOG:
            log.seek(size - MAX_LOG // 2)
            kept = log.read().partition(b"\n")[2]
            log.truncate(0)
            log.write(kept)
        yield log


def log_path(common_dir: Path) -> Path:
    """Return where a repository's log of what hooks did is."""
    return common_dir / DIRECTORY / LOG


def forget_work(common_dir: Path) -> None:
    """Delete what hooks have left in a repository and its linked worktrees."""
    for place in (common_dir, *common_dir.glob("worktrees/*")):
        for name in (QUEUE, _TAKEN, _LOCK, LOG):
            with suppress(OSError):
                (place / DIRECTORY / name).unlink()
        with suppress(OSError):
            (place / DIRECTORY).rmdir()  # others may keep something there
