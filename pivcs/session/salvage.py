"""Whole records inside a line that is no JSON value: what a torn write and the appends after it leave behind.

The rules (`docs/format.md`, "Glued lines"):

1. At the start of the line, and again behind every record that rule 2 took: as long as a whole object stands next,
   it is taken if it is a header or an entry, and passed over if not. White space may stand between.
2. What follows then is a fragment. Out of it the first object is taken that begins with keys in pi's order
   (`RECORD_START`), is whole, is a header or an entry, and is followed by the end of the line or by a byte other than
   `,`, `]` and `}`, white space aside. Objects nested in a torn record have one of these three behind them.
   (Of objects that begin so and stand inside one another, the 257th and further ones are not looked at.)

One pass does for rule 2. A scan that still goes on where a record begins expects a value there, for otherwise the brace
and the quote behind it would end it at the next letter; so it reads the same tokens as a scan that begins there. And
when that record is whole and followed by what rule 2 asks for, every scan around it fails at this same byte.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from pivcs.session.capture import Closed
from pivcs.session.fields import Fields, Record, is_entry, is_header
from pivcs.session.jsonscan import JsonScanner

RECORD_START: Final = re.compile(
    rb'\{"type":"(?:session",'
    rb'|[^"\\\x00-\x1f]{1,256}",(?:"id":"[^"\\\x00-\x1f]{1,256}","parentId":|"customType":|"timestamp":"))'
)
"""How a record begins that pi wrote: a header, or an entry of any type and version (pi format 4.2, 8)."""

_OPENING: Final = b'{"type":"'
_LONGEST_START: Final = 600
_SPACE: Final = re.compile(rb"[ \t\n\r]*")
_NESTED: Final = b",]}"


class _State(Enum):
    NEXT = auto()
    """Between objects: rule 1 looks at the next byte."""
    WHOLE = auto()
    """Scanning an object by rule 1."""
    SEEK = auto()
    """In a fragment, looking for the start of a record."""
    RECORD = auto()
    """In a fragment, scanning an object that begins like a record."""
    BEHIND = auto()
    """Behind a whole object of a fragment: the next byte decides on it."""


def salvage(line: bytes, *, version1: bool) -> tuple[Record, ...]:
    """Return the records of a line that is no JSON value, in order, with their own bounds."""
    salvager = Salvager(version1=version1)
    salvager.feed(line)
    return salvager.finish()


class Salvager:
    """`salvage` for a line that comes in pieces. Holds one piece, some hundred bytes and the records."""

    def __init__(self, *, version1: bool) -> None:
        self._version1 = version1
        self._records: list[Record] = []
        self._objects = 0
        self._torn = False
        self._first: Fields | None = None
        self._state = _State.NEXT
        self._scanner = JsonScanner()
        self._behind: Closed | None = None
        # Bytes of the line from position `_offset` on; those before `_pos` are done with.
        self._buffer = b""
        self._offset = 0
        self._pos = 0
        # The last search: no record begins from the one position on and before the other.
        self._clear_from = self._clear_to = 0

    @property
    def single(self) -> Fields | None:
        """After `finish`: the fields of the object that is the whole line, white space aside."""
        return self._first if self._objects == 1 and self._state is _State.NEXT and not self._torn else None

    def feed(self, piece: bytes | memoryview) -> None:
        """Take the next bytes of the line."""
        # Two bytes are kept for `_fail`, and enough is held back to know every start of a record when it is met.
        keep = max(self._pos - 2, 0)
        self._buffer = self._buffer[keep:] + bytes(piece)
        self._offset += keep
        self._pos -= keep
        self._advance(len(self._buffer) - _LONGEST_START)

    def finish(self) -> tuple[Record, ...]:
        """End the line. Returns its records."""
        self._advance(len(self._buffer))
        if self._state in (_State.WHOLE, _State.RECORD):
            self._take(self._scanner.closed)
        elif self._state is _State.BEHIND:
            self._take(self._behind)
        return tuple(self._records)

    def _advance(self, limit: int) -> None:
        """Work through the buffer up to `limit`."""
        while self._pos < limit:
            match self._state:
                case _State.NEXT:
                    self._next(limit)
                case _State.SEEK:
                    self._pos = self._find_start(self._pos, limit)
                    if self._pos < limit:
                        self._scan_from_here(_State.RECORD)
                case _State.BEHIND:
                    self._judge(limit)
                case _:
                    self._scan(limit)

    def _skip_space(self, limit: int) -> bool:
        """Skip white space; whether a byte is left before `limit`."""
        match = _SPACE.match(self._buffer, self._pos, limit)
        if match:
            self._pos = match.end()
        return self._pos < limit

    def _next(self, limit: int) -> None:
        if not self._skip_space(limit):
            return
        if self._buffer[self._pos] == _OPENING[0]:
            self._scan_from_here(_State.WHOLE)
        else:
            self._torn = True
            self._state = _State.SEEK

    def _judge(self, limit: int) -> None:
        if not self._skip_space(limit):
            return
        if self._buffer[self._pos] in _NESTED or not self._take(self._behind):
            self._state = _State.SEEK
        else:
            self._state = _State.NEXT

    def _scan_from_here(self, state: _State) -> None:
        self._state = state
        self._scanner = JsonScanner(self._offset + self._pos)
        self._pos += self._scanner.feed(self._buffer, self._pos, self._pos + 1)

    def _scan(self, limit: int) -> None:
        """Scan up to where a record may begin inside the object, or up to `limit`."""
        scanner, buffer = self._scanner, self._buffer
        start = self._find_start(self._pos, limit)
        self._pos += scanner.feed(buffer, self._pos, start)
        if scanner.state == "open" and start < limit:
            scanner.mark_next()
            self._pos += scanner.feed(buffer, start, start + 1)
        if scanner.state == "failed":
            self._fail()
        elif scanner.state == "done" and self._state is _State.RECORD:
            self._behind = scanner.closed
            self._state = _State.BEHIND
        elif scanner.state == "done":
            self._objects += 1
            self._first = self._first or scanner.fields
            self._take(scanner.closed)
            self._state = _State.NEXT

    def _fail(self) -> None:
        """The object is not whole: the byte at `_pos` does not belong there."""
        self._torn = True
        nested = self._buffer[self._pos] in _NESTED
        if not nested and self._take(self._scanner.closed):
            self._state = _State.NEXT
        else:
            # A string of the torn object may have swallowed the brace, and ended at the quote, of the next record.
            self._pos = max(self._pos - 2, 0)
            self._state = _State.SEEK

    def _find_start(self, pos: int, limit: int) -> int:
        """Return where the next record may begin, from `pos` on and before `limit`; else `limit`."""
        at = self._offset + pos
        if self._clear_from <= at <= self._clear_to:
            pos = self._clear_to - self._offset
        else:
            self._clear_from = at
        while pos < limit and not RECORD_START.match(self._buffer, pos):
            found = self._buffer.find(_OPENING, pos + 1, limit + len(_OPENING))
            pos = found if found >= 0 else limit
        pos = min(pos, limit)
        self._clear_to = self._offset + pos
        return pos

    def _take(self, closed: Closed | None) -> bool:
        """Take an object if it is a header or an entry."""
        if closed is None:
            return False
        start, end, fields = closed
        wanted = is_header(fields) or is_entry(fields, version1=self._version1)
        if wanted:
            self._records.append(Record(start, end, fields))
        return wanted
