"""Counts what a sync does: bytes read from session files, statements, rows, transactions, pages of the log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pivcs.store.schema import PAGE_SIZE
from pivcs.store.store import Store

FRAME = PAGE_SIZE + 24
WAL_HEADER = 32
READING = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK", "COMMIT")


@dataclass(slots=True)
class Work:
    """What was counted between the beginning and the end of a block."""

    bytes_read: int = 0
    rows_written: int = 0
    pages_written: int = 0
    statements: list[str] = field(default_factory=list)

    @property
    def commits(self) -> int:
        """Transactions that were committed."""
        return sum(statement == "COMMIT" for statement in self.statements)

    @property
    def writes(self) -> list[str]:
        """Statements that are there to write."""
        return [each for each in self.statements if not each.lstrip().startswith(READING) or each.startswith("BEGIN I")]


@contextmanager
def counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """Count the work of a block. The store's log is emptied before, so that its size tells what was written."""
    work = Work()
    connection = store.database.connection
    assert store.database.path is not None
    log = Path(f"{store.database.path}-wal")
    pread, preadv = os.pread, os.preadv

    def counting_pread(descriptor: int, length: int, offset: int) -> bytes:
        data = pread(descriptor, length, offset)
        work.bytes_read += len(data)
        return data

    def counting_preadv(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        count = preadv(descriptor, buffers, offset)
        work.bytes_read += count
        return count

    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = connection.total_changes
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", counting_pread)
        patch.setattr(os, "preadv", counting_preadv)
        connection.set_trace_callback(work.statements.append)
        try:
            yield work
        finally:
            connection.set_trace_callback(None)
    work.rows_written = connection.total_changes - before
    work.pages_written = max(0, log.stat().st_size - WAL_HEADER) // FRAME if log.exists() else 0
