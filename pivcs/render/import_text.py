"""What an import did, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pivcs.gitbridge.importing import Imported, ImportedNames
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible

_DIGITS = 16


def import_lines(streams: Sequence[Imported], names: Sequence[ImportedNames], looks: Looks) -> Iterator[str]:
    """Yield a line for each stream with news, one for each store whose names came, and the totals."""
    yield from news_lines(streams, names, looks)
    sessions = len({each.key for each in streams if each.outcome != "damaged"})
    yield plural(sessions, "session") + outcome_counts(streams)


def news_lines(streams: Sequence[Imported], names: Sequence[ImportedNames], looks: Looks) -> Iterator[str]:
    """Yield a line for each stream with news, and one for each store whose names came."""
    style = looks.styler
    for each in streams:
        if each.outcome == "damaged":
            assert each.error is not None
            yield style(Role.WARNING, f"{'damaged':<9} {one_line(each.error.message)}")
        elif each.path is not None:
            size = style(Role.DIM, f"  {format_bytes(each.size)}")
            yield f"{each.outcome:<9} {visible(str(each.path), keep='')}{size}"
        elif each.outcome in ("new", "grown"):
            key = style(Role.ID, each.key.hex()[:_DIGITS])
            yield f"{each.outcome:<9} {key}" + style(Role.DIM, f"  {format_bytes(each.size)}")
    for each_names in names:
        if each_names.outcome == "new":
            key = style(Role.ID, each_names.key.hex()[:_DIGITS])
            yield f"{'names':<9} {key}  {plural(each_names.names, 'name')} of the store {each_names.store.hex()[:8]}"


def outcome_counts(streams: Sequence[Imported]) -> str:
    """Return how many streams had which outcome, after a colon; nothing without streams."""
    outcomes = [each.outcome for each in streams]
    counts = [f"{outcomes.count(outcome)} {outcome}" for outcome in sorted(set(outcomes))]
    return f": {', '.join(counts)}" if counts else ""


def import_document(streams: Sequence[Imported], names: Sequence[ImportedNames], where: str) -> Document:
    """Return what an import did as a document, schema `pivcs.import/1`."""
    return {
        "schema": "pivcs.import/1",
        "repository": where,
        "streams": stream_documents(streams),
        "names": name_documents(names),
    }


def stream_documents(streams: Sequence[Imported]) -> list[Document]:
    """Return what became of streams as JSON objects."""
    return [
        {
            "stream": each.stream,
            "key": each.key.hex() if each.key else None,
            "size": each.size,
            "outcome": each.outcome,
            "path": str(each.path) if each.path is not None else None,
            "error": each.error.message if each.error is not None else None,
        }
        for each in streams
    ]


def name_documents(names: Sequence[ImportedNames]) -> list[Document]:
    """Return what became of names of other stores as JSON objects."""
    return [
        {"key": each.key.hex(), "store": each.store.hex(), "names": each.names, "outcome": each.outcome}
        for each in names
    ]
