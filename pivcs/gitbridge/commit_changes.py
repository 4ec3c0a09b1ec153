"""What commits changed: files by their ids, and the lines that were put in and taken out.

git tells it all, as streams: of the lines of one file at a time is held. A commit is compared with its first parent. Of
one at which a shallow clone ends it cannot be told what it changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Final, NamedTuple

from pivcs.errors import DataError
from pivcs.gitbridge.commits import CommitInfo
from pivcs.gitbridge.process import Git, GitFailed
from pivcs.gitbridge.repository import Repository

LARGEST: Final = 32 << 20
"""Bytes of a file up to which its lines are compared; a larger one is known by its id alone, as a binary one."""
_BATCH: Final = 1024
_BUFFER: Final = 1 << 16
_ID: Final = re.compile(rb"(?:[0-9a-f]{64}|[0-9a-f]{40})\0")
_HUNK: Final = re.compile(rb"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_LINK: Final = b"160000"
_SETTINGS: Final = (f"core.bigFileThreshold={LARGEST}",)


class Hunk(NamedTuple):
    """Lines that a commit put in the place of others, without their LF: `start` is the number of the first of them in
    the new file, `old_start` that of the first one taken out in the old file."""

    old_start: int
    taken: tuple[bytes, ...]
    start: int
    written: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a commit did to one file.

    `status` is git's letter: A, M, D, R (renamed), T (another type); `old_path` is another one than `path` when
    renamed. `old` and `new` are the ids of the contents, None where there is none; modes are as `100644`. `is_binary`:
    its lines cannot be told.
    """

    status: str
    path: bytes
    old_path: bytes
    old: bytes | None
    new: bytes | None
    old_mode: bytes
    new_mode: bytes
    hunks: tuple[Hunk, ...] = ()
    is_binary: bool = False

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository's commit, not a file."""
        return _LINK in (self.old_mode, self.new_mode)

    @property
    def added(self) -> int:
        """How many lines were put in, as git counts."""
        return sum(len(hunk.written) for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """How many lines were taken out."""
        return sum(len(hunk.taken) for hunk in self.hunks)


class ChangesNotRead(DataError):
    """What git said of a commit's changes is not what it should be."""


def changes_of(
    repository: Repository, git: Git, commits: Iterable[CommitInfo], *, lines: bool = True
) -> Iterator[tuple[CommitInfo, Iterator[FileChange]]]:
    """Yield commits with what each changed, in their order; files are told one after the other, in git's order.

    Of commits that pivcs wrote nothing is asked. The files of a commit must be taken before the next commit is; what is
    left of them is passed over. Without `lines` only ids and paths are told. Raises `GitFailed`, `ChangesNotRead`.
    """
    waiting = iter(commits)
    try:
        while batch := list(islice(waiting, _BATCH)):
            yield from _batch_changes(repository, git, batch, lines)
    except GitFailed as error:
        if "promisor" not in error.said:
            raise
        hint = "this clone is partial; `git fetch --refetch --no-filter` gets what its files hold"
        raise GitFailed(error.message, error.code, error.said, hint=hint) from error


def _batch_changes(
    repository: Repository, git: Git, batch: list[CommitInfo], lines: bool
) -> Iterator[tuple[CommitInfo, Iterator[FileChange]]]:
    asked = [" ".join((each.ident, *each.parents[:1])) for each in batch if _is_asked(each)]
    with git.stream(
        "diff-tree", "--stdin", "--root", "-r", "-z", "-M", "--raw", "--no-abbrev",
        *(("-p", "-U0", "--full-index", "--no-ext-diff", "--no-textconv", "--submodule=short", "--no-color",
           "--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0") if lines else ()),
        cwd=repository.git_dir, git_dir=repository.git_dir, stdin="".join(f"{each}\n" for each in asked).encode(),
        settings=_SETTINGS,
    ) as output:  # fmt: skip
        reader = _Reader(output)
        for commit in batch:
            if not _is_asked(commit) or reader.peek(len(commit.ident)) != commit.ident.encode():
                yield commit, iter(())  # git says nothing of a commit that changed nothing
                continue
            files = _files(reader, lines)
            yield commit, files
            for _ in files:
                pass


def _is_asked(commit: CommitInfo) -> bool:
    return not commit.is_cut and commit.exported is None


def _files(reader: _Reader, lines: bool) -> Iterator[FileChange]:
    reader.until(b"\0")
    raw = []
    while reader.peek(1) == b":":
        raw.append(_raw(reader))
    if lines and raw and reader.peek(1) == b"\0":
        reader.until(b"\0")
    for change in raw:
        if lines:
            parts = [_patch(reader) for _ in range(2 if change.status == "T" else 1)]
            hunks = tuple(hunk for found, _ in parts for hunk in found)
            is_binary = any(binary for _, binary in parts)
            if change.is_submodule:  # git shows a line with the commit's id
                hunks = ()
            change = FileChange(
                change.status, change.path, change.old_path, change.old, change.new, change.old_mode, change.new_mode,
                hunks, is_binary,
            )  # fmt: skip
        yield change


def _raw(reader: _Reader) -> FileChange:
    """Read `:100644 100644 <id> <id> M`, and one path or two."""
    fields = reader.until(b"\0")[1:].split(b" ")
    if len(fields) != 5:
        raise ChangesNotRead("git told of a changed file in a way that is not understood")
    old_mode, new_mode, old, new, letter = fields
    status = letter[:1].decode("ascii")
    old_path = path = reader.until(b"\0")
    if status in ("R", "C"):
        path = reader.until(b"\0")
    return FileChange(status, path, old_path, _ident(old), _ident(new), old_mode, new_mode)


def _ident(text: bytes) -> bytes | None:
    return bytes.fromhex(text.decode("ascii")) if text.strip(b"0") else None


def _patch(reader: _Reader) -> tuple[list[Hunk], bool]:
    """Read the patch of one file: what stands before the hunks, and these by the numbers of their lines."""
    if not reader.line().startswith(b"diff --git "):
        raise ChangesNotRead("git told of a file's lines in a way that is not understood")
    hunks: list[Hunk] = []
    is_binary = False
    while True:
        ahead = reader.peek(65)
        if not ahead or ahead.startswith(b"diff --git ") or _ID.match(ahead):
            return hunks, is_binary
        line = reader.line()
        if line.startswith(b"@@ "):
            hunks.append(_hunk(reader, line))
        elif line.startswith(b"Binary files "):
            is_binary = True


def _hunk(reader: _Reader, head: bytes) -> Hunk:
    found = _HUNK.match(head)
    if found is None:
        raise ChangesNotRead("git told of changed lines in a way that is not understood")
    counts = [1 if found[number] is None else int(found[number]) for number in (2, 4)]
    sides = []
    for mark, count in zip((b"-", b"+"), counts, strict=True):
        side = []
        for _ in range(count):
            line = reader.line()
            if not line.startswith(mark):
                raise ChangesNotRead("git told of changed lines in a way that is not understood")
            side.append(line[1:].removesuffix(b"\n"))
        if reader.peek(1) == b"\\":  # the last line has no LF
            reader.line()
        sides.append(tuple(side))
    return Hunk(int(found[1]), sides[0], int(found[3]), sides[1])


class _Reader:
    """A stream of which what comes next can be looked at."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._held = b""
        self._at = 0

    def peek(self, count: int) -> bytes:
        """Return what comes next, less only at the end."""
        while len(self._held) - self._at < count and self._fill():
            pass
        return self._held[self._at : self._at + count]

    def line(self) -> bytes:
        """Return what comes up to the next LF, with it."""
        return self._through(b"\n")

    def until(self, end: bytes) -> bytes:
        """Return what comes before the next `end`, which is passed over."""
        return self._through(end).removesuffix(end)

    def _through(self, end: bytes) -> bytes:
        searched = self._at
        while (found := self._held.find(end, searched)) < 0:
            size = len(self._held) - self._at
            if not self._fill():
                found = len(self._held) - 1
                break
            searched = self._at + size
        piece = self._held[self._at : found + 1]
        self._at = found + 1
        return piece

    def _fill(self) -> bool:
        more = self._stream.read(max(_BUFFER, len(self._held) - self._at))
        if not more:
            return False
        self._held = self._held[self._at :] + more
        self._at = 0
        return True
