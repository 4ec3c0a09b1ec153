"""What ties commits to entries, as values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from pivcs.gitbridge.base import decode_path
from pivcs.gitbridge.commit_changes import FileChange
from pivcs.gitbridge.commits import CommitInfo
from pivcs.ops.made_match import How, Writer


class NumberedLine(NamedTuple):
    """A line without its LF, and its number in the file that has it."""

    number: int
    text: bytes


class HandHunk(NamedTuple):
    """Lines that were taken out and put in by hand in one place."""

    taken: tuple[NumberedLine, ...]
    written: tuple[NumberedLine, ...]


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """A file of a commit. `change` is without its lines: `added` and `removed` count them.

    `lines` has how many of the added ones each entry wrote, `hand` how many none of them did. `left_by` is the entry
    that left the file as the commit has it. `by_hand` are the lines that no entry changed, if they were asked for.
    """

    change: FileChange
    how: How
    is_converted: bool
    left_by: Writer | None
    added: int
    removed: int
    hand: int
    lines: tuple[tuple[Writer, int], ...]
    by_hand: tuple[HandHunk, ...] = ()

    @property
    def path(self) -> str:
        """The path in the repository."""
        return decode_path(self.change.path)


@dataclass(frozen=True, slots=True)
class CommitLink:
    """A commit and what entries have to do with it. Entries name their session by number."""

    commit: CommitInfo
    files: tuple[LinkedFile, ...]
    is_cut_short: bool = False

    @property
    def added(self) -> int:
        """How many lines the commit put in."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """How many lines the commit took out."""
        return sum(file.removed for file in self.files)

    @property
    def hand(self) -> int:
        """How many of the lines put in are of no entry."""
        return sum(file.hand for file in self.files)

    @property
    def is_tied(self) -> bool:
        """Whether any entry has a part in it."""
        return any(file.lines for file in self.files)

    def entries(self) -> list[tuple[Writer, int]]:
        """Return the entries with how many lines each wrote, sessions and entries in their order."""
        total: Counter[Writer] = Counter()
        for file in self.files:
            for writer, count in file.lines:
                total[writer] += count
        return sorted(total.items())

    def percent(self) -> int | None:
        """Return how much of what was put in is of entries; 100 and 0 mean all and nothing. None without lines."""
        if not self.added:
            return None
        share = 100 * (self.added - self.hand) / self.added
        return int(min(max(share, 1 if self.added > self.hand else 0), 99 if self.hand else 100))
