"""Making sessions and adding to conversations: `new` and `append`.

Entries and messages come as JSON lines. All are checked before the first is written, and all are written at once.
"""

from __future__ import annotations

import math
import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pivcs.errors import InputError
from pivcs.ops.access import Warn
from pivcs.ops.appended import record_append
from pivcs.ops.checkout import Written, place_for
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer, append_entries, open_to_append
from pivcs.session.codes import ROLES, TYPES
from pivcs.session.given import Object, as_entry
from pivcs.session.jsontext import NotJson, is_blank, parse_json
from pivcs.session.manager import Session
from pivcs.session.newentries import InvalidEntry
from pivcs.session.reading import EntryNotFound
from pivcs.session.storage import line_of
from pivcs.session.wholefile import write_new
from pivcs.session.world import World


class BadLine(InputError):
    """A line of the input is nothing that can be appended. Nothing was written."""

    def __init__(self, line: int, reason: str, hint: str | None) -> None:
        super().__init__(f"line {line} of the input: {reason}", hint=hint or "nothing was written")
        self.line = line


def user_message(text: str, world: World) -> Object:
    """Return the entry of what a person says, as pi writes it."""
    content = [{"type": "text", "text": text}]
    return {"type": "message", "message": {"role": "user", "content": content, "timestamp": world.clock()}}


def new_session(
    cwd: Path, *, world: World, entries: Iterable[Object] = (), numbers: list[int] | None = None,
    session_id: str | None = None, parent: Path | None = None, output: Path | None = None,
) -> Written:  # fmt: skip
    """Write a new session with these entries where pi looks for those of a working directory, or at `output`.

    `numbers` are those of the lines of the input. Raises `InvalidSessionId`, `BadLine`, `InvalidEntry`,
    `EntryNotFound`, `SessionFileExists`, `SessionNotWritable`.
    """
    absolute = world.surroundings.absolute
    above = None if parent is None else absolute(os.fspath(parent))
    session = Session.in_memory(cwd, session_id=session_id, parent_session=above, world=world)
    with _lines_named(numbers):
        ids = session.append_entries(list(entries))
    path = place_for(session.header, world) if output is None else Path(absolute(os.fspath(output)))
    data = b"".join(map(line_of, (session.header, *session.entries)))
    write_new(path, (data,))
    return Written(
        path, session.id, above, session.header["version"], session.leaf, len(ids), len(data), appended=tuple(ids)
    )  # fmt: skip


def read_entries(lines: Iterable[bytes], world: World, warn: Warn) -> tuple[list[Object], list[int]]:
    """Return the entries that lines hold, and the number of the line of each; a message becomes an entry.

    Warns of types and roles that pi 1.6 does not know, over which it reads. Raises `BadLine`.
    """
    entries: list[Object] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, 1):
        if is_blank(line):
            continue
        if line.startswith(BOM_UTF8):
            raise BadLine(number, "it begins with a byte order mark", "write the input as UTF-8 without one")
        try:
            entry = as_entry(parse_json(line.rstrip(b"\r\n")), world.clock())
        except NotJson as error:
            raise BadLine(number, "it is no JSON value", "one entry or message a line, please") from error
        except InvalidEntry as error:
            raise BadLine(number, error.message, error.hint) from error
        _warn_of_unknown(entry, number, warn)
        _warn_of_lost(entry, line, number, warn)
        entries.append(entry)
        numbers.append(number)
    return entries, numbers


def append_to(view: SessionView, entries: list[Object], writer: Writer, numbers: list[int] | None = None) -> Written:
    """Append entries where the session stands, or where they say, in one write. `numbers` are those of their lines.

    Raises `BadLine`, and as `open_to_append` and `Session.append_entries` do.
    """
    session = open_to_append(view, writer.world)
    with _lines_named(numbers):
        done = append_entries(view, session, entries, writer)
    if done.view is not None and done.ids:
        before, last = _around(done.view, done.ids)
        record_append(done.view, "entries", done.ids[0], before, last, now=writer.now, command=writer.command)
    size = sum(len(line_of(session.entry(ident))) for ident in done.ids)
    header = session.header
    return Written(
        Path(view.where), session.id, view.header.parent_session, header.get("version"), session.leaf, len(done.ids),
        size, in_place=True, appended=done.ids,
    )  # fmt: skip


@contextmanager
def _lines_named(numbers: list[int] | None) -> Iterator[None]:
    """Raise `BadLine` in the place of what is wrong with an entry whose line's number is known."""
    try:
        yield
    except (InvalidEntry, EntryNotFound) as error:
        if numbers is None or error.place is None:
            raise
        raise BadLine(numbers[error.place], error.message, error.hint) from error


def _around(view: SessionView, ids: tuple[str, ...]) -> tuple[bytes | None, bytes | None]:
    """Return the object ids of the record before entries that were appended, and of the last of these."""
    table = view.table
    first, last = table.row_named(ids[0]), table.row_named(ids[-1])
    before = next((row for row in range((first or 0) - 1, -1, -1) if table.is_node(row)), None)
    return (
        table.digest(before) if before is not None else None,
        table.digest(last) if last is not None else None,
    )


def _warn_of_lost(entry: Object, line: bytes, number: int, warn: Warn) -> None:
    """Warn of what cannot be written as it was given: pi writes UTF-8, and no number that is too large for it."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        warn(f"line {number}: it is not UTF-8; bytes that are none become U+FFFD")
    values: list[object] = [entry]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif isinstance(value, float) and not math.isfinite(value):
            warn(f"line {number}: a number is too large; it becomes null, as in pi")
            return


def _warn_of_unknown(entry: Object, number: int, warn: Warn) -> None:
    kind, message = entry.get("type"), entry.get("message")
    if kind == "message":
        role = message.get("role") if isinstance(message, dict) else None
        if isinstance(role, str) and role not in ROLES:
            warn(f"line {number}: the role '{role}' is none of pi's; the model will not see this message")
    elif isinstance(kind, str) and kind not in TYPES:
        warn(f"line {number}: the type '{kind}' is none of pi's; pi reads over this entry")
