"""What `archive` and `push` do so that nothing that was forgotten stays in the repository, or leaves it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pivcs.cli.forgotten_refs import known_store
from pivcs.cli.output import warn
from pivcs.errors import StateError
from pivcs.gitbridge.archive import Archive
from pivcs.gitbridge.forget_completing import complete_forgetting, remember_written
from pivcs.gitbridge.process import Git, GitNotFound
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.gitbridge.repository import Repository
from pivcs.render.amounts import plural


class StillThere(StateError):
    """A ref of a repository has something forgotten, and has just been moved."""


def forgotten_state() -> bytes | None:
    """Return a digest of what is forgotten now, for `remember_archived`; to be asked before sessions are opened."""
    store = known_store()
    return store.forgotten.state() if store is not None and not store.forgotten.is_empty() else None


def complete_in(repository: Repository) -> None:
    """Write anew the streams of a repository that still have something forgotten, and say so. Raises `StillThere`,
    `RefsNotWritten`."""
    store = known_store()
    if store is None:
        return
    try:
        git: Git | None = Git.find(os.environ)
    except GitNotFound:
        git = None
    _tell(complete_forgetting(repository, store, git))


def remember_archived(state: bytes | None, done: Archive) -> None:
    """Know that what was archived has nothing of what was forgotten in a state."""
    store = known_store()
    if store is not None and state is not None:
        remember_written(store, state, (ref for each in done.sessions for ref in each.refs))


def _tell(outcomes: Iterable[RefOutcome]) -> None:
    done = list(outcomes)
    refused = next((ref for ref in done if ref.outcome == "refused"), None)
    if refused is not None:
        raise StillThere(
            f"'{refused.name}' has something that was forgotten, and has just moved",
            hint="`pivcs forget` completes it: say it again",
        )
    gone = sum(1 for ref in done if ref.outcome == "removed")
    if gone:
        told = "written anew without it, or removed"
        warn(f"{plural(gone, 'ref')} still had something that was forgotten here: {told}, as `pivcs forget` does")
