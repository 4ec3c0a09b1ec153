"""Review commits in a project's own repository, below `refs/pivcs/` beside the streams: to be looked at with git where
the code is, without a branch that anybody has to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pivcs.gitbridge.destination import Destination, Moved, RefUpdate
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import review_refs
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.review_moves import move_refs
from pivcs.gitbridge.review_options import PLAIN
from pivcs.gitbridge.review_targets import Tip, sessions_of, targets_of
from pivcs.gitbridge.reviewing import Place, Reviewed, count_commits, review
from pivcs.gitbridge.stored_objects import StoredObjects
from pivcs.ops.view import SessionView

_FOLDER = "session"


class ArchivedReview(NamedTuple):
    """The review commits of a session in a repository: how many, how many of them are new, what became of the refs."""

    view: SessionView
    commits: int
    new: int
    moved: tuple[Moved, ...]


def archive_review(
    views: Sequence[SessionView], repository: Repository, *, force: bool = False
) -> tuple[ArchivedReview, ...]:
    """Write the review commits of sessions, and let refs below `refs/pivcs/<key>/review/` name them.

    Raises `NotWritten`, `OtherHash`, `OtherRefs`, `RefsNotWritten`, `ObjectMissing`.
    """
    destination = Destination(repository)
    planned: list[tuple[SessionView, list[tuple[Reviewed, list[RefUpdate]]], dict[str, list[Tip]]]] = []
    with (
        Existing(destination.objects) as existing,
        PackWriter(destination.objects, existing) as writer,
        StoredObjects(destination.objects) as stored,
    ):
        place = Place(destination.git_dir, stored, writer, frozenset(destination.refs().values()))
        for chosen in sessions_of(views):
            view = chosen.view
            assert view.key is not None
            names = review_refs(view.key.digest, _FOLDER)
            parts = []
            found, parted = targets_of(chosen, _FOLDER)
            for targets in found:
                reviewed = review(targets.view, set(targets.rows.values()), place, PLAIN, None)
                updates = [
                    RefUpdate(names(name), commit)
                    for name, row in targets.rows.items()
                    if (commit := reviewed.commit_of(row)) is not None
                ]
                parts.append((reviewed, updates))
            planned.append((view, parts, {names(name): ends for name, ends in parted.items()}))
        writer.finish()
        done = []
        for view, parts, parted in planned:
            moved: list[Moved] = []
            every = [reviewed for reviewed, _ in parts]
            for reviewed, updates in parts:
                moved += move_refs(destination, every, reviewed, updates, parted, stored, force=force)
                reviewed.keep()
            new = sum(reviewed.new for reviewed in every)
            done.append(ArchivedReview(view, count_commits(every), new, tuple(moved)))
        writer.release()
    return tuple(done)
