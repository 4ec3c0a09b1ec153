"""Exporting sessions to a repository of their own: review commits, branches, labels and tags, and the start page.

Objects come first, in one pack; refs last, so that whatever is cut short leaves a repository that git finds clean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

from dulwich.object_store import DiskObjectStore

from pivcs.gitbridge.destination import Destination, Moved, RefUpdate
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.page_export import StartPage
from pivcs.gitbridge.ref_names import session_folder
from pivcs.gitbridge.review_moves import move_refs
from pivcs.gitbridge.review_options import PLAIN, Granularity, ReviewOptions
from pivcs.gitbridge.review_snapshots import snapshots_in, write_snapshots
from pivcs.gitbridge.review_targets import Chosen, Tip, sessions_of, targets_of
from pivcs.gitbridge.reviewing import Place, Reviewed, count_commits, review, unfinished_entries
from pivcs.gitbridge.stored_objects import ObjectMissing, StoredObjects
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base


class Exported(NamedTuple):
    """A session in the repository: its folder, how many commits it has, how many of these are new, and what became of
    its refs. `unfinished` has the refs whose last turn has not ended, where only turns have commits, and how many
    entries of conversation that leaves out."""

    view: SessionView
    folder: str
    commits: int
    new: int
    moved: tuple[Moved, ...]
    unfinished: tuple[tuple[str, int], ...] = ()


class Export(NamedTuple):
    """What an export did: `objects` is how many were written, `page` what became of the branch `sessions`."""

    sessions: tuple[Exported, ...]
    objects: int
    page: Moved | None


class ExportOptions(NamedTuple):
    """How to export. `base_of` gives the base of a session's files, `prefix_of` where its working directory is in the
    tree of `review.base`; `store_id` is the name of the store for the names that it has, None leaves names out."""

    review: ReviewOptions = PLAIN
    base_of: Callable[[SessionView], Base | None] = lambda view: None
    prefix_of: Callable[[SessionView], str] = lambda view: ""
    snapshots: bool = False
    force: bool = False
    store_id: bytes | None = None


@dataclass(slots=True)
class _Planned:
    """A session whose commits are written, and the refs that it is to have."""

    view: SessionView
    folder: str
    reviewed: list[tuple[Reviewed, list[RefUpdate]]] = field(default_factory=list)
    parted: dict[str, list[Tip]] = field(default_factory=dict)
    unfinished: list[tuple[str, int]] = field(default_factory=list)

    def all_reviewed(self) -> list[Reviewed]:
        """Return the commits of all streams."""
        return [reviewed for reviewed, _ in self.reviewed]


def export(
    chosen: Sequence[SessionView | Chosen], destination: Destination, options: ExportOptions | None = None
) -> Export:
    """Export sessions. A ref that somebody else has moved is left and told, unless `force`.

    Raises `NotWritten`, `RefsNotWritten`, `ObjectMissing`, `MissingObject`.
    """
    options = options or ExportOptions()
    try:
        done, relied_on = _exported(chosen, destination, options, whole=False)
    except ObjectMissing:
        return _exported(chosen, destination, options, whole=True)[0]
    if _missing(destination, relied_on):
        _exported(chosen, destination, options, whole=True)
    return done


def _missing(destination: Destination, idents: Collection[bytes]) -> bool:
    """Whether objects that were there are gone: a gc ran that met them before any ref reached them."""
    with Existing(destination.objects) as existing:
        return bool(existing.missing(idents))


def _exported(
    chosen: Sequence[SessionView | Chosen], destination: Destination, options: ExportOptions, *, whole: bool
) -> tuple[Export, frozenset[bytes]]:
    """Export sessions; returns also the objects that were not written because they were there. With `whole` everything
    is written, whatever is there.
    """
    planned = []
    with (
        Existing(destination.objects) as existing,
        PackWriter(destination.objects, None if whole else existing) as writer,
        StoredObjects(destination.objects) as stored,
        closing(DiskObjectStore(destination.objects)) as objects,
    ):
        page = StartPage(destination, objects)
        taken = page.taken
        named = frozenset() if whole else frozenset(destination.refs().values())
        place = Place(destination.git_dir, stored, writer, named)
        for each in sessions_of(chosen):
            view = each.view
            assert view.key is not None
            folder = session_folder(view.header.timestamp, view.key.digest, taken)
            taken[folder] = view.key.digest
            planned.append(_plan(each, folder, place, options))
            if each.rows is None:  # of a part of a session nothing else goes along
                page.put(view, folder, writer, options.store_id)
        start = page.commit(writer)
        count = len(writer)
        writer.finish()
        if not whole and _missing(destination, writer.relied_on):
            raise ObjectMissing("a gc took objects while the repository was written to")
        done = tuple(_finished(plan, destination, stored, force=options.force) for plan in planned)
        moved = page.move(start) if start is not None else None
        writer.release()
        return Export(done, count, moved), frozenset(writer.relied_on)


def _plan(chosen: Chosen, folder: str, place: Place, options: ExportOptions) -> _Planned:
    """Add the commits of a session to a pack, and say which refs are to name them."""
    plan = _Planned(chosen.view, folder)
    prefix = options.prefix_of(chosen.view) if options.review.base is not None else ""
    review_options = options.review._replace(prefix=prefix)
    base = options.base_of(chosen.view)
    found, plan.parted = targets_of(chosen, folder)
    for targets in found:
        snapshots = snapshots_in(targets.view, folder) if options.snapshots and targets.view is chosen.view else []
        rows = {*targets.rows.values(), *(each.row for each in snapshots)}
        reviewed = review(targets.view, rows, place, review_options, base)
        updates = []
        for name, row in targets.rows.items():
            commit = reviewed.commit_of(row)
            if commit is not None:
                updates.append(RefUpdate(name, commit))
            if review_options.granularity is Granularity.TURNS:
                left = unfinished_entries(targets.view, row)
                plan.unfinished += [(name, left)] if left else []
        updates += write_snapshots(snapshots, reviewed, place.writer)
        plan.reviewed.append((reviewed, updates))
    return plan


def _finished(plan: _Planned, destination: Destination, stored: StoredObjects, *, force: bool) -> Exported:
    """Move the refs of a session, and leave what the next export goes on from."""
    moved: list[Moved] = []
    for reviewed, updates in plan.reviewed:
        moved += move_refs(destination, plan.all_reviewed(), reviewed, updates, plan.parted, stored, force=force)
        reviewed.keep()
    commits = count_commits(plan.all_reviewed())
    new = sum(reviewed.new for reviewed, _ in plan.reviewed)
    return Exported(plan.view, plan.folder, commits, new, tuple(moved), tuple(plan.unfinished))
