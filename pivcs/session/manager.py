"""`Session`: everything that pi's session manager does, in Python (pi format 9 to 16).

On purpose other than pi 1.6.0:

- Opening writes nothing. What pi does at once (the missing last LF, the newer version, a header for an empty file) is
  done with the first append.
- A directory is made when a file is put into it.
- Files are written whole through a temporary file, and new ones never replace another.
- Appending takes an advisory lock, reads what others have appended, and refuses a file that is gone or was rewritten.
- A source of version 1 or 2 is migrated when it is forked into another directory.
- Where writing fails, nothing has changed, the position included.
"""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Literal, TypeVar

from pivcs.session.appends import SessionAppends
from pivcs.session.copying import branched_values, exported_values
from pivcs.session.jsontext import parse_json
from pivcs.session.jsonwrite import dump_json
from pivcs.session.listing import Listing, Progress, list_all, list_directory, most_recent
from pivcs.session.loading import (
    PathLike,
    cwd_filter,
    directory_for,
    file_name,
    migrated,
    new_header,
    read_session,
)
from pivcs.session.newentries import InvalidEntry, make_header
from pivcs.session.reading import EntryNotFound
from pivcs.session.source import SourceNotReadable
from pivcs.session.state import SessionState
from pivcs.session.storage import Storage, line_of
from pivcs.session.values import Effect, NotASession, is_header_value
from pivcs.session.wholefile import write_new
from pivcs.session.world import World, new_entry_id

SessionType = TypeVar("SessionType", bound="Session")


class Session(SessionAppends):
    """One session: its entries, a position among them, and the file to which appended entries go.

    Made by one of the class methods. Directories that are not given are pi's own for the working directory. `world`
    gives time, random ids and surroundings; without it they are those of this process. Not for use by several threads
    at once; several processes may append to one file.
    """

    @classmethod
    def create(
        cls: type[SessionType], cwd: PathLike, session_dir: PathLike | None = None, *,
        session_id: str | None = None, parent_session: str | None = None, world: World | None = None,
    ) -> SessionType:  # fmt: skip
        """Begin a session; its file appears with the first user or assistant message (10.1).

        Raises InvalidSessionId.
        """
        world = world or World.real()
        cwd = world.surroundings.absolute(os.fspath(cwd))
        directory = directory_for(cwd, session_dir, world)
        header = new_header(world, cwd, session_id, parent_session)
        storage = Storage(directory / file_name(header))
        return cls(SessionState([header]), storage, cwd, directory, world)

    @classmethod
    def open(
        cls: type[SessionType], path: PathLike, session_dir: PathLike | None = None, *,
        cwd: PathLike | None = None, world: World | None = None,
    ) -> SessionType:  # fmt: skip
        """Open a session file, which stays as it is until something is appended (9).

        A path that does not exist, and an empty file, are new sessions. `cwd` stands in for the header's. Sessions made
        from this one go to `session_dir`, else beside it. Raises NotASession and SourceNotReadable.
        """
        world = world or World.real()
        file = Path(world.surroundings.absolute(os.fspath(path)))
        given = None if cwd is None else world.surroundings.absolute(os.fspath(cwd))
        directory = file.parent if session_dir is None else directory_for("", session_dir, world)
        state, seen, pending = read_session(file, given or world.surroundings.cwd, world)
        stated = state.header.get("cwd")
        working = given or (world.surroundings.absolute(stated) if isinstance(stated, str) else world.surroundings.cwd)
        return cls(state, Storage(file, seen, pending), working, directory, world)

    @classmethod
    def continue_recent(
        cls: type[SessionType], cwd: PathLike, session_dir: PathLike | None = None, *, world: World | None = None
    ) -> SessionType:
        """Open the session of the working directory whose file is the newest, or begin one (16.2)."""
        world = world or World.real()
        cwd = world.surroundings.absolute(os.fspath(cwd))
        directory = directory_for(cwd, session_dir, world)
        found = most_recent(directory, cwd=cwd_filter(cwd, directory, world))
        if found is None:
            return cls.create(cwd, directory, world=world)
        return cls.open(found, directory, cwd=cwd, world=world)

    @classmethod
    def in_memory(
        cls: type[SessionType], cwd: PathLike | None = None, values: Sequence[object] = (), *,
        session_id: str | None = None, parent_session: str | None = None, world: World | None = None,
    ) -> SessionType:  # fmt: skip
        """Begin a session without a file, or take one from the values of its lines, with or without a header."""
        world = world or World.real()
        working = world.surroundings.absolute(os.fspath(cwd)) if cwd is not None else world.surroundings.cwd
        taken = [parse_json(dump_json(value)) for value in values]
        if not any(map(is_header_value, taken)):
            taken.insert(0, new_header(world, working, session_id, parent_session))
        return cls(SessionState(migrated(taken, world)), Storage(None), working, None, world)

    @classmethod
    def fork(
        cls: type[SessionType], source: PathLike, entry_id: str, *, position: Literal["before", "at"] = "before",
        session_dir: PathLike | None = None, world: World | None = None,
    ) -> SessionType:  # fmt: skip
        """Begin a session that holds a path of a saved one: up to before a user message, or to any entry itself (12.2).

        Raises EntryNotFound, InvalidEntry for another entry than a user message, and what `open` raises.
        """
        session = cls._open_saved(source, session_dir, world)
        target = session.entry(entry_id)
        if position == "at":
            session.create_branched_session(entry_id)
            return session
        fields = target if isinstance(target, dict) else {}
        message = fields.get("message")
        if fields.get("type") != "message" or not isinstance(message, dict) or message.get("role") != "user":
            raise InvalidEntry(f"entry '{entry_id}' is no user message", hint="fork at the entry itself")
        parent = fields.get("parentId")
        if isinstance(parent, str) and parent:
            session.create_branched_session(parent)
            return session
        return cls.create(session.cwd, session.session_dir, parent_session=str(session.file), world=session._world)

    @classmethod
    def clone(
        cls: type[SessionType], source: PathLike, *, session_dir: PathLike | None = None, world: World | None = None
    ) -> SessionType:
        """Begin a session that holds the path to where a saved one stands (12.2). Raises as `fork`."""
        session = cls._open_saved(source, session_dir, world)
        if session.leaf is None:
            raise InvalidEntry(f"there is nothing to clone in '{session.file}'", hint="append an entry first")
        session.create_branched_session(session.leaf)
        return session

    @classmethod
    def fork_from(
        cls: type[SessionType], source: PathLike, cwd: PathLike, session_dir: PathLike | None = None, *,
        session_id: str | None = None, world: World | None = None,
    ) -> SessionType:  # fmt: skip
        """Copy a saved session whole, every branch, into a session of another working directory (12.2).

        Raises NotASession, SourceNotReadable, InvalidSessionId, SessionFileExists and SessionNotWritable.
        """
        origin = cls._open_saved(source, None, world)
        cwd = origin._world.surroundings.absolute(os.fspath(cwd))
        directory = directory_for(cwd, session_dir, origin._world)
        header = new_header(origin._world, cwd, session_id, str(origin.file))
        state = SessionState([header, *origin.entries])
        storage = Storage(directory / file_name(header))
        storage.create(state)
        return cls(state, storage, cwd, directory, origin._world)

    @classmethod
    def _open_saved(
        cls: type[SessionType], source: PathLike, session_dir: PathLike | None, world: World | None
    ) -> SessionType:
        session = cls.open(source, session_dir, world=world)
        if not session.is_saved:
            raise SourceNotReadable(f"cannot read '{session.file}': no such file or directory")
        if session._storage.pending is Effect.HEADER_WRITTEN:
            raise NotASession(str(session.file))
        return session

    def branch(self, entry_id: str) -> None:
        """Move to an entry: the next one becomes its child. Nothing is written. Raises EntryNotFound."""
        self._check(entry_id)
        self._state.leaf = entry_id

    def reset_leaf(self) -> None:
        """Move before all entries: the next one becomes another root. Nothing is written."""
        self._state.leaf = None

    def create_branched_session(self, entry_id: str) -> Path | None:
        """Go on in a new session that holds the path to an entry; returns its file, None in memory (12.1).

        The old file stays as it is. The new one is written now if the path has a user or assistant message. Raises
        EntryNotFound, SessionFileExists and SessionNotWritable.
        """
        path = self._state.path(entry_id)
        if not path:
            raise EntryNotFound(entry_id)
        parent = None if self.file is None else str(self.file)
        header = new_header(self._world, self._cwd, None, parent)
        values = branched_values(header, path, self._state.labels, self._new_id)
        state = SessionState(values)
        storage = Storage(None if self._session_dir is None else self._session_dir / file_name(header))
        if state.has_conversation:
            storage.create(state)
        self._state, self._storage = state, storage
        return self.file

    def export_branch(self, output: PathLike, leaf: str | None = None) -> Path:
        """Write the path to an entry to a new file as pi's JSONL export does: same session id, chained anew (12.3).

        Raises EntryNotFound, SessionFileExists and SessionNotWritable.
        """
        file = Path(self._world.surroundings.absolute(os.fspath(output)))
        header = make_header(self.id, self._world.timestamp(), self._cwd)
        write_new(file, map(line_of, exported_values(header, self.path(leaf))))
        return file

    def reload(self) -> None:
        """Read the file again; the position stays where it is if its entry is still there. Raises as `open`."""
        if self.file is None or not self.is_saved:
            return
        state, seen, pending = read_session(self.file, self._cwd, self._world)
        if self._state.leaf is None or self._state.leaf in state:
            state.leaf = self._state.leaf
        self._state, self._storage = state, Storage(self.file, seen, pending)

    @staticmethod
    def list(
        cwd: PathLike, session_dir: PathLike | None = None, *,
        on_progress: Progress | None = None, world: World | None = None,
    ) -> Listing:  # fmt: skip
        """Return the sessions of a working directory, latest activity first, and what is left out (16.1)."""
        world = world or World.real()
        cwd = world.surroundings.absolute(os.fspath(cwd))
        directory = directory_for(cwd, session_dir, world)
        return list_directory(directory, cwd=cwd_filter(cwd, directory, world), on_progress=on_progress)

    @staticmethod
    def list_all(
        root: PathLike | None = None, *, on_progress: Progress | None = None, world: World | None = None
    ) -> Listing:
        """Return the sessions of all directories below a sessions root, pi's own if none is given (16.1)."""
        world = world or World.real()
        return list_all(Path(world.surroundings.sessions_root if root is None else root), on_progress=on_progress)

    def _new_id(self, taken: Set[str]) -> str:
        return new_entry_id(taken, self._world.random)
