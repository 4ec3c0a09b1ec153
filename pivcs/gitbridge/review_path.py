"""What is known at one node of a path while its review commits are made."""

from __future__ import annotations

from typing import NamedTuple

from pivcs.gitbridge.objects import BLOB, object_id
from pivcs.gitbridge.review_text import Said
from pivcs.gitbridge.trees import EMPTY, Tree
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import FilePath


class Blob(NamedTuple):
    """What is in the tree of a file, kept so that the next version can be a delta."""

    ident: bytes
    content: bytes

    @classmethod
    def of(cls, content: bytes) -> Blob:
        """Return the blob of a content."""
        return cls(object_id(BLOB, content), content)


class Draft(NamedTuple):
    """A file of the tree to come: its content (None: it goes), what was in the tree for it, and which file of the
    project it is, if it is one."""

    content: bytes | None
    before: Blob | None = None
    file: FilePath | None = None


class ReviewPath:
    """The commit of the latest node that has one, its tree, the files, and the page that the turn is at.

    `commit` is what the next turn goes on from, `step` the commit of the latest entry of this turn, where entries have
    commits beside those of turns. `drafts` are files that no tree has yet. `time` and `committed` are dates in seconds.
    `said` has what the turn's entries were about, for a commit of the whole turn.
    """

    __slots__ = (
        "blobs", "commit", "committed", "drafts", "entries", "page", "part", "replay", "said", "step", "time", "tree",
        "turn",
    )  # fmt: skip

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.commit: bytes | None = None
        self.step: bytes | None = None
        self.tree: Tree = EMPTY
        self.blobs: dict[FilePath, Blob] = {}
        self.drafts: dict[tuple[bytes, ...], Draft] = {}
        self.time = 0
        self.committed = 0
        self.turn = 0
        self.part = 0
        self.entries = 0
        self.page: Blob | None = None
        self.said: tuple[Said, ...] = ()

    def fork(self) -> ReviewPath:
        """Return a copy for another child."""
        copy = ReviewPath(self.replay.fork())
        for name in self.__slots__:
            if name not in ("replay", "blobs", "drafts"):
                setattr(copy, name, getattr(self, name))
        copy.blobs = self.blobs.copy()
        copy.drafts = self.drafts.copy()
        return copy

    @property
    def latest(self) -> bytes | None:
        """The commit that stands for the node."""
        return self.step or self.commit
