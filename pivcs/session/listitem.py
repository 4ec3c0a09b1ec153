"""What pi's list shows for one session file (pi format 16.1), and the header that its other searches look for.

Files are read in pieces and never written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from pivcs.errors import DataError
from pivcs.session.jsstring import js_trim
from pivcs.session.times import parse_time, time_of
from pivcs.session.values import is_header_value, iter_kept

PIECE = 1 << 20
"""How much is read at a time, and how far "continue" and the search by id look for a header."""

NO_MESSAGES = "(no messages)"


class NotListed(DataError):
    """pi's list leaves the file out, for the reason that the message gives."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"'{path}' is left out of the list: {reason}")
        self.path = path
        self.reason = reason


class Listed(NamedTuple):
    """One session of the list. Times are milliseconds since 1970; `created` is None if the header's is unreadable."""

    path: Path
    id: str | None
    cwd: str
    parent_session: str | None
    name: str | None
    created: int | None
    modified: int
    message_count: int
    first_message: str
    all_messages_text: str


def list_item(path: Path) -> Listed:
    """Return what pi's list shows for a file.

    Raises NotListed where pi would leave it out, which is also so for one message with content of a wrong shape.
    """
    try:
        with _open(path) as file:
            modified = os.fstat(file.fileno()).st_mtime_ns // 1_000_000
            return _read_item(path, iter_kept(iter_lines(file.read)), modified)
    except OSError as error:
        raise NotListed(path, error.strerror or str(error)) from error


def read_header(path: Path) -> dict[str, object] | None:
    """Return a file's header as pi finds it for "continue": within the first MiB, with a string id; else None."""
    try:
        with _open(path) as file:
            start = _read_up_to(file.read, PIECE)
    except OSError:
        return None
    lines = start.split(b"\n")
    if len(start) == PIECE:
        lines.pop()  # it may go on behind the piece
    first = next(iter_kept(lines), None)
    if isinstance(first, dict) and is_header_value(first) and isinstance(first.get("id"), str):
        return first
    return None


def iter_lines(read: Callable[[int], bytes | None]) -> Iterator[bytes]:
    """Yield the lines of a file without their ends: LF, CR and CR LF all end a line here, unlike on opening (16.1)."""
    parts: list[bytes] = []
    after_cr = False
    while piece := read(PIECE):
        ends_in_cr = piece.endswith(b"\r")
        if after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
            if not piece:
                after_cr = False
                continue
        after_cr = ends_in_cr
        lines = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        parts.append(lines[0])
        if len(lines) > 1:
            yield b"".join(parts)
            yield from lines[1:-1]
            parts = [lines[-1]]
    last = b"".join(parts)
    if last:
        yield last


class _WrongShape(Exception):
    """A value at which pi's own code raises while it makes a list item."""


def _read_item(path: Path, values: Iterator[object], file_time: int) -> Listed:
    header = next(values, None)
    if not isinstance(header, dict) or not is_header_value(header):
        raise NotListed(path, "no session header")
    name: str | None = None
    count, texts, first, latest = 0, list[str](), "", -1
    try:
        for value in values:
            if not isinstance(value, dict):
                continue
            if value.get("type") == "session_info":
                name = _name(value.get("name"))
            elif value.get("type") == "message":
                count += 1
                message = _talk(value)
                if message is None:
                    continue
                latest = max(latest, _activity(value, message))
                text = _message_text(message["content"])
                if text:
                    texts.append(text)
                    if not first and message["role"] == "user":
                        first = text
    except _WrongShape as error:
        raise NotListed(path, str(error)) from error
    ident, cwd, parent = header.get("id"), header.get("cwd"), header.get("parentSession")
    created = time_of(header["timestamp"]) if "timestamp" in header else None
    return Listed(
        path=path,
        id=ident if isinstance(ident, str) else None,
        cwd=cwd if isinstance(cwd, str) else "",
        parent_session=parent if isinstance(parent, str) else None,
        name=name,
        created=created,
        modified=latest if latest > 0 else file_time if created is None else created,
        message_count=count,
        first_message=first or NO_MESSAGES,
        all_messages_text=" ".join(texts),
    )


def _talk(entry: dict[str, object]) -> dict[str, object] | None:
    """Return the message if it is a user's or a model's and has content."""
    message = entry.get("message")
    if message is None:
        raise _WrongShape("a message entry without a message")
    if isinstance(message, dict) and message.get("role") in ("user", "assistant") and "content" in message:
        return message
    return None


def _activity(entry: dict[str, object], message: dict[str, object]) -> int:
    stamp = message.get("timestamp")
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool):
        return time_of(stamp) or 0
    return parse_time(entry.get("timestamp")) or 0


def _message_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or None in content:
        raise _WrongShape("a message whose content is neither text nor blocks")
    blocks = (block for block in content if isinstance(block, dict) and block.get("type") == "text")
    return " ".join(text if isinstance(text := block.get("text"), str) else "" for block in blocks)


def _name(name: object) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str):
        raise _WrongShape("a session name that is no text")
    return js_trim(name) or None


def _open(path: Path) -> FileIO:
    """Open a regular file; raise OSError for others, which could make a reader wait for ever."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(0, "no regular file")
    return path.open("rb", buffering=0)


def _read_up_to(read: Callable[[int], bytes | None], size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (piece := read(size)):
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)
