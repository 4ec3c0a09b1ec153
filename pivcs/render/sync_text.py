"""What a sync did, as text and as a document."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from pivcs.ops.sync import Failed, Synced
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line
from pivcs.store.records import Source

_ALARMING = ("rewritten", "truncated", "gone")


def sync_lines(results: Sequence[Synced | Failed], lost: Sequence[Source], looks: Looks) -> Iterator[str]:
    """Yield a line for each file with news, and a last one with the totals."""
    style = looks.styler
    for result in results:
        if isinstance(result, Failed) or (result.outcome == "unchanged" and result.moved_from is None):
            continue
        role = Role.WARNING if result.outcome in _ALARMING else Role.PLAIN
        added = ""
        if result.outcome in ("new", "appended", "rewritten", "truncated"):
            added = f"  (+{plural(result.rows, 'line')}, {format_bytes(result.bytes)})"
        moved = f"  (moved from {one_line(result.moved_from)})" if result.moved_from is not None else ""
        yield style(role, f"{result.outcome:<10}") + one_line(result.path) + style(Role.DIM, added + moved)
    for source in lost:
        yield style(Role.WARNING, f"{'gone':<10}") + one_line(os.fsdecode(source.path))
    counts = Counter("failed" if isinstance(result, Failed) else result.outcome for result in results)
    if lost:
        counts["gone"] += len(lost)
    parts = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    yield f"{plural(len(results), 'session file')}" + (f": {', '.join(parts)}" if parts else "")


def sync_document(results: Sequence[Synced | Failed], lost: Sequence[Source]) -> Document:
    """Return what a sync did as a JSON document."""
    return {
        "schema": "pivcs.sync/1",
        "files": [_file(result) for result in results],
        "gone": [os.fsdecode(source.path) for source in lost],
    }


def _file(result: Synced | Failed) -> Document:
    if isinstance(result, Failed):
        return {"path": result.path, "outcome": "failed", "error": result.error.message}
    stream = result.stream
    return {
        "path": result.path,
        "outcome": result.outcome,
        "key": stream.session.hex() if stream is not None and stream.session is not None else None,
        "generation": stream.generation if stream is not None else None,
        "lines": result.rows,
        "bytes": result.bytes,
        "moved_from": result.moved_from,
    }
