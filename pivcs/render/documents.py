"""Results as JSON documents. Each names its schema and version in its first key; `docs/json.md` lists the fields.

Fields are only added within a version. Text is as the session has it (JSON escapes what a terminal must not see); lone
surrogates, which JSON text cannot carry, become U+FFFD. Times are ISO 8601 in UTC, or null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from pivcs.ops.log import LoggedEntry, MadeCommit, Turn
from pivcs.ops.view import SessionView
from pivcs.session.times import format_time

Document = dict[str, object]

_OBEYED: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")
"""DEL, the second set of control characters, ends of lines and of paragraphs, and what turns the direction of writing:
orjson writes these as they are."""


def encode(document: object) -> bytes:
    """Return a JSON value as one line of UTF-8, without characters that a terminal would obey: those are escaped."""
    try:
        data = orjson.dumps(document)
    except TypeError:  # lone surrogates, or integers beyond 64 bits
        data = orjson.dumps(_plain(document))
    if _OBEYED.search(data) is None:
        return data
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0].decode()):04x}".encode(), data)


def _plain(document: object) -> object:
    if isinstance(document, str):
        return document.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(document, dict):
        return {str(_plain(key)): _plain(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_plain(value) for value in document]
    if isinstance(document, int) and not isinstance(document, bool) and abs(document) >= 1 << 63:
        return float(document)
    return document


def streamed(schema: str, head: Document, name: str, items: Iterable[object]) -> Iterator[bytes]:
    """Yield a document with one long list in it, an item a line, without holding the list."""
    opening = encode({"schema": schema, **head})
    yield opening[:-1] + f',"{name}":['.encode()
    first = True
    for item in items:
        yield (b"\n" if first else b",\n") + encode(item)
        first = False
    yield b"\n]}\n" if not first else b"]}\n"


def time_text(time: int | None) -> str | None:
    """Return a time in milliseconds as ISO text; None for no time, or one that no calendar has."""
    try:
        return None if time is None else format_time(time)
    except (ValueError, OverflowError):
        return None


def session_document(view: SessionView) -> Document:
    """Return what identifies a session."""
    header = view.header
    return {
        "path": view.where,
        "key": view.key.hex if view.key else None,
        "id": header.id,
        "name": view.name,
        "cwd": header.cwd,
        "version": header.version,
        "parent_session": header.parent_session,
        "head": view.table.name(view.head) if view.head is not None else None,
        "head_branch": view.refs.head_branch,
    }


def entry_document(view: SessionView, entry: LoggedEntry) -> Document:
    """Return one entry of a log."""
    table = view.table
    return {
        "entry": entry.name,
        "oid": entry.oid.hex,
        "parent": table.name(entry.parent) if entry.parent is not None else None,
        "parent_oid": table.object_id(entry.parent).hex if entry.parent is not None else None,
        "missing_parent": entry.missing_parent,
        "type": entry.type,
        "role": entry.role,
        "time": time_text(entry.time),
        "line": entry.line,
        "offset": table.offset[entry.row],
        "length": table.length[entry.row],
        "label": entry.label,
        "branches": list(entry.branches),
        "tags": list(entry.tags),
        "head": entry.is_head,
        "failed": entry.failed,
        "subject": view.subject(entry.row),
    }


def made_commits(commits: Iterable[MadeCommit]) -> list[Document]:
    """Return commits of git that changes went into, each once, with the lines that it has of them."""
    found: dict[str, MadeCommit] = {}
    for commit in commits:
        known = found.get(commit.ident)
        found[commit.ident] = commit if known is None else commit._replace(lines=commit.lines + known.lines)
    return [{"commit": each.ident, "refs": list(each.refs), "lines": each.lines} for each in found.values()]


def turn_document(view: SessionView, turn: Turn) -> Document:
    """Return one turn of a log."""
    table = view.table
    return {
        "entries": [table.name(row) for row in turn.rows],
        "last": table.name(turn.last),
        "oid": table.object_id(turn.last).hex,
        "parent": table.name(turn.parent) if turn.parent is not None else None,
        "prompt": view.subject(turn.prompt) if turn.prompt is not None else None,
        "answer": view.subject(turn.last),
        "finished": turn.finished,
        "time": time_text(table.time_of(turn.last)),
    }
