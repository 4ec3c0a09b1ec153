"""Completing in a repository what the store has forgotten: a process was stopped before it came to the refs, or they
have come back by another way. Each stream is read once for this, as long as nothing else is forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from pivcs.errors import PivcsError
from pivcs.gitbridge.forgetting import forget_refs, plan_refs
from pivcs.gitbridge.forgotten_refs import place_of, spooled
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import found_refs
from pivcs.objects.index import index_source
from pivcs.ops.masking import Guard
from pivcs.store.store import Store


def complete_forgetting(repository: Repository, store: Store, git: Git | None) -> list[RefOutcome]:
    """Let no ref of sessions name what the store has forgotten: such streams are written anew, and refs of forgotten
    sessions removed, as forgetting does. Returns what became of the refs; none where there was nothing to do.

    Raises `OtherRefs`, `RefsNotWritten`, `NotWritten`.
    """
    if store.forgotten.is_empty():
        return []
    state, guard = store.forgotten.state(), Guard.of(store)
    if not _look(repository, store, guard, state):
        return []
    plan = plan_refs(
        repository, guard, git, sessions=held_sessions(repository, store), names=store.remote.id(),
        known=store.forgotten.refs(place_of(repository)), clean=store.forgotten.looked(state),
    )  # fmt: skip
    return forget_refs(plan, guard, store if not store.read_only else None)


def held_sessions(repository: Repository, store: Store) -> set[bytes]:
    """Return the keys of forgotten sessions of which a repository still has refs. Raises `OtherRefs`."""
    sessions = set(store.forgotten.sessions())
    return {ref.key for ref in found_refs(repository) if ref.key in sessions} if sessions else set()


def remember_written(store: Store, state: bytes, outcomes: Iterable[RefOutcome]) -> None:
    """Know that streams which were written from the store hold nothing forgotten: they need not be read for that.

    `state` is that of what was forgotten before they were read from the store.
    """
    commits = {ref.new for ref in outcomes if ref.outcome in ("new", "moved", "same") and ref.new is not None}
    if store.read_only or not commits or store.forgotten.is_empty() or store.forgotten.state() != state:
        return
    if not commits <= store.forgotten.looked(state):
        with store.writing():
            store.forgotten.add_looked(state, commits)


def _look(repository: Repository, store: Store, guard: Guard, state: bytes) -> bool:
    """Whether a ref of a repository has something forgotten. What cannot be read is told by whoever needs it."""
    looked = store.forgotten.looked(state)
    clean, held = set(), False
    with repository.objects() as objects:
        for ref in found_refs(repository):
            if ref.key in guard.sessions:
                held = True
            elif ref.store is None and guard and ref.commit not in looked and ref.commit not in clean:
                try:
                    with spooled(objects, ref) as file:
                        table, _ = index_source(file)
                        if guard.rows(table, file):
                            held = True
                        else:
                            clean.add(ref.commit)
                except PivcsError:
                    continue
    if clean and not store.read_only:
        with store.writing():
            store.forgotten.add_looked(state, clean)
    return held
