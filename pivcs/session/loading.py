"""How a session comes into memory: a new header, or a file read and migrated (pi format 1, 8 and 9)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pivcs.session.appending import Seen, read_file
from pivcs.session.layout import session_file_name
from pivcs.session.migrations import migrate
from pivcs.session.newentries import Object, check_session_id, make_header
from pivcs.session.state import SessionState
from pivcs.session.values import Effect, open_values
from pivcs.session.world import World, new_entry_id, new_session_id

PathLike = str | os.PathLike[str]


def read_session(file: Path, cwd: str, world: World) -> tuple[SessionState, Seen | None, Effect]:
    """Return a file's state, what is known of the file, and what pi would do to it now.

    Without a file it is a new session of the working directory. Raises NotASession and SourceNotReadable.
    """
    if not file.exists():
        return SessionState([new_header(world, cwd, None, None)]), None, Effect.NONE
    data, seen = read_file(file)
    opening = open_values(data, str(file))
    if opening.header is None:
        return SessionState([new_header(world, cwd, None, None)]), seen, Effect.HEADER_WRITTEN
    return SessionState(migrated(opening.values, world)), seen, opening.effect


def migrated(values: Sequence[object], world: World) -> list[object]:
    """Return the values as version 3; entries of version 1 get random ids, which differ from each other unlike pi's."""
    ids: set[str] = set()

    def new_id(_: int) -> str:
        ident = new_entry_id(ids, world.random)
        ids.add(ident)
        return ident

    return migrate(values, new_id)


def new_header(world: World, cwd: str, session_id: str | None, parent_session: str | None) -> Object:
    """Return the header of a session that begins now. Raises InvalidSessionId for an id that pi would not take."""
    ident = new_session_id(world.clock(), world.random) if session_id is None else check_session_id(session_id)
    return make_header(ident, world.timestamp(), cwd, parent_session)


def file_name(header: Object) -> str:
    """Return the name of the file that a new session gets."""
    return session_file_name(str(header["timestamp"]), str(header["id"]))


def directory_for(cwd: str, given: PathLike | None, world: World) -> Path:
    """Return the directory that was given, else pi's own for the working directory."""
    surroundings = world.surroundings
    return Path(surroundings.project_dir(cwd) if given is None else surroundings.absolute(os.fspath(given)))


def cwd_filter(cwd: str, directory: Path, world: World) -> str | None:
    """Return the working directory to filter by: an explicit directory may hold sessions of others (16.1)."""
    return None if str(directory) == world.surroundings.absolute(world.surroundings.project_dir(cwd)) else cwd
