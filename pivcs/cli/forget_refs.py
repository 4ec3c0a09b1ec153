"""What `pivcs forget` does in git repositories: in that of the current directory, of the session, and in named ones."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from pivcs.cli.output import warn
from pivcs.cli.target import current_directory
from pivcs.errors import PivcsError
from pivcs.gitbridge.forget_completing import held_sessions
from pivcs.gitbridge.forgetting import RefsPlan, forget_refs, plan_refs
from pivcs.gitbridge.forgotten_refs import place_of
from pivcs.gitbridge.process import Git, GitNotFound
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.gitbridge.repository import NoRepository, find_repository
from pivcs.ops.forget import ForgetPlan, finish
from pivcs.ops.masking import Guard
from pivcs.ops.view import SessionView
from pivcs.store.store import Store


def guard_of(store: Store, plans: Sequence[ForgetPlan]) -> Guard:
    """Return what knows what plans forget, and what was forgotten before."""
    guard = Guard.of(store)
    guard.add(record for plan in plans for record in plan.records)
    return guard


class RefChanges:
    """Changes refs of repositories; what cannot be changed in one does not keep the others and the store from it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._failed: PivcsError | None = None
        self.outcomes: list[RefOutcome] = []

    def change(self, repositories: Sequence[RefsPlan], guard: Guard) -> None:
        """Do what plans say."""
        for each in repositories:
            try:
                self.outcomes += forget_refs(each, guard, self._store)
            except PivcsError as error:
                self._failed = self._failed or error

    def finish(self, *, always: bool = False) -> None:
        """Remove what was forgotten from the store's file. Raises `NotErased`, or what went wrong with refs."""
        finish(self._store, always=always)
        if self._failed is not None:
            raise self._failed


def repositories_of(
    view: SessionView, store: Store, guard: Guard, exports: Sequence[str], *,
    sessions: Collection[bytes] = (), holding: Collection[bytes] = (), names: bytes | None = None,
) -> list[RefsPlan]:  # fmt: skip
    """Return what is to be done in the repositories of the current directory, of the session, and in named ones."""
    try:
        git: Git | None = Git.find(os.environ)
    except GitNotFound:
        git = None
    found = {}
    for place in dict.fromkeys(filter(None, (current_directory(), view.header.cwd, *exports))):
        try:
            repository = find_repository(os.path.join(current_directory(), place))
            if repository.common_dir not in found:
                found[repository.common_dir] = plan_refs(
                    repository, guard, git, sessions={*sessions, *held_sessions(repository, store)},
                    holding=holding, names=names,
                    known=store.forgotten.refs(place_of(repository)),
                )
        except NoRepository:
            if place in exports:
                raise
        except PivcsError as error:
            warn(f"{error.message}; it is left as it is")
    return list(found.values())
