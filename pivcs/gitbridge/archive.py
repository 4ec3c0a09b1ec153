"""Putting sessions into a repository below `refs/pivcs/`: every byte, and the names that people made.

Objects come first, in one pack; refs last, each with the value that it had. Nothing else of the repository changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pivcs.errors import DataError
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.names_file import names_of, write_names
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import names_ref
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate, update_refs
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import FoundRef, found_refs, stream_at
from pivcs.gitbridge.stream_reading import StoredStream
from pivcs.gitbridge.stream_union import put_streams
from pivcs.gitbridge.streams import write_stream
from pivcs.ops.kept_streams import kept_views
from pivcs.ops.view import SessionView

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_TRIES = 3


class Archived(NamedTuple):
    """A session in the repository: its number of streams, their bytes, how many of these were written now, how many
    names went along, and what became of its refs. `damaged` has what is wrong with streams that were there."""

    view: SessionView
    streams: int
    bytes: int
    new_bytes: int
    names: int
    refs: tuple[RefOutcome, ...]
    damaged: tuple[str, ...]


class Archive(NamedTuple):
    """What an archive did; `objects` is how many were written."""

    sessions: tuple[Archived, ...]
    objects: int


@dataclass(slots=True)
class _Plan:
    view: SessionView
    streams: int = 0
    bytes: int = 0
    new_bytes: int = 0
    names: int = 0
    updates: list[RefUpdate] = field(default_factory=list)
    superseded: list[RefUpdate] = field(default_factory=list)
    refused: list[RefOutcome] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


def archive(
    views: Iterable[SessionView], repository: Repository, store_id: bytes | None, *, force: bool = False
) -> Archive:
    """Put all that is kept of some sessions into a repository, and take away what is the beginning of something longer.

    `store_id` is the name of this store for its names; None leaves names out. A ref that names what nobody of us wrote
    is left, and told, unless `force`. Raises `NotWritten`, `OtherHash`, `OtherRefs`, `RefsNotWritten`.
    """
    sessions = {view.key.digest: view for view in views if view.key is not None}
    objects = repository.common_dir / "objects"
    with ExitStack() as stack:
        store = stack.enter_context(repository.objects())
        there: dict[bytes, list[FoundRef]] = {}
        for ref in found_refs(repository):
            if ref.name.startswith("refs/pivcs/"):
                there.setdefault(ref.key, []).append(ref)
        existing = stack.enter_context(Existing(objects))
        writer = stack.enter_context(PackWriter(objects, existing))
        plans = [
            _planned(view, writer, store, there.get(key, []), store_id, force=force) for key, view in sessions.items()
        ]
        count = len(writer)
        writer.finish()
        try:
            done = tuple(_finished(plan, repository) for plan in plans)
        finally:
            writer.release()
        relied_on = list(writer.relied_on)
    _write_what_vanished(list(sessions.values()), repository, relied_on, store_id)
    return Archive(done, count)


def _finished(plan: _Plan, repository: Repository) -> Archived:
    """Change the refs of a session; beginnings go when what is longer has its ref."""
    refs = [*update_refs(repository, plan.updates), *plan.refused]
    if not any(ref.outcome == "refused" for ref in refs):
        refs += update_refs(repository, plan.superseded)
    return Archived(
        plan.view, plan.streams, plan.bytes, plan.new_bytes, plan.names, tuple(refs), tuple(plan.damaged)
    )


def _planned(
    view: SessionView, writer: PackWriter, objects: DiskObjectStore, there: Sequence[FoundRef], store_id: bytes | None,
    *, force: bool,
) -> _Plan:  # fmt: skip
    """Add what is kept of a session to a pack, and return the changes of refs that make it part of the repository."""
    plan = _Plan(view)
    assert view.key is not None
    known = {ref.name: ref for ref in there}
    stored: dict[str, StoredStream] = {}
    for ref in there:
        if ref.store is None:
            try:
                stored[ref.name] = stream_at(objects, ref)
            except DataError as error:
                plan.damaged.append(error.message)
    put = put_streams(view, writer, objects, stored)
    plan.streams, plan.bytes, plan.new_bytes = put.streams, put.bytes, put.new_bytes
    plan.superseded = [RefUpdate(name, known[name].commit, None) for name in put.superseded]
    for _, written in put.written:
        _plan_ref(plan, written.ref, known.get(written.ref), written.commit, force=force)
    if view.store is not None and store_id is not None:
        names = names_of(view.store, view.key.digest)
        name = names_ref(view.key.digest, store_id)
        if names.branches or names.tags or name in known:
            made = write_names(writer, names, view.key.digest, store_id)
            plan.names = made.names
            _plan_ref(plan, name, known.get(name), made.commit, force=True)
    return plan


def _plan_ref(plan: _Plan, name: str, found: FoundRef | None, commit: bytes, *, force: bool) -> None:
    if found is None or found.commit == commit or force:
        plan.updates.append(RefUpdate(name, found.commit if found is not None else None, commit))
    else:
        plan.refused.append(RefOutcome(name, "refused", found.commit, commit))


def _write_what_vanished(
    views: list[SessionView], repository: Repository, relied_on: list[bytes], store_id: bytes | None
) -> None:
    """Write everything once more when objects that were there have gone: a gc ran before the refs reached them."""
    objects = repository.common_dir / "objects"
    for _ in range(_TRIES):
        with Existing(objects) as existing:
            if not existing.missing(relied_on):
                return
        with PackWriter(objects) as writer:
            for view in views:
                for each in kept_views(view):
                    write_stream(each, writer)
                if view.store is not None and store_id is not None and view.key is not None:
                    write_names(writer, names_of(view.store, view.key.digest), view.key.digest, store_id)
            writer.finish()
            writer.release()
