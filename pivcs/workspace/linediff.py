"""What two versions of a text have in common, line by line.

Lines that occur once in either version are anchors, as in a patience diff: they are what a person would match first.
Only what lies between two anchors and is small is compared in full, so the time is near to linear.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeVar

Line = TypeVar("Line", bound=Hashable)

FULL: Final = 1 << 20
"""Product of the line counts up to which two pieces without an anchor are compared in full."""


class Block(NamedTuple):
    """`size` lines that are equal in both versions, from `before` and `after` on."""

    before: int
    after: int
    size: int


class Opcode(NamedTuple):
    """How a piece of one version becomes one of the other: `equal`, `delete`, `insert` or `replace`."""

    tag: str
    before_start: int
    before_end: int
    after_start: int
    after_end: int


def matching_blocks(before: Sequence[Line], after: Sequence[Line]) -> list[Block]:
    """Return the runs of lines that both versions have, in order; they touch or overlap nowhere.

    Pieces that share no unique line and are too large to be compared in full are taken as different.
    """
    found: list[Block] = []
    # Pieces still to be compared, the first on top, and between them blocks that are already settled.
    todo: list[tuple[int, int, int, int] | Block] = [(0, len(before), 0, len(after))]
    while todo:
        piece = todo.pop()
        if isinstance(piece, Block):
            _add(found, piece)
            continue
        start, end, after_start, after_end = piece
        head = _common_head(before, after, piece)
        if head:
            _add(found, Block(start, after_start, head))
            start, after_start = start + head, after_start + head
        tail = _common_tail(before, after, (start, end, after_start, after_end))
        if tail:
            todo.append(Block(end - tail, after_end - tail, tail))
            end, after_end = end - tail, after_end - tail
        if start == end or after_start == after_end:
            continue
        piece = (start, end, after_start, after_end)
        anchors = _anchors(before, after, piece)
        if anchors:
            todo.extend(reversed(list(_between(anchors, piece))))
        elif (end - start) * (after_end - after_start) <= FULL:
            matcher = SequenceMatcher(None, before[start:end], after[after_start:after_end], autojunk=False)
            for at, there, size in matcher.get_matching_blocks():
                if size:
                    _add(found, Block(start + at, after_start + there, size))
    return found


def opcodes(before: Sequence[Line], after: Sequence[Line]) -> list[Opcode]:
    """Return how `before` becomes `after`, piece by piece, as `difflib` does."""
    found: list[Opcode] = []
    at = there = 0
    for block in (*matching_blocks(before, after), Block(len(before), len(after), 0)):
        if at < block.before or there < block.after:
            tag = "insert" if at == block.before else "delete" if there == block.after else "replace"
            found.append(Opcode(tag, at, block.before, there, block.after))
        at, there = block.before + block.size, block.after + block.size
        if block.size:
            found.append(Opcode("equal", block.before, at, block.after, there))
    return found


def grouped_opcodes(before: Sequence[Line], after: Sequence[Line], context: int = 3) -> Iterator[list[Opcode]]:
    """Yield the changes in groups with up to `context` equal lines around each, as hunks of a unified diff have."""
    group: list[Opcode] = []
    for code in opcodes(before, after):
        if code.tag != "equal":
            group.append(code)
            continue
        size = code.before_end - code.before_start
        if group and size > 2 * context:
            if context:
                before_end, after_end = code.before_start + context, code.after_start + context
                group.append(code._replace(before_end=before_end, after_end=after_end))
            yield group
            group = []
        if not group:
            skip = max(size - context, 0)
            code = code._replace(before_start=code.before_start + skip, after_start=code.after_start + skip)
        if code.before_start < code.before_end:
            group.append(code)
    if any(code.tag != "equal" for code in group):
        if group[-1].tag == "equal":
            last = group[-1]
            group[-1] = last._replace(
                before_end=min(last.before_end, last.before_start + context),
                after_end=min(last.after_end, last.after_start + context),
            )
        yield group


def _add(found: list[Block], block: Block) -> None:
    """Add a block; one that goes on where the last one ends is one with it."""
    if found:
        last = found[-1]
        if (last.before + last.size, last.after + last.size) == block[:2]:
            found[-1] = last._replace(size=last.size + block.size)
            return
    found.append(block)


def _common_head(before: Sequence[Line], after: Sequence[Line], piece: tuple[int, int, int, int]) -> int:
    start, end, after_start, after_end = piece
    most = min(end - start, after_end - after_start)
    count = 0
    while count < most and before[start + count] == after[after_start + count]:
        count += 1
    return count


def _common_tail(before: Sequence[Line], after: Sequence[Line], piece: tuple[int, int, int, int]) -> int:
    start, end, after_start, after_end = piece
    most = min(end - start, after_end - after_start)
    count = 0
    while count < most and before[end - count - 1] == after[after_end - count - 1]:
        count += 1
    return count


def _anchors(
    before: Sequence[Line], after: Sequence[Line], piece: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Return places of lines that are unique in both pieces, as many as there can be in one order."""
    start, end, after_start, after_end = piece
    places = _unique(before, start, end)
    there = _unique(after, after_start, after_end)
    pairs = [(at, there[line]) for line, at in places.items() if at >= 0 and there.get(line, -1) >= 0]
    pairs.sort()
    # The longest run of pairs that rises in both: piles of patience, each pair pointing to one of the pile before it.
    tops: list[int] = []
    chosen: list[int] = []
    below: list[int] = []
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        below.append(chosen[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            chosen.append(number)
        else:
            tops[pile] = place
            chosen[pile] = number
    result = []
    at = chosen[-1] if chosen else -1
    while at >= 0:
        result.append(pairs[at])
        at = below[at]
    result.reverse()
    return result


def _unique(lines: Sequence[Line], start: int, end: int) -> dict[Line, int]:
    """Return the place of each line, -1 for those that occur more than once."""
    places: dict[Line, int] = {}
    for at in range(start, end):
        places[lines[at]] = -1 if lines[at] in places else at
    return places


def _between(
    anchors: Sequence[tuple[int, int]], piece: tuple[int, int, int, int]
) -> Iterator[tuple[int, int, int, int] | Block]:
    """Yield the anchors as blocks, and the pieces before, between and behind them."""
    at, end, there, after_end = piece
    for place, after_place in anchors:
        if at < place and there < after_place:
            yield at, place, there, after_place
        yield Block(place, after_place, 1)
        at, there = place + 1, after_place + 1
    if at < end and there < after_end:
        yield at, end, there, after_end
