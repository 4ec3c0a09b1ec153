"""Appending to the session of a view: the one way in which commands write into a session file.

The file must be the one that the view shows and of the current version: pi rewrites older ones whole, which no command
of ours does in place. What was appended is synced at once, so that names and history know it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pivcs.errors import PivcsError, StateError
from pivcs.ops.access import Warn, view_of
from pivcs.ops.view import SessionView
from pivcs.session.appending import SessionFileGone
from pivcs.session.entries import Entry
from pivcs.session.manager import Session
from pivcs.session.migrations import needs_migration, version_of
from pivcs.session.world import World
from pivcs.store.records import ELSEWHERE

RECENT: Final = 10 * 60 * 1000
"""Milliseconds for which a file that changed may still be open in a pi."""


class OldVersion(StateError):
    """The file is of a version that pi rewrites before it appends to it."""


@dataclass(frozen=True, slots=True)
class Writer:
    """What appending needs: the time (milliseconds since 1970), the command as it was typed, and a way to warn."""

    now: int
    command: str
    warn: Warn
    world: World


@dataclass(frozen=True, slots=True)
class Appended:
    """The session after entries were appended, their ids, and its view; the view is None if it could not be synced."""

    session: Session
    ids: tuple[str, ...]
    view: SessionView | None


class NoSessionFile(StateError):
    """A session that came from a repository has no file that could be changed."""


def refuse_without_file(view: SessionView) -> None:
    """Raise `NoSessionFile` for what came from a repository: what its source is called must not be taken for a path."""
    if view.where.startswith(os.fsdecode(ELSEWHERE)) and view.stream is not None:
        raise NoSessionFile(
            f"'{view.where}' came from a repository and has no session file",
            hint="`pivcs import REPO --write DIR` writes one, `pivcs checkout` another one from any entry",
        )


def open_to_append(view: SessionView, world: World) -> Session:
    """Open the file of a view to append to it.

    Raises `SessionFileGone`, `NoSessionFile`, `OldVersion`, `NotASession`, `SourceNotReadable`.
    """
    refuse_without_file(view)
    path = Path(view.where)
    refuse_old(view)
    session = Session.open(path, world=world)
    if not session.is_saved:
        raise SessionFileGone(path)
    return session


def refuse_old(view: SessionView) -> None:
    """Raise `OldVersion` for a session that pi would migrate."""
    fields = view.header.fields
    if view.header_row is not None and needs_migration(fields):
        raise OldVersion(
            f"'{view.where}' is a session of version {version_of(fields):g}, which pi rewrites before it appends",
            hint="`pivcs migrate` makes a copy of the current version; or open it in pi once",
        )


def append_entries(
    view: SessionView, session: Session, entries: Sequence[Mapping[str, object]], writer: Writer,
    check: Callable[[], None] | None = None,
) -> Appended:  # fmt: skip
    """Append entries to a session that was opened by `open_to_append`, and sync it. Raises as the session does.

    They go where the file stands at that moment. `check` is as for `Session.append_entries`.
    """

    def follow_and_check() -> None:
        last = Entry(session.entries[-1]).id if session.entries else None
        if last is not None:
            session.branch(last)  # another process may have appended since the file was opened
        if check is not None:
            check()

    warn_if_recent(Path(view.where), writer)
    ids = session.append_entries(entries, check=follow_and_check)
    return Appended(session, tuple(ids), synced_again(view, writer))


def warn_if_recent(path: Path, writer: Writer) -> None:
    """Warn when a file changed in the last ten minutes: a pi that has it open reads it only when it opens it again."""
    try:
        age = writer.now - os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return
    if age < RECENT:
        minutes = max(0, age) // 60_000
        when = "less than a minute ago" if not minutes else f"{minutes} minute{'s' * (minutes > 1)} ago"
        writer.warn(f"'{path}' changed {when}; a pi that has it open sees what is appended only on reopening it")


def synced_again(view: SessionView, writer: Writer) -> SessionView | None:
    """Sync the file of a view after something was appended, and return its new view; warn if that is not possible.

    What was written is written: failing now would say that it was not.
    """
    if view.store is None:
        writer.warn("there is no store that can be used, so `pivcs undo` will not know of this")
        return None
    from pivcs.ops.sync import sync_file

    try:
        stream = sync_file(view.store, Path(view.where), writer.now).stream
    except PivcsError as error:
        writer.warn(f"{error.message}; the line is written, but `pivcs undo` will not know of it")
        return None
    return view_of(view.store, stream) if stream is not None else None
