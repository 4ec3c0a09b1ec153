"""Making the store smaller without taking anything from it that a stream or a name needs. All generations are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from pivcs.store import collect
from pivcs.store.forgotten import erase
from pivcs.store.store import Store

Progress = Callable[[int], None]
"""Told how many raw bytes have been looked at since the last call."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What `gc` found to do, and with `applied` has done.

    `chunks` no stream has; they take `chunk_bytes`. `sessions` have no stream. `loose` chunks and tails, of
    `loose_bytes` raw bytes, were compressed in haste; compressing them well `saved` so many bytes, which is not known
    before. `tails` are in pieces. `free` bytes of the file hold nothing. `skipped`: a sync was under way, so that
    unused chunks were left alone. `damaged` chunks cannot be read and were left as they are. Sizes are those of the
    file with its log.
    """

    applied: bool
    chunks: int
    chunk_bytes: int
    sessions: int
    loose: int
    loose_bytes: int
    tails: int
    free: int
    size_before: int
    size_after: int
    saved: int = 0
    damaged: int = 0
    skipped: bool = False

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.chunks or self.sessions or self.loose or self.tails or self.free)


def plan(store: Store) -> Collected:
    """Return what there is to do; writes nothing."""
    database = store.database
    with database.snapshot():
        unused = collect.find_unused(database)
        loose = collect.loosely_packed(database)
        tails = collect.split_tails(database)
        free = collect.free_bytes(database)
    size = _size(store)
    return Collected(
        applied=False,
        chunks=unused.chunks,
        chunk_bytes=unused.chunk_bytes,
        sessions=unused.sessions,
        loose=len(loose),
        loose_bytes=sum(raw for _, _, raw in loose),
        tails=len(tails),
        free=free,
        size_before=size,
        size_after=size,
    )


def collect_garbage(store: Store, progress: Progress = lambda _: None) -> Collected:
    """Do what there is to do. Raises `StoreBusy`, `StoreReadOnly`, `StoreFull`; what was done until then stays done."""
    database = store.database
    before, free = _size(store), collect.free_bytes(database)
    unused = collect.remove_unused(database)
    tails = collect.merge_tails(database, collect.split_tails(database))
    loose = collect.loosely_packed(database)
    packed = collect.repack(database, loose, progress)
    if store.forgotten.needs_erasure():
        erase(database)
    collect.return_space(database)
    return Collected(
        applied=True,
        chunks=unused.chunks if unused is not None else 0,
        chunk_bytes=unused.chunk_bytes if unused is not None else 0,
        sessions=unused.sessions if unused is not None else 0,
        loose=packed.count,
        loose_bytes=sum(raw for _, _, raw in loose),
        tails=tails,
        free=free,
        size_before=before,
        size_after=_size(store),
        saved=packed.before - packed.after,
        damaged=packed.damaged,
        skipped=unused is None,
    )


def _size(store: Store) -> int:
    """Return the bytes of the store's file and its log."""
    path = store.database.path
    if path is None:
        with store.database.reading() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (size,) = connection.execute("PRAGMA page_size").fetchone()
        return int(pages) * int(size)
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(f"{path}{suffix}").st_size
        except FileNotFoundError:
            continue
    return total
