"""Who wrote each line of a file, over all paths of all sessions of a project.

What was written is followed from version to version of the file: along the path that a version stands on, and where a
session meets a file that it did not write, from the latest version that any session left before.
"""

from __future__ import annotations

import heapq
import posixpath
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.ops.file_versions import file_changes
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base
from pivcs.workspace.line_origins import How, LineOrigin, carried, is_telling, lines_of, new_lines
from pivcs.workspace.paths import file_path
from pivcs.workspace.state import Change, FilePath, FileState

KEPT_VERSIONS: Final = 512
"""Versions whose origins are remembered; older ones that no path goes on from are found again by what they hold."""
CANDIDATES: Final = 8
"""Latest versions that the file on disk is compared with."""

_NUMBERED: Final = re.compile(r" *[0-9]+ (.*)", re.DOTALL)


class NotKnown(InputError):
    """What a file was at an entry is not known, so nobody can say who wrote its lines."""


class Kind(StrEnum):
    """What a line comes from. `before`: it was there when the first session that knows the file read it. `untold`: no
    session tells of the file at all."""

    ENTRY = "entry"
    BASE = "base"
    BEFORE = "before"
    UNSEEN = "unseen"
    UNTOLD = "untold"


class Author(NamedTuple):
    """What a line comes from: a tool result (`row` of `view`, a number among the sessions), or why none is known.

    `call_row` is the row of the answer that called the tool. `label` names the base. For `before` and `unseen` the row
    is that of the result that told of the line; None is the file as it is on disk.
    """

    kind: Kind
    view: int
    row: int | None
    call_row: int | None = None
    label: str | None = None


Origins = list[LineOrigin[Author]]


class BlamedLine(NamedTuple):
    """A line of the file, from 1, and where it comes from. `elsewhere` is who first wrote the same line somewhere, for
    one of unknown origin."""

    number: int
    text: bytes
    author: Author
    how: How
    elsewhere: Author | None


@dataclass(frozen=True, slots=True)
class Blame:
    """The lines of a file. `views` are the sessions that authors name by number."""

    path: FilePath
    views: tuple[SessionView, ...]
    lines: tuple[BlamedLine, ...]


class _Version(NamedTuple):
    """A version of the file: the lines, their origins, and the path that it stands on."""

    view: int
    row: int
    lines: Sequence[bytes]
    origins: Origins


@dataclass(slots=True)
class _History:
    """All versions of a file so far, in the order of time."""

    versions: OrderedDict[tuple[int, int], _Version] = field(default_factory=OrderedDict)
    by_content: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    latest: OrderedDict[tuple[int, int], None] = field(default_factory=OrderedDict)
    written: dict[bytes, Author] = field(default_factory=dict)
    patched: dict[str, Author] = field(default_factory=dict)
    is_told: bool = False

    def known(self, view: int, state: FileState | None) -> _Version | None:
        """Return the version that a state is."""
        return None if state is None else self.versions.get((view, state.known_at))

    def same(self, content: bytes) -> _Version | None:
        """Return the latest version that holds exactly this."""
        key = self.by_content.get(_digest(content))
        return self.versions.get(key) if key is not None else None

    def last(self) -> _Version | None:
        """Return the latest version."""
        return self.versions[next(reversed(self.latest))] if self.latest else None

    def add(self, view: int, row: int, content: bytes, origins: Origins) -> None:
        """Remember a version."""
        key = (view, row)
        self.versions[key] = _Version(view, row, lines_of(content), origins)
        self.versions.move_to_end(key)
        self.by_content[_digest(content)] = key
        self.latest[key] = None
        self.latest.move_to_end(key)
        if len(self.versions) > KEPT_VERSIONS:
            gone, _ = self.versions.popitem(last=False)
            self.latest.pop(gone, None)


class _Sessions(NamedTuple):
    """The sessions that are looked at, what the file is called in each, and where its bytes began in each."""

    views: Sequence[SessionView]
    path_in: Callable[[SessionView], FilePath | None]
    base_of: Callable[[SessionView], Base | None]


def blame_at(view: SessionView, state: FileState, others: Iterable[SessionView], base_of: BaseOf) -> Blame:
    """Return who wrote the lines of a file as it was at an entry of `view`.

    `others` are further sessions of the project, which may have written what this one only read. Raises `NotKnown`.
    """
    if not state.is_exact or state.content is None:
        raise NotKnown(
            f"what '{state.path.text}' held there is not known ({state.provenance})",
            hint="`pivcs files` says how each file is known; `--base COMMIT` may help",
        )
    views = (view, *others)
    history = _follow(_Sessions(views, _named_like(view, state.path), base_of), until=(0, state.known_at))
    version = history.versions.get((0, state.known_at)) or history.same(state.content)
    lines = lines_of(state.content)
    if version is None or version.lines != lines:
        source = Author(Kind.BASE if state.base else Kind.BEFORE, 0, state.known_at, label=state.base)
        version = _handed_over(history, 0, state.known_at, state.content, source)
    return _blame(state.path, views, history, lines, version.origins)


def blame_disk(path: FilePath, content: bytes, views: Sequence[SessionView], base_of: BaseOf) -> Blame:
    """Return who wrote the lines of a file as it is now. `path` is that of the first of the sessions."""
    history = _follow(_Sessions(views, _named_like(views[0], path), base_of), until=None)
    lines = lines_of(content)
    unseen = Author(Kind.UNSEEN if history.is_told else Kind.UNTOLD, 0, None)
    version = history.same(content)
    if version is not None:
        origins = version.origins
    else:
        nearest = _nearest(history, lines)
        origins = carried(nearest.lines, nearest.origins, lines, unseen) if nearest else new_lines(lines, unseen)
    return _blame(path, tuple(views), history, lines, origins)


BaseOf = Callable[[SessionView], Base | None]


def _named_like(view: SessionView, path: FilePath) -> Callable[[SessionView], FilePath | None]:
    """Return what a file of one session is called in another one of the same project."""
    whole = path.text if not path.inside else posixpath.join(view.header.cwd or "/", path.text)

    def named(other: SessionView) -> FilePath | None:
        if other is view:
            return path
        return file_path(whole, other.header.cwd)

    return named


def _follow(sessions: _Sessions, until: tuple[int, int] | None) -> _History:
    """Follow the file through all sessions in the order of time, at most to one version of it."""
    history = _History()
    streams = [_timed(sessions, number, view) for number, view in enumerate(sessions.views)]
    for _, _, number, change in heapq.merge(*streams):
        _take(history, number, change)
        if until is not None and (number, change.row) == until and change.after.content is not None:
            break
    return history


def _timed(sessions: _Sessions, number: int, view: SessionView) -> Iterator[tuple[int, int, int, Change]]:
    """Yield a session's changes of the file with their times; a clock that steps back does not change their order."""
    path = sessions.path_in(view)
    if path is None:
        return
    latest = 0
    for count, change in enumerate(file_changes(view, path, sessions.base_of(view))):
        latest = max(latest, view.table.time_of(change.row) or 0)
        yield latest, count, number, change


def _take(history: _History, view: int, change: Change) -> None:
    """Take one change of the file in."""
    after, before = change.after, change.before
    history.is_told = True
    if after.patches:
        for patch in after.patches[len(before.patches if before is not None else ()) :]:
            _take_patch(history, patch, Author(Kind.ENTRY, view, change.row, change.call_row))
    if after.content is None or not after.is_exact:
        return
    if change.kind in ("write", "edit"):
        known = _before(history, view, change)
        author = Author(Kind.ENTRY, view, change.row, change.call_row)
        lines = lines_of(after.content)
        origins = carried(known.lines, known.origins, lines, author) if known else new_lines(lines, author)
        for line, origin in zip(lines, origins, strict=True):
            if origin.source is author and is_telling(line):
                history.written.setdefault(line.strip(), author)
    else:
        known = history.known(view, before)
        if known is not None and change.kind == "read" and known.lines == lines_of(after.content):
            origins = known.origins
        else:
            met = before is None or before.content is None
            kind = Kind.BASE if after.base else Kind.BEFORE if met else Kind.UNSEEN
            told = Author(kind, view, change.row, change.call_row, after.base)
            origins = _handed_over(history, view, change.row, after.content, told, known).origins
    history.add(view, change.row, after.content, origins)


def _before(history: _History, view: int, change: Change) -> _Version | None:
    """Return the version that a write or an edit changed."""
    before = change.before
    known = history.known(view, before)
    if before is None or before.content is None:
        return history.last() if before is None else None
    if known is not None and known.lines == lines_of(before.content):
        return known
    kind = Kind.BASE if before.base else Kind.BEFORE
    told = Author(kind, view, change.row, change.call_row, before.base)
    return _handed_over(history, view, change.row, before.content, told, known)


def _handed_over(
    history: _History, view: int, row: int, content: bytes, told: Author, known: _Version | None = None
) -> _Version:
    """Return a version that this session did not write: as the one before it left it, if that is what it holds, else
    with what differs from that as `told`."""
    lines = lines_of(content)
    same = history.same(content)
    if same is not None:
        return _Version(view, row, lines, same.origins)
    earlier = history.last() or known
    origins = carried(earlier.lines, earlier.origins, lines, told) if earlier is not None else new_lines(lines, told)
    if history.patched:
        origins = [_of_patch(history, line, origin) for line, origin in zip(lines, origins, strict=True)]
    return _Version(view, row, lines, origins)


def _of_patch(history: _History, line: bytes, origin: LineOrigin[Author]) -> LineOrigin[Author]:
    """Return the edit that is known to have added a line, for one of unknown origin."""
    if origin.source.kind is Kind.ENTRY:
        return origin
    author = history.patched.get(_text(line))
    return LineOrigin(author) if author is not None else origin


def _take_patch(history: _History, patch: str, author: Author) -> None:
    """Remember the lines that an edit added, of which nothing but the patch is known."""
    added = [line[1:].rstrip("\r") for line in patch.split("\n") if line.startswith("+") and line[:4] != "+++ "]
    numbered = [_NUMBERED.match(line) for line in added]
    if "@@ " not in patch and all(numbered):  # the display form of a diff (pi format 17.2)
        added = [found[1] for found in numbered if found is not None]
    for line in added:
        if is_telling(line.encode("utf-8", "replace")):
            history.patched[line.strip()] = author
            history.written.setdefault(line.strip().encode("utf-8", "replace"), author)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()


def _nearest(history: _History, lines: Sequence[bytes]) -> _Version | None:
    """Return the one of the latest versions that has most lines in common with others; the latest of equals."""
    wanted = set(lines)
    found = [history.versions[key] for key, _ in zip(reversed(history.latest), range(CANDIDATES), strict=False)]
    return max(found, key=lambda version: sum(line in wanted for line in set(version.lines)), default=None)


def _blame(
    path: FilePath, views: tuple[SessionView, ...], history: _History, lines: Sequence[bytes], origins: Origins
) -> Blame:
    blamed = []
    for number, (line, origin) in enumerate(zip(lines, origins, strict=True), 1):
        author = origin.source
        elsewhere = history.written.get(line.strip()) if author.kind is not Kind.ENTRY else None
        blamed.append(BlamedLine(number, line, author, origin.how, elsewhere))
    return Blame(path, views, tuple(blamed))


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
