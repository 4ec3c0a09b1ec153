"""Machines that share sessions through one repository, in tests."""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.gitbridge.archive import archive
from pivcs.gitbridge.fetch import Fetched, drop_forgotten, fetch, take_fetched
from pivcs.gitbridge.forgotten_refs import ForgottenRefs
from pivcs.gitbridge.importing import Imported, ImportedNames
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.push import Push, push
from pivcs.gitbridge.refs_update import read_refs
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.repository import find_repository
from pivcs.gitbridge.transport import Transport, transport_to
from pivcs.ops.access import view_of
from tests.builders import CLOCK
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import new_repository


class Clone(Machine):
    """A machine with a repository, and a bare one that it shares with others."""

    def __init__(self, directory: Path, hub: Path, ident: int = 1, *, with_git: bool = True) -> None:
        super().__init__(directory / "files", ident)
        self.place = directory / "project"
        if not self.place.exists():
            new_repository(self.place)
        self.hub = hub
        self.tags = 0
        self.repository = find_repository(str(self.place))
        self.remote = Remote("origin", str(hub), "origin")
        self.git = Git.find(os.environ) if with_git else None

    @property
    def way(self) -> Transport:
        """The way to the other repository, as to an address: that is no remote of the configuration."""
        return transport_to(self.remote._replace(name=None), self.repository, self.git)

    def push(self, *, force: bool = False) -> Push:
        """Archive all sessions, and send them."""
        views = {stream.session: view_of(self.store, stream) for stream in self.store.streams()}
        archive(views.values(), self.repository, self.id, force=force)
        forgotten = ForgottenRefs(self.store)
        return push(self.repository, self.remote, self.way, self.id, force=force, forgotten=forgotten)

    def fetch(self) -> tuple[Fetched, list[Imported | ImportedNames]]:
        """Fetch, and take what came into the store."""
        forgotten = ForgottenRefs(self.store)
        done = fetch(self.repository, self.remote, self.way, forgotten)
        came = list(take_fetched(self.repository, self.remote, self.store, now=CLOCK))
        drop_forgotten(self.repository, done, [each for each in came if isinstance(each, Imported)], forgotten)
        return done, came

    def refs(self, prefix: str = "refs/pivcs/") -> dict[str, bytes]:
        """Return refs of its repository."""
        return read_refs(self.repository, prefix)


def shared(hub: Path) -> dict[str, bytes]:
    """Return the refs of sessions of the repository that all share."""
    return read_refs(find_repository(str(hub)), "refs/")


def words(done: Push | Fetched) -> list[str]:
    """Return what became of refs, sorted."""
    return sorted(ref.outcome for ref in done.refs)
