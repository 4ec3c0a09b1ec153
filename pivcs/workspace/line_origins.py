"""Who wrote each line of a file: carried from one version of it to the next.

A line that stays keeps its origin. One that was taken out and put in again by the same change was moved, and keeps it,
too; lines that differ from those that they replace in nothing but spacing, quotes and commas are reformatted: they say
so, and where they come from. Everything else that is new has the origin of the change.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

from pivcs.workspace.linediff import matching_blocks

Source = TypeVar("Source")

TELLING: Final = 4
"""Letters and digits that a line must have to be known again elsewhere: `}` and `else:` are everywhere."""

_IGNORED: Final = dict.fromkeys(map(ord, " \t\r\n\f\v,"), None) | {ord("'"): '"', ord("`"): '"'}


class How(StrEnum):
    """What became of a line since its origin wrote it."""

    WRITTEN = "written"
    MOVED = "moved"
    REFORMATTED = "reformatted"


class LineOrigin(NamedTuple, Generic[Source]):
    """Where a line comes from: whatever the caller uses to name a change, and what became of the line since."""

    source: Source
    how: How = How.WRITTEN


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file, each with its LF; the last one may have none."""
    lines = content.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def new_lines(lines: Sequence[bytes], source: Source) -> list[LineOrigin[Source]]:
    """Return the origins of the lines of a file that has no earlier version."""
    return [LineOrigin(source)] * len(lines)


def carried(
    before: Sequence[bytes], origins: Sequence[LineOrigin[Source]], after: Sequence[bytes], source: Source
) -> list[LineOrigin[Source]]:
    """Return the origins of the lines of `after`, which a change that is called `source` made of `before`.

    `origins` are those of `before`. Costs one line diff.
    """
    written: LineOrigin[Source] = LineOrigin(source)
    result = [written] * len(after)
    gaps = []
    for gap in _gaps(before, after, result, origins):
        taken = _reformatted(before, origins, after, gap)
        if taken is None:
            gaps.append(gap)
        else:
            result[gap.after_start : gap.after_end] = taken
    _find_moved(before, origins, after, gaps, result)
    return result


class _Gap(NamedTuple):
    """Lines of two versions that a diff found no partners for."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int


def _gaps(
    before: Sequence[bytes],
    after: Sequence[bytes],
    result: list[LineOrigin[Source]],
    origins: Sequence[LineOrigin[Source]],
) -> Iterator[_Gap]:
    """Copy the origins of lines that stay, and yield what is between them."""
    blocks = [(0, 0, 0), *matching_blocks(before, after), (len(before), len(after), 0)]
    for (start, after_start, size), (end, after_end, _) in pairwise(blocks):
        result[after_start : after_start + size] = origins[start : start + size]
        if start + size < end or after_start + size < after_end:
            yield _Gap(start + size, end, after_start + size, after_end)


def _reformatted(
    before: Sequence[bytes], origins: Sequence[LineOrigin[Source]], after: Sequence[bytes], gap: _Gap
) -> list[LineOrigin[Source]] | None:
    """Return the origins of lines that say the same as those that they replace, None when they do not.

    Each line has the origin of the line that its first character was in.
    """
    old = [_bare(before[at]) for at in range(gap.before_start, gap.before_end)]
    new = [_bare(after[at]) for at in range(gap.after_start, gap.after_end)]
    if not any(old) or "".join(old) != "".join(new):
        return None
    starts = []
    place = 0
    for at, text in enumerate(old):
        starts.append((place, at))
        place += len(text)
    found = []
    place, at = 0, 0
    for line, text in enumerate(new):
        while at + 1 < len(starts) and starts[at + 1][0] <= place:
            at += 1
        same = before[gap.before_start + at] == after[gap.after_start + line]
        origin = origins[gap.before_start + at]
        found.append(origin if same else LineOrigin(origin.source, How.REFORMATTED))
        place += len(text)
    return found


def _find_moved(
    before: Sequence[bytes],
    origins: Sequence[LineOrigin[Source]],
    after: Sequence[bytes],
    gaps: Sequence[_Gap],
    result: list[LineOrigin[Source]],
) -> None:
    """Give lines that the same change took out elsewhere the origin that they had there."""
    exact: defaultdict[bytes, deque[int]] = defaultdict(deque)
    loose: defaultdict[str, deque[int]] = defaultdict(deque)
    for gap in gaps:
        for at in range(gap.before_start, gap.before_end):
            if is_telling(before[at]):
                exact[before[at]].append(at)
                loose[_bare(before[at])].append(at)
    used: set[int] = set()
    for how in (How.MOVED, How.REFORMATTED):
        for gap in gaps:
            for at in range(gap.after_start, gap.after_end):
                if result[at].how is not How.WRITTEN or not is_telling(after[at]):
                    continue
                found = exact.get(after[at]) if how is How.MOVED else loose.get(_bare(after[at]))
                while found and found[0] in used:
                    found.popleft()
                if found:
                    used.add(found[0])
                    result[at] = LineOrigin(origins[found.popleft()].source, how)


def is_telling(line: bytes) -> bool:
    """Whether a line says enough to be the same line when it is found elsewhere."""
    return sum(byte in _WORD for byte in line) >= TELLING


_WORD: Final = frozenset(byte for byte in range(0x100) if byte >= 0x80 or chr(byte).isalnum())


def _bare(line: bytes) -> str:
    """Return what a formatter does not change of a line: no spacing, no commas, one kind of quotes."""
    return line.decode("latin-1").translate(_IGNORED)
