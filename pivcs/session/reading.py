"""The reading half of a session: questions that change nothing."""

from __future__ import annotations

from pathlib import Path

from pivcs.errors import InputError
from pivcs.session.context import Context, Projection, build_context, build_context_entries, build_projection
from pivcs.session.jsonwrite import UNDEFINED
from pivcs.session.settings import Settings, settings_of
from pivcs.session.state import Leaf, SessionState
from pivcs.session.storage import Storage
from pivcs.session.tree import Label, SessionTree
from pivcs.session.world import World

Object = dict[str, object]


class EntryNotFound(InputError):
    """The session has no entry with this id, or not where one was asked for.

    `place` is that of the entry that refers to it, from 0, among several that were to be appended.
    """

    place: int | None = None

    def __init__(self, entry_id: object, where: str = "in the session") -> None:
        super().__init__(f"no entry '{entry_id}' {where}")
        self.entry_id = entry_id


class SessionReading:
    """What a session holds, and where it stands.

    Entries and messages are JSON values as they stand in the file, not to be changed. Where a method takes `leaf`, it
    is the id of the entry at which the answer holds; without one it is the current position. An id that is not in the
    session raises EntryNotFound.
    """

    def __init__(self, state: SessionState, storage: Storage, cwd: str, session_dir: Path | None, world: World) -> None:
        self._state = state
        self._storage = storage
        self._cwd = cwd
        self._session_dir = session_dir
        self._world = world

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.header["id"])

    @property
    def header(self) -> Object:
        """The header, as version 3 whatever the file says."""
        return self._state.header

    @property
    def cwd(self) -> str:
        """The working directory of the session."""
        return self._cwd

    @property
    def file(self) -> Path | None:
        """The session's file, which may not exist yet (`is_saved`); None for a session in memory."""
        return self._storage.path

    @property
    def session_dir(self) -> Path | None:
        """The directory for sessions that are made from this one; None for a session in memory."""
        return self._session_dir

    @property
    def is_saved(self) -> bool:
        """Whether there is a file: a new session's appears with its first user or assistant message (10.1)."""
        return self._storage.exists

    @property
    def leaf(self) -> str | None:
        """The current position, under which the next entry goes; None before all entries, or after one without id."""
        return self._state.leaf if isinstance(self._state.leaf, str) else None

    @property
    def leaf_is_undefined(self) -> bool:
        """Whether the position is a last entry without id: the next entry becomes a root without `parentId` (7.6)."""
        return self._state.leaf is UNDEFINED

    @property
    def leaf_entry(self) -> object:
        """The entry at the current position, None if there is none."""
        return self._state.get(self.leaf)

    @property
    def entries(self) -> tuple[object, ...]:
        """All entries in the order of the file, those of other writers as far as they were read."""
        return tuple(self._state.entries)

    @property
    def entry_count(self) -> int:
        """The number of different ids, as pi counts entries."""
        return self._state.count()

    @property
    def name(self) -> str | None:
        """The session's name: the last one given on any branch; None when there is none or it was cleared (7.3)."""
        return self._state.name

    @property
    def labels(self) -> dict[str, Label]:
        """Entry id -> label, in pi's order, also for ids that are not in the session (7.2)."""
        return dict(self._state.labels)

    def label(self, entry_id: str) -> str | None:
        """Return the label of an entry, None if it has none."""
        found = self._state.labels.get(entry_id)
        return None if found is None else found.text

    def entry(self, entry_id: str) -> object:
        """Return an entry, the last one if the id is repeated."""
        if entry_id not in self._state:
            raise EntryNotFound(entry_id)
        return self._state.get(entry_id)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._state

    def children(self, entry_id: str | None) -> tuple[object, ...]:
        """Return the entries below an entry (None: with `parentId` null) in the order of the file (7.4)."""
        return tuple(self._state.children(entry_id))

    def path(self, leaf: str | None = None) -> tuple[object, ...]:
        """Return the entries from the root to an entry."""
        if leaf is None and self.leaf_is_undefined:
            return ()
        return tuple(self._state.path(self._at(leaf)))

    def tree(self) -> SessionTree:
        """Return the whole tree with children in pi's order."""
        return self._state.tree()

    def settings(self, leaf: str | None = None) -> Settings:
        """Return model and thinking level (14)."""
        return settings_of(self._state.path(self._at(leaf)))

    def build_context_entries(self, leaf: str | None = None) -> tuple[object, ...]:
        """Return the entries that stand in the context (13.1). Raises BrokenEntry."""
        return build_context_entries(self._state.path(self._at(leaf)))

    def build_projection(self, leaf: str | None = None) -> Projection:
        """Return the entries of the context with the messages that each gives (13.2). Raises BrokenEntry."""
        return build_projection(self._state.path(self._at(leaf)))

    def build_context(self, leaf: str | None = None) -> Context:
        """Return what the model would see: messages and settings (13.2). Raises BrokenEntry."""
        return build_context(self._state.path(self._at(leaf)))

    def _at(self, leaf: str | None) -> Leaf:
        if leaf is None:
            return self._state.leaf
        if leaf not in self._state:
            raise EntryNotFound(leaf)
        return leaf
