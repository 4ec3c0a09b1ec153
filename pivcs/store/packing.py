"""Compressing chunks, in a second thread where there are many: compression does not hold Python's lock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pivcs.store.pieces import pack

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BATCH: Final = 8
"""Chunks that are handed over at once: one at a time makes the threads wait for each other."""
AHEAD: Final = 4
"""Batches that may wait to be compressed, which bounds memory."""

Packed = tuple[bytes, int, int, bytes]
"""Hash, size, codec and packed bytes of a chunk."""


class Packer:
    """Takes chunks and gives them back packed, in the same order."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._batch: list[tuple[bytes, bytes]] = []
        self._pending: list[Future[list[Packed]]] = []
        self._done: list[Packed] = []

    def start_thread(self) -> None:
        """Compress in a thread of its own from now on. It ends when the packer is forgotten."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1)

    def put(self, digest: bytes, chunk: bytes) -> None:
        """Add a chunk."""
        self._batch.append((digest, chunk))
        if len(self._batch) >= BATCH:
            self._hand_over()

    def take(self) -> list[Packed]:
        """Return everything that was added since the last time."""
        if self._batch:
            self._hand_over()
        for future in self._pending:
            self._done += future.result()
        self._pending.clear()
        done, self._done = self._done, []
        return done

    def _hand_over(self) -> None:
        batch, self._batch = self._batch, []
        if self._pool is None:
            self._done += _packed(batch)
            return
        if len(self._pending) >= AHEAD:
            self._done += self._pending.pop(0).result()
        self._pending.append(self._pool.submit(_packed, batch))


def _packed(batch: Iterable[tuple[bytes, bytes]]) -> list[Packed]:
    return [(digest, len(chunk), *pack(chunk)) for digest, chunk in batch]
