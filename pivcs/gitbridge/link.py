"""Tying commits to the entries of sessions that made them, by what the commits and the entries have in common.

Nothing is remembered: whatever becomes of a commit (amended, rebased, squashed, cherry-picked), the one that has its
content now is tied by it. Times only say which of several entries is the latest.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pivcs.errors import PivcsError
from pivcs.gitbridge.base import decode_path, read_object
from pivcs.gitbridge.commit_changes import FileChange, changes_of
from pivcs.gitbridge.commits import CommitInfo
from pivcs.gitbridge.link_paths import UNKNOWN, Decided, Place, place_by_content, place_by_repository
from pivcs.gitbridge.link_result import CommitLink, HandHunk, LinkedFile, NumberedLine
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import Repository
from pivcs.objects.table import NO_TIME
from pivcs.ops.made import Identity, Made, bare, identity_of, made_of, tells
from pivcs.ops.made_match import MARGIN, Candidate, How, Match, Run, match
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

FEW_COMMITS: Final = 16
"""Commits up to which only what concerns their files is read of sessions, if these are few, too."""
_FEW_NAMES: Final = 16
_BESIDE: Final = b".pivcs/"
"""Where review commits have what is no file of the project; a person may have picked or merged one."""
HAND_LINES: Final = 2000
"""Lines changed by hand that are kept of a commit to be shown; the rest is counted."""


class Linker:
    """Sessions and a repository. Sessions are sorted by when they began, so that copies of entries come later.

    `base_of` gives what a session's files were before it. Made of a repository that is open until `close`.
    """

    def __init__(
        self, repository: Repository, git: Git, views: Sequence[SessionView],
        base_of: Callable[[SessionView], Base | None],
    ) -> None:  # fmt: skip
        self.views = tuple(sorted(views, key=_began_first))
        self._repository = repository
        self._git = git
        self._base_of = base_of
        self._objects: DiskObjectStore | None = None
        self._hash_name = "sha1"
        self._names: set[str] | None = None
        self.places: tuple[Place, ...] = ()

    def __enter__(self) -> Linker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the repository's objects; closing twice is harmless."""
        if self._objects is not None:
            self._objects.close()
            self._objects = None

    def began(self) -> int | None:
        """Return when the earliest entry of the sessions was made, in seconds, and a little before: clocks differ."""
        times = [time for view in self.views for time in view.table.time if time != NO_TIME]
        return (min(times) - MARGIN) // 1000 if times else None

    def links(self, commits: Sequence[CommitInfo], *, hand: bool = False) -> Iterator[CommitLink]:
        """Yield what ties each commit to the sessions, in the given order; with `hand` also what was changed by hand.

        Nothing ties those that pivcs wrote: they are the sessions. Raises `GitFailed`, `ChangesNotRead`.
        """
        if not commits:
            self.places = tuple(place_by_repository(view, self._repository) or UNKNOWN for view in self.views)
            return
        self._hash_name = "sha256" if len(commits[0].ident) == 64 else "sha1"
        for name in ("_mades", "_all_mades", "_by_path", "_by_content"):
            self.__dict__.pop(name, None)  # made for other commits
        self._open_objects()
        self._look_ahead(commits)
        for commit, changes in changes_of(self._repository, self._git, commits):
            left = HAND_LINES if hand else 0
            files = []
            for change in _of_project(changes):
                file = self._linked(change, commit.time * 1000, left)
                left -= sum(len(hunk.taken) + len(hunk.written) for hunk in file.by_hand)
                files.append(file)
            yield CommitLink(commit, tuple(files), is_cut_short=hand and left <= 0)

    def _look_ahead(self, commits: Sequence[CommitInfo]) -> None:
        """Find out where the sessions' files are in the repository, and which names matter."""
        known = [place_by_repository(view, self._repository) for view in self.views]
        is_few = len(commits) <= FEW_COMMITS
        names: set[str] = set()
        ids: dict[bytes, set[bytes]] = {}
        if is_few or None in known:
            for _, changes in changes_of(self._repository, self._git, commits, lines=False):
                for change in _of_project(changes):
                    for path, ident in ((change.path, change.new), (change.old_path, change.old)):
                        names.add(posixpath.basename(decode_path(path)))
                        if ident is not None and None in known:
                            ids.setdefault(path, set()).add(ident)
        self._names = names if is_few and len(names) <= _FEW_NAMES and None not in known else None
        self.places = tuple(
            place if place is not None else place_by_content(self._mades[number], ids)
            for number, place in enumerate(known)
        )

    @cached_property
    def _mades(self) -> tuple[Made, ...]:
        return self._make(self._names)

    @cached_property
    def _all_mades(self) -> tuple[Made, ...]:
        """The same for all files, where only some were looked at."""
        return self._mades if self._names is None else self._make(None)

    def _make(self, names: Collection[str] | None) -> tuple[Made, ...]:
        mades = []
        known: set[Identity] = set()
        for view in self.views:
            base = self._base_of(view)
            made = made_of(view, base, names=names, hash_name=self._hash_name, known=known)
            mades.append(made)
            if len(self.views) > 1:
                known.update(identity_of(view, row) for row in made.calls)
        return tuple(mades)

    @cached_property
    def _by_path(self) -> dict[bytes, list[Candidate]]:
        found: dict[bytes, list[Candidate]] = {}
        for number, (made, place) in enumerate(zip(self._mades, self.places, strict=True)):
            for path, file in made.files.items():
                where = place.path(path)
                if where is not None:
                    found.setdefault(where, []).append(Candidate(number, file))
        return found

    @cached_property
    def _by_content(self) -> dict[bytes, list[Candidate]]:
        """All files by the ids of what was left of them: a file may be committed under another name at once."""
        found: dict[bytes, list[Candidate]] = {}
        for number, (made, place) in enumerate(zip(self._all_mades, self.places, strict=True)):
            if place.decided is not Decided.UNKNOWN:
                for file in made.files.values():
                    for ident in {**file.left, **file.left_lf}:
                        found.setdefault(ident, []).append(Candidate(number, file))
        return found

    def _linked(self, change: FileChange, time: int, hand_lines: int) -> LinkedFile:
        candidates = list(self._by_path.get(change.path, ()))
        if change.old_path != change.path:
            candidates += self._by_path.get(change.old_path, ())
        mades = self._mades
        is_telling = change.old is None and any(tells(line) for hunk in change.hunks for line in hunk.written)
        if not candidates and is_telling and change.new is not None:
            candidates, mades = self._by_content.get(change.new, []), self._all_mades
        if change.is_submodule or change.new == change.old:
            candidates = []
        runs = [Run(hunk.taken, hunk.written) for hunk in change.hunks]
        found = match(mades, candidates, runs, change.new, lambda: self._lines(change.new), time)
        hand = sum(each is None for run in found.writers for each in run)
        return LinkedFile(
            change=replace(change, hunks=()),
            how=found.how,
            is_converted=found.is_converted,
            left_by=found.left_by,
            added=change.added,
            removed=change.removed,
            hand=hand,
            lines=tuple(sorted(found.lines.items())),
            by_hand=tuple(_by_hand(change, found, candidates, hand_lines)) if hand_lines > 0 else (),
        )

    def _lines(self, ident: bytes | None) -> list[bytes] | None:
        """Return the lines of a file in a commit; None when it cannot be read."""
        if self._objects is None or ident is None:
            return None
        try:
            content = read_object(self._objects, ident.hex().encode("ascii"), b"blob", "commit")
        except PivcsError:
            return None
        return content.split(b"\n")

    def _open_objects(self) -> None:
        if self._objects is None and self._hash_name == "sha1":
            self._objects = self._repository.open_objects()


def _of_project(changes: Iterator[FileChange]) -> Iterator[FileChange]:
    return (change for change in changes if not change.path.startswith(_BESIDE))


def _began_first(view: SessionView) -> tuple[str, str]:
    return view.header.timestamp or "", view.key.hex if view.key is not None else ""


def _by_hand(
    change: FileChange, found: Match, candidates: Sequence[Candidate], most: int
) -> Iterator[HandHunk]:
    """Yield what no entry changed, at most so many lines."""
    for hunk, writers in zip(change.hunks, found.writers, strict=True):
        taken = [
            NumberedLine(number, line) for number, line in enumerate(hunk.taken, hunk.old_start)
            if found.how is not How.EXACT and not any(bare(line) in each.file.taken for each in candidates)
        ]  # fmt: skip
        written = [
            NumberedLine(number, line)
            for number, (line, writer) in enumerate(zip(hunk.written, writers, strict=True), hunk.start)
            if writer is None
        ]
        taken, written = taken[:most], written[: max(most - len(taken), 0)]
        most -= len(taken) + len(written)
        if taken or written:
            yield HandHunk(tuple(taken), tuple(written))
        if most <= 0:
            return
