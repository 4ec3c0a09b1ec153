"""Child processes that write a store until they are killed, and what they reported before that.

A report is written after the sync has returned, so whatever is in it must be in the store for ever.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pivcs.ops.fsck import fsck
from pivcs.ops.sync import sync_file
from pivcs.store.errors import StoreBusy
from pivcs.store.store import Store
from tests.builders import header_line
from tests.ops.syncing import NOW, many_lines
from tests.store.filling import bytes_of, digest

FILES = 3


def start(action: Callable[[], None]) -> int:
    """Run an action in a child process and return the child's id; it ends with code 1 when the action fails."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        action()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def write_for_ever(store: Path, directory: Path, reports: Path, seed: int, rounds: int = 1 << 30) -> None:
    """Change session files at random and sync them, and report each sync that is done."""
    choice = random.Random(seed)
    descriptor = os.open(reports, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(rounds):
        path = directory / f"{choice.randrange(FILES)}.jsonl"
        _change(path, choice, seed * 1000 + number)
        with suppress(StoreBusy), Store.open(store, create=True) as opened:
            stream = sync_file(opened, path, NOW + number).stream
            assert stream is not None
            data = path.read_bytes()
            assert len(data) == stream.size
            os.write(descriptor, json.dumps([stream.id, stream.size, digest(data).hex()]).encode() + b"\n")


def _change(path: Path, choice: random.Random, seed: int) -> None:
    """Let a file grow mostly; now and then it is cut, rewritten, or grows by much."""
    if not path.exists():
        path.write_bytes(header_line(str(path)))
    size = path.stat().st_size
    what = choice.random()
    if what < 0.05 or size > 300_000:
        os.truncate(path, choice.randrange(min(size, 5000)))
    elif what < 0.1:
        with path.open("r+b") as file:
            file.seek(choice.randrange(size + 1))
            file.write(b"X")
    else:
        with path.open("ab") as file:
            data = many_lines(choice.choice([1, 1, 1, 3, 40]), seed)
            file.write(data[: choice.choice([len(data), len(data), len(data) // 2])])


def kill_after(child: int, seconds: float) -> None:
    """Kill a child without a warning, and collect it."""
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def reported(reports: Path) -> dict[int, tuple[int, str]]:
    """Return the size and digest that was last reported of each stream."""
    lines = reports.read_bytes().splitlines() if reports.exists() else []
    return {stream: (size, found) for stream, size, found in map(json.loads, lines)}


def check(store: Path, reports: Path, *, full: bool = False) -> int:
    """Check that a store is whole and has all that was reported; returns how many streams that is."""
    with Store.open(store, create=True) as opened:
        assert opened.database.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert opened.database.connection.execute("PRAGMA foreign_key_check").fetchall() == []
        known = reported(reports)
        for ident, (size, found) in known.items():
            stream = opened.stream(ident)
            assert stream is not None
            assert stream.size >= size
            assert digest(bytes_of(opened, stream)[:size]).hex() == found
        if full:
            assert [each for each in fsck(opened, sources=False) if each.severity == "error"] == []
    return len(known)


CALLS = ("open", "write", "fsync", "replace", "rename", "remove", "unlink", "mkdir")


def dies_before(number: int) -> None:
    """Let this process die before one of its calls."""
    count = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return counting

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
