"""Limits of store and sync made small, so that a few hundred bytes take every path that a gigabyte takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pivcs.objects import chunking
from pivcs.ops import ingest, prefix
from pivcs.session import lines
from pivcs.store import content, pieces, rows


@contextmanager
def small_chunks() -> Iterator[None]:
    """Chunks of 128 bytes to 1 KiB, runs from 64 bytes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "LEAST", 128)
        patch.setattr(chunking, "ANY_LINE", 512)
        patch.setattr(chunking, "MOST", 1024)
        patch.setattr(chunking, "RUN", 64)
        patch.setattr(chunking, "LOOK_AHEAD", 1024 + 64)
        patch.setattr(chunking, "_WINDOW", 32)
        patch.setattr(content, "COMMIT_EVERY", 2048)
        patch.setattr(content, "TAIL_PIECES", 3)
        patch.setattr(content, "CACHED_CHUNKS", 2)
        patch.setattr(pieces, "WORTHWHILE", 64)
        yield


@contextmanager
def small_segments() -> Iterator[None]:
    """Full segments of eight rows, open ones of two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "FULL", 8)
        patch.setattr(rows, "OPEN", 2)
        yield


@contextmanager
def small_limits(*, in_memory: int = 512, whole: int = 256) -> Iterator[None]:
    """All limits small: chunks, segments, long lines, what is read at once, what is compared whole."""
    with small_chunks(), small_segments(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "IN_MEMORY", in_memory)
        patch.setattr(ingest, "_BATCH_ROWS", 4)
        patch.setattr(prefix, "WHOLE", whole)
        patch.setattr(prefix, "_EDGE", 64)
        patch.setattr(prefix, "_PIECE", 16)
        patch.setattr(lines, "_FIRST_BUFFER", 256)
        patch.setattr(lines, "LONG_LINE", 1024)
        yield
