"""Unpacking chunks in other threads before they are asked for: neither Zstandard nor BLAKE3 holds Python's lock.

For who reads many chunks one after the other. The store is read in the caller's thread.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from queue import SimpleQueue
from typing import Final, NamedTuple

THREADS: Final = 2
BATCH: Final = 2
"""Chunks that are handed over at once: one at a time makes the threads wait for each other."""
AHEAD: Final = 6
"""Batches that are under way, which bounds memory: a chunk has at most 1 MiB."""


class Row(NamedTuple):
    """A chunk as it is stored; the types are what the store should have."""

    size: int
    codec: int
    data: bytes
    digest: bytes


Load = Callable[[int], Row | None]
Unpack = Callable[[int, Row | None], bytes]
Answers = list[tuple[int, bytes | BaseException]]


class Batch(NamedTuple):
    """Chunks to be unpacked, and where the answers go."""

    rows: list[tuple[int, Row | None]]
    answers: SimpleQueue[Answers]


class ReadAhead:
    """Gives chunks in the order in which it was told that they would be needed; each once.

    `load` reads the row of a chunk and is called in the caller's thread, `unpack` in others; what `unpack` raises is
    raised when the chunk is taken.
    """

    def __init__(self, load: Load, unpack: Unpack, idents: Iterable[int]) -> None:
        self._load = load
        self._next = iter(dict.fromkeys(idents))
        self._all_given = False
        self._coming: set[int] = set()
        self._under_way: deque[SimpleQueue[Answers]] = deque()
        self._ready: deque[tuple[int, bytes | BaseException]] = deque()
        self._tasks: SimpleQueue[Batch | None] = SimpleQueue()
        # The threads end when nobody is left to whom they could give anything.
        weakref.finalize(self, _end, self._tasks)
        for _ in range(THREADS):
            threading.Thread(target=_work, args=(unpack, self._tasks), daemon=True).start()

    @property
    def is_done(self) -> bool:
        """Whether there is nothing more to come."""
        return self._all_given and not self._coming

    def take(self, ident: int) -> bytes | None:
        """Return a chunk; those that were to come before it are forgotten. None when it is not among the next ones."""
        self._hand_over()
        if ident not in self._coming:
            return None
        while True:
            while self._ready:
                found, answer = self._ready.popleft()
                self._coming.discard(found)
                if found == ident:
                    if isinstance(answer, BaseException):
                        raise answer
                    return answer
            self._ready.extend(self._under_way.popleft().get())
            self._hand_over()

    def _hand_over(self) -> None:
        while len(self._under_way) < AHEAD:
            rows = [(ident, self._load(ident)) for ident in islice(self._next, BATCH)]
            if not rows:
                self._all_given = True
                break
            self._coming.update(ident for ident, _ in rows)
            batch = Batch(rows, SimpleQueue())
            self._under_way.append(batch.answers)
            self._tasks.put(batch)


def _end(tasks: SimpleQueue[Batch | None]) -> None:
    for _ in range(THREADS):
        tasks.put(None)


def _work(unpack: Unpack, tasks: SimpleQueue[Batch | None]) -> None:
    while (batch := tasks.get()) is not None:
        answers: Answers = []
        for ident, row in batch.rows:
            try:
                answers.append((ident, unpack(ident, row)))
            except BaseException as error:
                answers.append((ident, error))
        batch.answers.put(answers)
        del batch, answers
