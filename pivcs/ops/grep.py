"""Searching the texts of entries, reading only records that may have what is looked for.

The bytes of the session are searched for literals first, in large pieces; only records that have one are parsed. What
counts is the text, not the bytes: records with characters escaped that need no escape are parsed, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

from pivcs.objects.table import Table
from pivcs.ops.entry_text import field_texts
from pivcs.ops.grep_pattern import ESCAPE_LENGTH, Wanted
from pivcs.ops.live_file import LiveReading, is_unchanged, unchanged_file
from pivcs.ops.records import iter_entries
from pivcs.ops.view import SHOWN_WHOLE, SessionView
from pivcs.session.source import ByteSource, FileSource

PIECE: Final = 1 << 20


class Hit(NamedTuple):
    """A line of a text of an entry that matches.

    `number` is that of the line in its text, from 1; `spans` are the places of the matches in it. `before` and `after`
    are lines around it that were asked for, none of them a hit of its own. `place` is that of the text among those of
    the entry, from 0.
    """

    row: int
    field: str
    number: int
    line: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    place: int = 0


class Around(NamedTuple):
    """How many lines of context are wanted around a hit."""

    before: int = 0
    after: int = 0


NO_CONTEXT: Final = Around()


def grep(
    view: SessionView,
    wanted: Wanted,
    *,
    rows: Collection[int] | None = None,
    fields: Collection[str] | None = None,
    around: Around = NO_CONTEXT,
    once: bool = False,
) -> Iterator[Hit]:
    """Yield the hits in the entries of a session, in file order: of all of them, or of `rows`.

    `fields` are kinds of text (`pivcs.ops.entry_text.FIELDS`), all of them by default. With `once` each entry has but
    one hit, the first.
    """
    chosen = None if rows is None else set(rows)
    found = [row for row in candidates(view, wanted) if chosen is None or row in chosen]
    with LiveReading(view) as read:
        for row, entry in zip(found, iter_entries(view, found, read), strict=True):
            hits = (
                hit
                for place, (field, text) in enumerate(field_texts(entry.value))
                if (fields is None or field in fields) and wanted.may_match(text)
                for hit in _hits(row, place, field, text, wanted, around)
            )
            yield from islice(hits, 1) if once else hits


def unsearched(view: SessionView, rows: Iterable[int] | None = None) -> int:
    """Return how many entries, of all or of `rows`, are longer than what is parsed, so that no search finds them."""
    lengths = view.table.length
    if max(lengths, default=0) <= SHOWN_WHOLE:
        return 0
    return sum(1 for row in (view.table.nodes() if rows is None else rows) if lengths[row] > SHOWN_WHOLE)


def candidates(view: SessionView, wanted: Wanted) -> Iterator[int]:
    """Yield the nodes whose records may have a hit, in file order."""
    if not wanted.literals:
        yield from view.table.nodes()
        return
    table = view.table
    file = unchanged_file(view)
    if file is not None:
        with file:
            found = list(_rows_with(table, file, wanted))
            if is_unchanged(file):
                yield from _nodes(table, found)
                return
    yield from _nodes(table, _rows_with(table, view.source, wanted))


def _nodes(table: Table, rows: Iterator[int] | list[int]) -> Iterator[int]:
    last = -1
    for row in rows:
        if row > last and table.is_node(row) and table.first_row(row) == row:
            yield row
            last = row


def _rows_with(table: Table, source: ByteSource, wanted: Wanted) -> Iterator[int]:
    """Yield the rows whose bytes have a literal, or an escape that may hide one, in order; a row maybe twice."""
    needles, escapes = wanted.needles, wanted.escapes
    keep = max(ESCAPE_LENGTH, *map(len, needles)) - 1
    buffer = bytearray(PIECE + keep)
    view = memoryview(buffer)
    position, held = 0, 0
    while position < table.end:
        count = _fill(source, position, view[held : held + min(PIECE, table.end - position)])
        if not count:
            return
        end = held + count
        yield from _rows_in(buffer, end, position - held, table, needles, escapes, fold=wanted.fold)
        position += count
        held = min(keep, end)
        view[:held] = view[end - held : end]


def _fill(source: ByteSource, position: int, room: memoryview) -> int:
    if isinstance(source, FileSource):  # without an object for each piece
        source.seek(position)
        return source.readinto(room)
    data = source.read_range(position, len(room))
    room[: len(data)] = data
    return len(data)


def _rows_in(
    piece: bytearray,
    end: int,
    start: int,
    table: Table,
    needles: Sequence[bytes],
    escapes: re.Pattern[bytes],
    *,
    fold: bool,
) -> Iterator[int]:
    """Yield the rows of a piece that begins at a stream position and that have a literal or an escape."""
    places = Places((piece.lower() if fold else piece).find, needles, end)
    literal, escape = places.behind(0), _escape_in(escapes, piece, 0, end)
    while literal >= 0 or escape >= 0:
        at = min(place for place in (literal, escape) if place >= 0)
        row = bisect_right(table.offset, start + at) - 1
        if row < 0:
            behind = at + 1
        else:
            yield row
            behind = table.offset[row] + table.length[row]
            if row + 1 < len(table):  # a record inside of a line that is no entry as a whole
                behind = min(behind, table.offset[row + 1])
            behind = max(behind - start, at + 1)
        if 0 <= literal < behind:
            literal = places.behind(behind)
        if 0 <= escape < behind:
            escape = _escape_in(escapes, piece, behind, end)


def _escape_in(escapes: re.Pattern[bytes], piece: bytearray, start: int, end: int) -> int:
    """Return the place of the next escape of a character that needs none, -1 for none."""
    found = escapes.search(piece, start, end)
    return found.start() if found is not None else -1  # what is cut by the end is found in the next piece


Sought = TypeVar("Sought", str, bytes)


class Places(Generic[Sought]):
    """Where any of some literals stands in a text, asked from its beginning to its end. `find` is that of the text."""

    def __init__(self, find: Callable[[Sought, int, int], int], literals: Sequence[Sought], end: int) -> None:
        self._find: Callable[[Sought, int, int], int] = find
        self._end = end
        self._next: list[tuple[int, Sought]] = [(find(literal, 0, end), literal) for literal in literals]

    def behind(self, start: int) -> int:
        """Return the first place from `start` on, -1 for none. `start` must not become smaller."""
        least = -1
        for number, (place, literal) in enumerate(self._next):
            if 0 <= place < start:
                place = self._find(literal, start, self._end)
                self._next[number] = place, literal
            if place >= 0 and (least < 0 or place < least):
                least = place
        return least


def _hits(row: int, place: int, field: str, text: str, wanted: Wanted, around: Around) -> Iterator[Hit]:
    if around == NO_CONTEXT:
        pattern = wanted.pattern
        for number, line in _lines_with(text, wanted):
            if pattern.search(line):
                spans = tuple(found.span() for found in pattern.finditer(line))
                yield Hit(row, field, number, line, spans, place=place)
        return
    lines = lines_of(text)
    matches: dict[int, tuple[tuple[int, int], ...]] = {}
    for number, line in enumerate(lines):
        if wanted.pattern.search(line):
            matches[number] = tuple(found.span() for found in wanted.pattern.finditer(line))
    for number, spans in matches.items():
        before = _context(lines, matches, range(number - 1, number - 1 - around.before, -1))
        after = _context(lines, matches, range(number + 1, number + 1 + around.after))
        yield Hit(row, field, number + 1, lines[number], spans, tuple(reversed(before)), tuple(after), place)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, which end with LF or CR LF; a line end at its end begins no line."""
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _lines_with(text: str, wanted: Wanted) -> Iterator[tuple[int, str]]:
    """Yield the lines that may have a hit, with their numbers from 1: where it is quickly told, those only."""
    searched = text.lower() if wanted.fold else text
    if wanted.literals and len(searched) == len(text):  # a few letters become two in lower case
        behind = Places(searched.find, wanted.literals, len(text)).behind
    elif wanted.in_lines:
        behind = partial(_match_behind, wanted.pattern, text)
    else:
        yield from enumerate(lines_of(text), 1)
        return
    number, counted, at = 1, 0, behind(0)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        if start == len(text) > 0:  # behind the last line
            break
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        number += text.count("\n", counted, start)
        counted = start
        yield number, text[start:end].removesuffix("\r")
        at = behind(end + 1) if end < len(text) else -1


def _match_behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the place of the first match from `start` on, -1 for none."""
    found = pattern.search(text, start)
    return found.start() if found is not None else -1


def _context(lines: list[str], matches: Collection[int], places: range) -> list[str]:
    """Return the lines at places up to the next hit."""
    found = []
    for place in places:
        if not 0 <= place < len(lines) or place in matches:
            break
        found.append(lines[place])
    return found
