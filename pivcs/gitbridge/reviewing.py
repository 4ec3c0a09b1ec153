"""The review commits of one stream in one repository: what an earlier export made is taken up again, the rest is
made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.review import rows_above, write_review
from pivcs.gitbridge.review_cache import PATHS, CommitsOfRows, Ends, Known, ReviewCache
from pivcs.gitbridge.review_options import Granularity, ReviewOptions
from pivcs.gitbridge.review_path import ReviewPath
from pivcs.gitbridge.review_paths import OURS
from pivcs.gitbridge.stored_objects import StoredObjects
from pivcs.gitbridge.trees import stored_tree
from pivcs.ops.log import ends_turn
from pivcs.ops.view import SessionView
from pivcs.session.codes import is_conversation
from pivcs.workspace.base import Base
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import FilePath


class Place(NamedTuple):
    """Where review commits go: the git directory, its objects to read and to write, and what its refs name."""

    git_dir: Path
    stored: StoredObjects
    writer: PackWriter
    named: Collection[bytes]


@dataclass(slots=True)
class Reviewed:
    """The review commits of a stream: those of its rows, how many were written, and the files that its entries touched;
    `made` counts those that were made to see whether they are there."""

    view: SessionView
    commits: CommitsOfRows
    new: int
    touched: dict[FilePath, None]
    cache: ReviewCache
    old: Ends
    made: int
    stored: StoredObjects
    pages: dict[int, bytes]
    paths: dict[int, ReviewPath | None]
    """The ends of paths; None for one that is as it was in `old`."""

    def commit_of(self, row: int) -> bytes | None:
        """Return the commit that stands for a row: its own, or where only turns have one that of the last one that
        ended there; None when there was none."""
        commit = self.commits.get(row)
        if commit is None:
            end = end_of_turn(self.view, row)
            commit = None if end is None else self.commits.get(end)
        return commit

    def pages_at(self, row: int) -> bytes | None:
        """Return the tree of the pages of the commit that stands for a row that was watched. Raises `ObjectMissing`."""
        at = row if self.commits.get(row) is not None else end_of_turn(self.view, row)
        if at is None or at in self.pages:
            return None if at is None else self.pages[at]
        commit = self.commits.get(at)
        if commit is None:
            return None
        tree = stored_tree(self.stored.commit(commit)[0], self.stored.tree)
        entry = tree.entry(OURS)
        return None if entry is None else entry[1]

    def keep(self) -> None:
        """Leave what the next export can go on from; to be called when refs name the commits."""
        if self.made:
            self.cache.save(self.commits, self.touched, self.paths, self.old)


def review(
    view: SessionView, rows: Collection[int], place: Place, options: ReviewOptions, base: Base | None
) -> Reviewed:
    """Add the review commits of the paths to some rows to a pack, those that are not in the repository.

    Raises `NotWritten`, `ObjectMissing`.
    """
    turns = options.granularity is Granularity.TURNS
    if turns:
        rows = {end for row in rows if (end := end_of_turn(view, row)) is not None}
    cache = ReviewCache(place.git_dir, view, options, place.stored.tree, base)
    known = cache.load()
    if known is None or not _suffices(view, rows, known, place.named):
        known = Known(CommitsOfRows(), {}, Ends())
    done = Reviewed(view, known.commits, 0, known.touched, cache, known.ends, 0, place.stored, {},
                    dict.fromkeys(known.ends))  # fmt: skip
    tips = [row for row in rows if known.commits.get(row) is None]

    def on_base() -> ReviewPath:
        path = ReviewPath(Replay(view.header.cwd, base))
        path.commit = bytes.fromhex(options.base or "")
        tree, path.time = place.stored.commit(path.commit)
        path.tree, path.committed = stored_tree(tree, place.stored.tree), path.time
        return path

    root = on_base if options.base is not None else None
    before = place.writer.commits_written
    for written in write_review(view, place.writer, tips, options, root, known.ends):
        done.touched.update(dict.fromkeys(written.files))
        if turns and not ends_turn(view, written.row):
            continue
        assert written.commit is not None
        done.made += 1
        if written.row in rows:
            pages = written.path.tree.directory(OURS)
            assert pages is not None
            done.pages[written.row] = pages.ident
        done.commits.put(written.row, written.commit)
        above = _commit_above(view, written.row, done.commits)
        if above is not None:
            done.paths.pop(above, None)
        done.paths[written.row] = written.path
        while len(done.paths) > PATHS:
            del done.paths[next(iter(done.paths))]
    done.new = place.writer.commits_written - before
    return done


def _suffices(view: SessionView, rows: Collection[int], known: Known, named: Collection[bytes]) -> bool:
    """Whether what is known can be gone on from: its objects are reached by refs, and the new paths go on from it."""
    kept = [row for row in known.ends if (commit := known.commits.get(row)) is not None and commit not in named]
    at: int | None
    for row in rows:
        at = row
        while at is not None and known.commits.get(at) is None and at not in known.ends:
            at = view.table.parent_of(at)
        if at is None or at in known.ends:
            continue
        if at != row:
            return False
        if known.commits.get(at) not in named:
            kept.append(at)
    if not kept:
        return True
    reached = [known.commits.row_of(commit) for commit in named]
    safe = rows_above(view, [each for each in reached if each is not None])
    return all(safe[row] for row in kept)


def count_commits(reviewed: Sequence[Reviewed]) -> int:
    """Return how many commits streams of one session have together."""
    if len(reviewed) == 1:
        return len(reviewed[0].commits)
    return len({commit for each in reviewed for commit in each.commits.values()})


def _commit_above(view: SessionView, row: int, commits: CommitsOfRows) -> int | None:
    """Return the nearest row above another that has a commit."""
    at = view.table.parent_of(row)
    while at is not None and commits.get(at) is None:
        at = view.table.parent_of(at)
    return at


def end_of_turn(view: SessionView, row: int) -> int | None:
    """Return the nearest row on the path to another that ends a turn, or that row itself."""
    at: int | None = row
    while at is not None and not ends_turn(view, at):
        at = view.table.parent_of(at)
    return at


def unfinished_entries(view: SessionView, row: int) -> int:
    """Return how many entries of conversation on the path to a row belong to a turn that has not ended."""
    count = 0
    at: int | None = row
    while at is not None and not ends_turn(view, at):
        count += is_conversation(view.table.code[at])
        at = view.table.parent_of(at)
    return count
