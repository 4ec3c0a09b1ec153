"""Stores with sessions, archived and imported in tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pivcs.gitbridge.archive import Archive, archive
from pivcs.gitbridge.importing import Imported, ImportedNames, import_names, import_to_store, opened_archive
from pivcs.gitbridge.repository import find_repository
from pivcs.ops.access import view_of
from pivcs.ops.kept_streams import kept_views
from pivcs.ops.sync import sync_file
from pivcs.store.store import Store
from tests.builders import CLOCK


class Machine:
    """A store in memory, and a directory for session files."""

    def __init__(self, directory: Path, ident: int = 1) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.store = Store.in_memory()
        self.id = bytes([ident]) * 16
        with self.store.writing():
            self.store.remote.give_id(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def save(self, name: str, data: bytes) -> None:
        """Write a session file, and sync it."""
        path = self.directory / f"{name}.jsonl"
        path.write_bytes(data)
        sync_file(self.store, path, CLOCK)

    def archive(self, repository: Path, *, force: bool = False) -> Archive:
        """Put all sessions of the store into a repository."""
        views = [view_of(self.store, stream) for stream in self.store.streams()]
        return archive(views, find_repository(str(repository)), self.id, force=force)

    def take(self, repository: Path, sessions: Sequence[str] = ()) -> list[Imported | ImportedNames]:
        """Import what a repository has."""
        with opened_archive(find_repository(str(repository)), sessions) as found:
            streams = list(import_to_store(found, self.store, now=CLOCK, origin="from there"))
            return [*streams, *import_names(found, self.store)]

    def kept(self) -> set[bytes]:
        """Return the bytes of all streams that are no beginning of another."""
        found = set()
        for key in self.store.session_keys():
            stream = self.store.streams_of_session(key)[0]
            for view in kept_views(view_of(self.store, stream)):
                found.add(b"".join(view.source.iter_range(0, view.table.end + view.table.pending)))
        return found


def outcomes(done: Archive) -> list[str]:
    """Return what became of refs, in order."""
    return [ref.outcome for session in done.sessions for ref in session.refs]
