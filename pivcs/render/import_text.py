"""What an import did, as text and as a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pivcs.errors import PivcsError
from pivcs.gitbridge.importing import Imported, ImportedNames
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible

_DIGITS = 16
_TITLE = 72
_LONG = re.compile(r"\b([0-9a-f]{16})[0-9a-f]{48}\b")
_SESSIONS = ("damaged", "new", "written", "stream", "grown", "forgotten", "known", "beginning")
"""What can become of a session's streams, that first which says most of the session."""
_SAID = {"stream": "with a new stream", "beginning": "known"}


def import_lines(streams: Sequence[Imported], names: Sequence[ImportedNames], looks: Looks) -> Iterator[str]:
    """Yield a line for each stream with news, one for each store whose names came, and the totals."""
    yield from news_lines(streams, names, looks)
    yield sessions_line(streams)


def news_lines(streams: Sequence[Imported], names: Sequence[ImportedNames], looks: Looks) -> Iterator[str]:
    """Yield a line for each stream with news, and one for each store whose names came.

    What is damaged has none: it is told as the failure (`damage_texts`).
    """
    style = looks.styler
    for each, word in zip(streams, _words(streams), strict=True):
        size = style(Role.DIM, f"  {format_bytes(each.size)}")
        if each.outcome == "damaged":
            continue
        if each.path is not None:
            yield f"{word:<9} {visible(str(each.path), keep='')}{size}"
        elif each.outcome in ("new", "grown"):
            title = f"  {one_line(each.title, limit=_TITLE)}" if each.title else ""
            more = style(Role.DIM, "  (goes on in another way than what was here)") if word == "stream" else ""
            yield f"{word:<9} {style(Role.ID, each.key.hex()[:_DIGITS])}{size}{title}{more}"
    for each_names in names:
        if each_names.outcome == "new":
            key = style(Role.ID, each_names.key.hex()[:_DIGITS])
            yield f"{'names':<9} {key}  {plural(each_names.names, 'name')} of the store {each_names.store.hex()[:8]}"


def sessions_line(streams: Sequence[Imported], where: str = "") -> str:
    """Return how many sessions there were, in how many streams if these are more, and what became of them.

    `where` follows the numbers. A session counts once: as damaged if anything of it is, else as new if the store had
    nothing of it, else by what came.
    """
    best: dict[bytes | str, str] = {}
    for each, word in zip(streams, _words(streams), strict=True):
        session = each.key or each.stream
        if session not in best or _SESSIONS.index(word) < _SESSIONS.index(best[session]):
            best[session] = word
    came = sum(each.outcome != "beginning" for each in streams)
    words = list(best.values())
    counts = [f"{words.count(word)} {_SAID.get(word, word)}" for word in _SESSIONS if word in words]
    said = plural(len(best), "session") + (f" in {plural(came, 'stream')}" if came > len(best) else "") + where
    return said + (f": {', '.join(counts)}" if counts else "")


def damage_texts(streams: Sequence[Imported]) -> list[tuple[str, PivcsError]]:
    """Return what to say of everything that is damaged: the session, and what is wrong; each error once."""
    titles = {each.key: each.title for each in streams if each.title}
    found: dict[tuple[bytes, str], tuple[str, PivcsError]] = {}
    for each in streams:
        if each.error is None:
            continue
        title = one_line(titles.get(each.key, ""), limit=_TITLE)
        said = _LONG.sub(r"\1…", each.error.message)
        if each.key:
            said = f"session {each.key.hex()[:_DIGITS]}{f' ({title})' if title else ''}: {said}"
        found.setdefault((each.key, said), (said, each.error))
    return list(found.values())


def _words(streams: Sequence[Imported]) -> list[str]:
    """Return what became of each stream: its outcome, but `stream` for a new one of a session that is known."""
    seen: set[bytes] = set()
    words = []
    for each in streams:
        words.append("stream" if each.outcome == "new" and (each.is_known or each.key in seen) else each.outcome)
        if each.outcome in ("new", "grown", "known"):
            seen.add(each.key)
    return words


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
