"""Where a session's lines go: nowhere, to a file that does not exist yet, or to one that does (pi format 10).

A storage is asked for a `turn`: within it the state is up to date with the file, and entries can be written, once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pivcs.session.appending import Appender, Seen, SessionFileChanged, appending, seen_of
from pivcs.session.jsontext import parse_json
from pivcs.session.jsonwrite import dump_json
from pivcs.session.state import CONVERSATION_ROLES, SessionState
from pivcs.session.values import Effect, iter_kept
from pivcs.session.wholefile import replace_file, write_new

Write = Callable[..., None]
"""Takes the entries of a turn, brings them to the file in one write, and only then into the state."""


def line_of(value: object) -> bytes:
    """Return the line of a header or an entry, with its LF."""
    return dump_json(value) + b"\n"


def is_conversation_start(value: object) -> bool:
    """Whether a new session's file appears with this entry: a user or assistant message (10.1)."""
    message = value.get("message") if isinstance(value, dict) and value.get("type") == "message" else None
    return isinstance(message, dict) and message.get("role") in CONVERSATION_ROLES


class Storage:
    """The entries' way to the file. `path` is None for a session in memory.

    `seen` is what is known of the file, None as long as there is none; `pending` says what must happen to it with the
    first append, because opening does not write.
    """

    def __init__(self, path: Path | None, seen: Seen | None = None, pending: Effect = Effect.NONE) -> None:
        self.path = path
        self._seen = seen
        self.pending = pending

    @property
    def exists(self) -> bool:
        """Whether the session has a file as far as is known."""
        return self._seen is not None

    @contextmanager
    def turn(self, state: SessionState) -> Iterator[Write]:
        """Take in what others have written, then let entries be written, in one call.

        Raises what `appending`, `write_new` and `replace_file` raise; the state then lacks the entry, as the file does.
        """
        if self.path is None or self._seen is None:
            yield lambda *entries: self._hold(state, entries)
            return
        with appending(self.path, self._seen) as appender:
            self._take_in(state, appender)
            yield lambda *entries: self._write(state, appender, entries)

    def create(self, state: SessionState) -> None:
        """Write the file with everything that the state holds; it must not exist. Raises as `write_new`."""
        if self.path is not None:
            self._create(self.path, b"".join(map(line_of, state.values)))

    def _hold(self, state: SessionState, entries: Sequence[object]) -> None:
        """Keep the entries in memory until the conversation begins; then everything is written."""
        lines = list(map(line_of, entries))
        values = list(map(parse_json, lines))
        if self.path is not None and (state.has_conversation or any(map(is_conversation_start, values))):
            self._create(self.path, b"".join((*map(line_of, state.values), *lines)))
        for value in values:
            state.add(value)

    def _create(self, path: Path, data: bytes) -> None:
        write_new(path, (data,))
        self._seen = seen_of(os.stat(path), data)

    def _take_in(self, state: SessionState, appender: Appender) -> None:
        values = list(iter_kept(appender.others.split(b"\n")))
        if values and self.pending in (Effect.REWRITTEN, Effect.HEADER_WRITTEN):
            # Its version or its header is no longer what the state was made from.
            raise SessionFileChanged(appender.path)
        for value in values:
            state.add(value, move=False)
        self._seen = appender.seen

    def _write(self, state: SessionState, appender: Appender, entries: Sequence[object]) -> None:
        lines = list(map(line_of, entries))
        line = b"".join(lines)
        before, after = b"", b""
        if self.pending is Effect.REWRITTEN:
            data = b"".join((*map(line_of, state.values), line))
            replace_file(appender.path, (data,))
            self._seen = seen_of(os.stat(appender.path), data)
        elif self.pending is Effect.HEADER_WRITTEN:
            appender.append(b"".join(map(line_of, state.values)) + line)
            self._seen = appender.seen
        else:
            before, after = appender.append(line)
            self._seen = appender.seen
        self.pending = Effect.NONE
        # What others wrote in this moment gets its place in the order of the file; our entries stay the position.
        _add_others(state, before)
        for each in lines:
            state.add(parse_json(each))
        _add_others(state, after)


def _add_others(state: SessionState, data: bytes) -> None:
    """Take in lines that other writers have appended; the position stays ours."""
    for value in iter_kept(data.split(b"\n")):
        state.add(value, move=False)
