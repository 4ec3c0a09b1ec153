"""Which lines that somebody put into a file were written by which entries: by content alone.

A version of the file that an entry left is that entry's as it stands. Else each line that says something is that of the
entry that wrote it last; as often as the file ever had it, and not where it was only moved. Blank and common lines tie
nothing, but go along with what stands beside them, when the same entry wrote both. Whatever is left was written by
hand, or by nobody knows whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from pivcs.ops.made import Made, MadeFile, bare, tells

MARGIN: Final = 300_000
"""Milliseconds by which the clocks of sessions and of commits may differ."""


class How(StrEnum):
    """How a file is tied to entries: `exact`, it is what an entry left; `lines`, some of its lines are; `none`."""

    EXACT = "exact"
    LINES = "lines"
    NONE = "none"


class Writer(NamedTuple):
    """An entry: its row, that of a tool result, in one of the sessions, by number."""

    session: int
    row: int


class Run(NamedTuple):
    """Lines that were put in one after the other, and those that they took the place of; without LF."""

    taken: Sequence[bytes]
    written: Sequence[bytes]


@dataclass(slots=True)
class Match:
    """What is known of a file: for each run, who wrote each line that was put in, None for by hand or unknown.

    `left_by` is the entry that left the file as it is. `is_converted`: but for the line ends.
    """

    how: How
    writers: list[list[Writer | None]]
    left_by: Writer | None = None
    is_converted: bool = False
    lines: Counter[Writer] = field(default_factory=Counter)


class Candidate(NamedTuple):
    """What one session made of the file."""

    session: int
    file: MadeFile


def match(
    mades: Sequence[Made],
    candidates: Sequence[Candidate],
    runs: Sequence[Run],
    new: bytes | None,
    whole: Callable[[], Sequence[bytes] | None],
    time: int | None = None,
) -> Match:
    """Return who wrote the lines that were put into a file.

    `candidates` are of `mades`, by number. `new` is the id of the file's content, None when it is gone; `whole` is
    asked for all its lines when they are needed, and may not know them. `time` is when it was (milliseconds since
    1970): of several entries the latest until then is taken, and when all are later the latest of these, as clocks may
    be wrong.
    """
    choice = _Choice(mades, None if time is None else time + MARGIN)
    found = _left_by(choice, candidates, new)
    if found is not None:
        writer, is_converted = found
        writers = [[_of_version(choice, candidates, bare(line), writer) for line in run.written] for run in runs]
        result = Match(How.EXACT, writers, writer, is_converted)
        result.lines[writer] += 0
    else:
        writers = _by_lines(choice, candidates, runs, whole)
        is_any = any(each is not None for run in writers for each in run)
        result = Match(How.LINES if is_any else How.NONE, writers)
        result.is_converted = is_any and _has_crlf(candidates) != any(
            line.endswith(b"\r") for run in runs for line in run.written
        )
    result.lines.update(each for run in writers for each in run if each is not None)
    return result


def _has_crlf(candidates: Iterable[Candidate]) -> bool:
    return any(each.file.has_crlf for each in candidates)


class _Choice(NamedTuple):
    """How one of several entries is chosen: the latest until a time, else the latest."""

    mades: Sequence[Made]
    until: int | None

    def latest_row(self, session: int, rows: Iterable[int]) -> int:
        """Return the latest of some rows of one session."""
        table = self.mades[session].view.table
        return max(rows, key=lambda row: (self.until is None or table.time[row] <= self.until, row))

    def latest(self, writers: Iterable[Writer]) -> Writer:
        """Return the latest of entries of different sessions; of those of a time the one whose session began first."""

        def order(writer: Writer) -> tuple[bool, int, int]:
            time = self.mades[writer.session].view.table.time[writer.row]
            return self.until is None or time <= self.until, time, -writer.session

        return max(writers, key=order)


def _left_by(choice: _Choice, candidates: Iterable[Candidate], new: bytes | None) -> tuple[Writer, bool] | None:
    """Return the latest entry that left a file with an id, and whether only with other line ends."""
    if new is None:
        return None
    tables: list[tuple[bool, Callable[[MadeFile], Mapping[bytes, list[int]]]]] = [
        (False, lambda file: file.left), (True, lambda file: file.left_lf),
    ]  # fmt: skip
    for is_converted, table in tables:
        found = [
            Writer(each.session, choice.latest_row(each.session, rows))
            for each in candidates if (rows := table(each.file).get(new))
        ]  # fmt: skip
        if found:
            return choice.latest(found), is_converted
    return None


def _of_version(choice: _Choice, candidates: Iterable[Candidate], line: bytes, version: Writer) -> Writer | None:
    """Return who wrote a line of a version that an entry left: somebody on its path, if there is one."""
    others = []
    for session, file in candidates:
        rows = file.writers(line)
        if session == version.session and rows:
            row = _nearest_above(choice.mades[session], rows, version.row)
            if row is not None:
                return Writer(session, row)
        if rows:
            others.append(Writer(session, choice.latest_row(session, rows)))
    return choice.latest(others) if others else None


def _nearest_above(made: Made, rows: Iterable[int], row: int) -> int | None:
    """Return the first of some rows that is met on the way from a row to its root."""
    wanted = set(rows)
    first = min(wanted)
    at: int | None = row
    while at is not None and at >= first:
        if at in wanted:
            return at
        at = made.view.table.parent_of(at)
    return None


def _by_lines(
    choice: _Choice, candidates: Sequence[Candidate], runs: Sequence[Run],
    whole: Callable[[], Sequence[bytes] | None],
) -> list[list[Writer | None]]:  # fmt: skip
    lines = [[bare(line) for line in run.written] for run in runs]
    written = {line for run in lines for line in run if tells(line)}
    known = {line: _last_writer(choice, candidates, line) for line in written}
    if not any(known.values()):
        return [[None] * len(run) for run in lines]
    left = _allowed(candidates, lines, whole, {line for line, writer in known.items() if writer is not None})
    taken = {bare(line) for run in runs for line in run.taken}
    result: list[list[Writer | None]] = []
    for run in lines:
        writers: list[Writer | None] = []
        for line in run:
            writer = known.get(line)
            if writer is not None and (left.get(line, 1) < 1 or (line in taken and not _rewrote(candidates, line))):
                writer = None
            if writer is not None and line in left:
                left[line] -= 1
            writers.append(writer)
        _take_along(candidates, run, writers)
        result.append(writers)
    return result


def _last_writer(choice: _Choice, candidates: Iterable[Candidate], line: bytes) -> Writer | None:
    found = [
        Writer(session, choice.latest_row(session, rows))
        for session, file in candidates if (rows := file.writers(line))
    ]  # fmt: skip
    return choice.latest(found) if found else None


def _allowed(
    candidates: Iterable[Candidate],
    lines: Iterable[Iterable[bytes]],
    whole: Callable[[], Sequence[bytes] | None],
    known: set[bytes],
) -> dict[bytes, int]:
    """Return how many of each line the entries can have put in: as many as the file ever had when they knew it, without
    those that were in it before. Lines of which this is not known are left out."""
    if not all(each.file.is_whole for each in candidates):
        return {}
    content = whole()
    if content is None:
        return {}
    put_in = Counter(line for run in lines for line in run if line in known)
    now = Counter(line for line in map(bare, content) if line in known)
    allowed = {}
    for line in known:
        most = max(each.file.most.get(line, 1) for each in candidates if each.file.writers(line))
        allowed[line] = most - (now[line] - put_in[line])
    return allowed


def _rewrote(candidates: Iterable[Candidate], line: bytes) -> bool:
    """Whether entries put a line in more often than to begin with, so that they may have moved it."""
    return any(line in file.moved or len(file.writers(line)) > 1 for _, file in candidates)


def _take_along(candidates: Sequence[Candidate], run: Sequence[bytes], writers: list[Writer | None]) -> None:
    """Give blank and common lines to the entry of the line above, else below, if that wrote such a line, too."""
    for step in (1, -1):
        places = range(len(run))[::step]
        beside: Writer | None = None
        for at in places:
            if writers[at] is None and beside is not None and not tells(run[at]):
                wrote = any(
                    session == beside.session and file.has_written(run[at], beside.row) for session, file in candidates
                )
                writers[at] = beside if wrote else None
            beside = writers[at]
