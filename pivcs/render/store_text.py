"""Facts about the store and what `gc` did, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterator

from pivcs.gitbridge.snapshot_upkeep import Space
from pivcs.ops.gc import Collected
from pivcs.render.amounts import format_bytes, format_count, plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line
from pivcs.store.admin import Facts


def store_lines(facts: Facts, looks: Looks) -> Iterator[str]:
    """Yield what a store is and holds."""
    journal = {"wal": "write-ahead log"}.get(facts.journal, f"{facts.journal} journal")
    access = "read-only" if facts.read_only else "readable and writable"
    features = f", features: {', '.join(facts.features)}" if facts.features else ""
    log = f" and {format_bytes(facts.log_size)} log" if facts.log_size else ""
    gone = f", {format_count(facts.gone)} of them gone" if facts.gone else ""
    yield _field("Store", looks.styler(Role.HEADING, one_line(str(facts.path))))
    yield _field("Format", f"version {facts.format_version}{features}, {journal}, {access}")
    yield _field("Size", f"{format_bytes(facts.file_size)}{log}, {format_bytes(facts.free)} of it free")
    yield _field("Sessions", format_count(facts.sessions))
    yield _field("Sources", f"{plural(facts.sources, 'file')}{gone}, {plural(facts.events, 'event')}")
    yield _field("Streams", f"{plural(facts.streams, 'generation')}, {format_bytes(facts.raw)}, {_rows(facts.rows)}")
    yield _field(
        "Chunks",
        f"{plural(facts.chunks, 'chunk')}, {format_bytes(facts.unique)} stored as {format_bytes(facts.stored)}",
    )
    ratio = _ratio(facts)
    if ratio is not None:
        yield _field("Ratio", f"{ratio:.3f} of the bytes of all generations")


def _rows(count: int) -> str:
    return plural(count, "row")


def _ratio(facts: Facts) -> float | None:
    return round((facts.file_size + facts.log_size) / facts.raw, 4) if facts.raw else None


def _field(name: str, text: str) -> str:
    return f"{name + ':':<10} {text}"


def store_document(facts: Facts) -> Document:
    """Return what a store is and holds as a JSON document."""
    return {
        "schema": "pivcs.store/1",
        "path": str(facts.path),
        "format_version": facts.format_version,
        "features": list(facts.features),
        "journal": facts.journal,
        "read_only": facts.read_only,
        "file_size": facts.file_size,
        "log_size": facts.log_size,
        "free": facts.free,
        "raw": facts.raw,
        "unique": facts.unique,
        "stored": facts.stored,
        "ratio": _ratio(facts),
        "chunks": facts.chunks,
        "sources": facts.sources,
        "gone": facts.gone,
        "streams": facts.streams,
        "sessions": facts.sessions,
        "rows": facts.rows,
        "events": facts.events,
    }


def gc_lines(done: Collected, snapshots: Space | None, looks: Looks) -> Iterator[str]:
    """Yield what `gc` did or would do."""
    if done.skipped:
        yield looks.styler(Role.WARNING, "a sync is under way: unused chunks were left alone; run it again later")
    for amount, text in (
        (done.chunks, f"{plural(done.chunks, 'chunk')} that no session uses, {format_bytes(done.chunk_bytes)}"),
        (done.sessions, f"{plural(done.sessions, 'session')} without a file"),
        (done.tails, f"{plural(done.tails, 'end')} of sessions in several pieces"),
        (done.loose, f"{plural(done.loose, 'chunk')} compressed in haste, {format_bytes(done.loose_bytes)} of text"),
        (done.free, f"{format_bytes(done.free)} of free pages"),
    ):
        if amount:
            yield f"  {text}"
    if snapshots is not None and snapshots.deleted:
        yield f"  {plural(snapshots.deleted, 'deleted snapshot')}"
    if done.damaged:
        damaged = f"{plural(done.damaged, 'chunk')} cannot be read and stay as they are: see `pivcs fsck`"
        yield looks.styler(Role.ERROR, damaged)
    if done.applied:
        yield f"store: {format_bytes(done.size_before)} -> {format_bytes(done.size_after)}"
        if snapshots is not None:
            yield f"snapshots: {format_bytes(snapshots.size_before)} -> {format_bytes(snapshots.size_after)}"
    elif done.nothing and (snapshots is None or not snapshots.deleted):
        yield f"nothing to do; store: {format_bytes(done.size_before)}"
    else:
        yield f"store: {format_bytes(done.size_before)}; `pivcs gc --apply` does it"


def gc_document(done: Collected, snapshots: Space | None) -> Document:
    """Return what `gc` did or would do as a JSON document."""
    return {
        "schema": "pivcs.gc/1",
        "applied": done.applied,
        "chunks": done.chunks,
        "chunk_bytes": done.chunk_bytes,
        "sessions": done.sessions,
        "loose": done.loose,
        "loose_bytes": done.loose_bytes,
        "tails": done.tails,
        "free": done.free,
        "saved": done.saved if done.applied else None,
        "damaged": done.damaged,
        "skipped": done.skipped,
        "size_before": done.size_before,
        "size_after": done.size_after,
        "snapshots": None if snapshots is None else {
            "deleted": snapshots.deleted,
            "size_before": snapshots.size_before,
            "size_after": snapshots.size_after,
        },
    }
