"""How sessions get from one repository to another: the `git` program where it is there, else dulwich.

Both know the same few things, and tests hold them to the same answers. Only refs below `refs/pivcs/` of the other side
are seen or changed, and of this one only those that a caller names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pivcs.errors import RemoteError, StateError
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.repository import OtherHash, Repository, setting


class TransportFailed(RemoteError):
    """Another repository could not be reached, refused, or said what is not understood."""


class NotKept(StateError):
    """What comes from another repository cannot be kept in this one, whichever of its refs is asked for."""


class Transport(Protocol):
    """The way from a repository to one of its remotes. Methods raise `TransportFailed`, `OtherHash`; `fetch` also
    `NotKept` and `RefsNotWritten`."""

    def refs(self) -> dict[str, bytes]:
        """Return the refs of the other side below `refs/pivcs/`, and the ids that they name."""

    def fetch(self, wanted: Mapping[str, str]) -> None:
        """Get what refs of the other side name, and set refs of this one to it: local names by the remote ones.

        Local refs that name something else are set, too. Afterwards what they name is here, whole.
        """

    def push(self, updates: Sequence[RefUpdate]) -> list[RefOutcome]:
        """Change refs of the other side, and send what they name before; each is compared with the value that it is
        believed to have, and `refused` when it has another one, or the other side does not allow it."""


def transport_to(
    remote: Remote, repository: Repository, git: Git | None, ssh_command: str | None = None
) -> Transport:
    """Return the way to a remote; `ssh_command` is what to run instead of `ssh` where there is no `git` program."""
    if git is not None:
        from pivcs.gitbridge.transport_git import GitTransport

        return GitTransport(remote, repository, git)
    from pivcs.gitbridge.transport_dulwich import DulwichTransport

    return DulwichTransport(remote, repository, ssh_command)


def outcome_of(update: RefUpdate, *, done: bool) -> RefOutcome:
    """Return what became of a ref."""
    word = "new" if update.old is None else "removed" if update.new is None else "moved"
    return RefOutcome(update.name, word if done else "refused", update.old, update.new)


def other_hash(remote: Remote) -> OtherHash:
    """Return what to raise for a remote whose objects have ids of another kind."""
    return OtherHash(
        f"the repository in '{remote.shown}' does not use SHA-1", hint="only SHA-1 repositories can have sessions"
    )


def check_directory(remote: Remote) -> None:
    """Raise `OtherHash` for a directory whose configuration says so: nothing else tells it of one without refs."""
    if "://" not in remote.address or remote.address.startswith("file://"):
        place = Path(remote.address.removeprefix("file://"))
        for directory in (place, place / ".git"):
            if setting(directory, "extensions", "objectformat") not in (None, "sha1"):
                raise other_hash(remote)
