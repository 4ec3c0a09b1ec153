"""One JSON value, scanned as its bytes arrive, without holding it.

The grammar is that of `pivcs.session.jsontext`; what is kept is one byte for each open container and the few fields
of `Fields`. Invalid UTF-8 can only stand inside strings, where it cannot change where they end: no byte of ASCII is
ever part of a replaced sequence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, Literal, NamedTuple

from pivcs.session.capture import Capture, Closed
from pivcs.session.fields import Fields

State = Literal["open", "done", "failed"]

# No pattern is possessive or atomic, which CPython 3.11.0 to 3.11.4 gets wrong for groups. None needs to be: wherever a
# pattern gives back what it took, the byte that must follow cannot be there, so that a failure costs no more than what
# was read. But the engine remembers each round of a repeated group, about a hundred bytes: hence `_REACH`, and the
# bound in `_body`.
_SPACE = rb"[ \t\n\r]*"
_PLAIN = rb'[^"\\\x00-\x1f]*'
_BODY = _PLAIN + rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})' + _PLAIN + rb")*"
_STRING = rb'"' + _BODY + rb'"'
_SCALAR = _STRING + rb"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null"

_space = re.compile(_SPACE)
_body = re.compile(_BODY[:-1] + rb"{0,1000}")
_digits = re.compile(rb"[0-9]*")
_LEVELS: Final = 3
"""Levels of containers that one pattern passes over at once; each doubles its size."""


class _Patterns(NamedTuple):
    """Patterns for whole values at the speed of the regex engine; what they do not match is read step by step."""

    value: re.Pattern[bytes]
    """A list or an object."""
    items: re.Pattern[bytes]
    """Items that follow an item; possibly none."""
    members: re.Pattern[bytes]
    """Members that follow a member; possibly none."""


@cache
def _patterns() -> _Patterns:
    # Made when first used: a program that meets no torn and no long line need not wait for it.
    def more(part: bytes, closing: bytes) -> bytes:
        return rb"(?:%b%b(?:,%b(?!%b)|(?=%b)))*" % (part, _SPACE, _SPACE, closing, closing)

    value, container = _SCALAR, b""
    for _ in range(_LEVELS):
        member = rb"%b%b:%b(?:%b)" % (_STRING, _SPACE, _SPACE, value)
        container = rb"\[%b%b\]|\{%b%b\}" % (_SPACE, more(rb"(?:%b)" % value, rb"\]"), _SPACE, more(member, rb"\}"))
        value = _SCALAR + rb"|" + container
    # A number is whole only when something follows it.
    items = rb"(?:,%b(?:%b)%b(?=[,\]]))*" % (_SPACE, value, _SPACE)
    members = rb"(?:,%b%b%b:%b(?:%b)%b(?=[,}]))*" % (_SPACE, _STRING, _SPACE, _SPACE, value, _SPACE)
    return _Patterns(re.compile(container), re.compile(items), re.compile(members))


# Modes: what comes next. The first six stand between tokens.
_VALUE, _FIRST_ITEM, _FIRST_KEY, _KEY, _COLON, _AFTER, _KEY_TEXT, _TEXT, _ESCAPE, _HEX, _LITERAL = range(11)
# Inside a number, named for what was read last.
_MINUS, _ZERO, _INTEGER, _POINT, _FRACTION, _EXPONENT, _SIGN, _POWER = range(11, 19)
_WHOLE_NUMBER = frozenset((_ZERO, _INTEGER, _FRACTION, _POWER))

_QUOTE, _BACKSLASH, _COMMA, _LIST, _OBJECT = b'"\\,[{'
_CLOSING = {_LIST: b"]"[0], _OBJECT: b"}"[0]}
_ESCAPED = frozenset(b'"\\/bfnrt')
_HEX_DIGITS = frozenset(b"0123456789abcdefABCDEF")
_CONTROL = bytes(range(32))
_WORDS: dict[int, tuple[bytes, bool | None]] = {
    b"t"[0]: (b"true", True),
    b"f"[0]: (b"false", False),
    b"n"[0]: (b"null", None),
}

_WINDOW: Final = 1 << 16
_REACH: Final = 1 << 12
"""Bytes that a match of whole values may take: what it remembers stays in the processor's cache, and little is read in
vain for a value that does not end in them."""
_LONG_RUN: Final = 256
"""Bytes without quote and backslash from which three passes at the speed of memory beat one of the regex engine."""


def _end(pattern: re.Pattern[bytes], data: bytes, pos: int, limit: int) -> int:
    match = pattern.match(data, pos, limit)
    return match.end() if match else pos


class JsonScanner:
    """Scans one value, with JSON white space before it. `position` counts the bytes taken, from `start` on."""

    def __init__(self, start: int = 0) -> None:
        self.state: State = "open"
        self.position = start
        self.closed: Closed | None = None
        """The top object or the marked one that closed last, as long as nothing but white space follows it."""
        self._mode = _VALUE
        self._string = _TEXT
        self._stack = bytearray()
        self._capture = Capture()
        self._limit = 0
        self._hex_left = 0
        self._word: tuple[bytes, bool | None] = (b"", None)
        self._matched = 0

    @property
    def is_object(self) -> bool:
        """Whether the value is done and an object."""
        return self.state == "done" and self.closed is not None

    @property
    def fields(self) -> Fields:
        """Fields of the object; all defaults while it is open, and for other values."""
        return self.closed[2] if self.state == "done" and self.closed is not None else Fields()

    def mark_next(self) -> None:
        """Mark the object that begins at `position`, if one may begin there: `closed` will tell when it ended."""
        if self.state == "open" and self._mode in (_VALUE, _FIRST_ITEM):
            self._capture.mark()

    def feed(self, piece: bytes | memoryview, start: int = 0, end: int | None = None) -> int:
        """Scan the next bytes, `piece[start:end]`. Returns how many were taken: all, unless the value ended or failed
        before the next one."""
        data = piece if isinstance(piece, bytes) else bytes(piece)
        limit = self._limit = len(data) if end is None else end
        base, pos = self.position - start, start
        while pos < limit and self.state == "open":
            pos = _READERS[self._mode](self, data, pos)
            self.position = base + pos
        return pos - start

    def finish(self) -> None:
        """End the input: a number at the top is done, every other open value has failed."""
        if self.state == "open":
            self.state = "done" if not self._stack and self._mode in _WHOLE_NUMBER else "failed"

    def _between(self, data: bytes, pos: int) -> int:
        """Skip white space, or read the one byte that comes next."""
        byte, mode = data[pos], self._mode
        if byte in b" \t\n\r":
            return _end(_space, data, pos, self._limit)
        if mode == _AFTER:
            return self._after(data, pos)
        if mode == _COLON and byte == b":"[0]:
            self._mode = _VALUE
        elif mode in (_KEY, _FIRST_KEY) and byte == _QUOTE:
            self._capture.begin_key(len(self._stack))
            self._mode = self._string = _KEY_TEXT
        elif mode in (_FIRST_ITEM, _FIRST_KEY) and byte == _CLOSING[self._stack[-1]]:
            self._close()
        elif mode not in (_VALUE, _FIRST_ITEM):
            self.state = "failed"
            return pos
        else:
            if byte in b"[{" and self._stack and self._capture.passes():
                end = _end(_patterns().value, data, pos, min(pos + _REACH, self._limit))
                if end > pos:
                    self._capture.value()
                    self._mode = _AFTER
                    return end
            if not self._begin_value(byte):
                self.state = "failed"
                return pos
        return pos + 1

    def _begin_value(self, byte: int) -> bool:
        capture = self._capture
        if byte == _QUOTE:
            capture.begin_text()
            self._mode = self._string = _TEXT
        elif byte == _OBJECT:
            # Every byte before was a call of its own or white space, so `position` is that of the brace.
            capture.begin_object(len(self._stack), self.position)
            self._stack.append(byte)
            self._mode = _FIRST_KEY
        elif byte == _LIST:
            capture.value()
            self._stack.append(byte)
            self._mode = _FIRST_ITEM
        elif byte in b"-0123456789":
            capture.value()
            self._mode = _MINUS if byte == b"-"[0] else _ZERO if byte == b"0"[0] else _INTEGER
        elif byte in _WORDS:
            self._word, self._matched = _WORDS[byte], 1
            self._mode = _LITERAL
        else:
            return False
        return True

    def _after(self, data: bytes, pos: int) -> int:
        """Read what follows a value in a container."""
        byte, container = data[pos], self._stack[-1]
        if byte == _COMMA:
            self.closed = None
            if not self._capture.wanted(len(self._stack)):
                patterns = _patterns()
                pattern = patterns.members if container == _OBJECT else patterns.items
                end = _end(pattern, data, pos, min(pos + _REACH, self._limit))
                if end > pos:
                    return end
            self._mode = _KEY if container == _OBJECT else _VALUE
        elif byte == _CLOSING[container]:
            self._close()
        else:
            self.state = "failed"
            return pos
        return pos + 1

    def _close(self) -> None:
        self._stack.pop()
        self.closed = self._capture.end_container(len(self._stack), self.position + 1)
        self._end_value()

    def _end_value(self) -> None:
        self._mode = _AFTER
        if not self._stack:
            self.state = "done"

    def _text(self, data: bytes, pos: int) -> int:
        """Read some of a string or key: up to a lone backslash, the end, or the end of a window."""
        limit = min(pos + _WINDOW, self._limit)
        quote = data.find(b'"', pos, limit)
        end = data.find(b"\\", pos, limit if quote < 0 else quote)
        if end < 0:
            end = limit if quote < 0 else quote
        run = data[pos:end] if end - pos >= _LONG_RUN else b""
        if not run or len(run.translate(None, _CONTROL)) != len(run):
            end = _end(_body, data, pos, limit)
            run = data[pos:end]
        self._capture.add_text(run)
        if end == limit or (run and data[end] == _BACKSLASH):
            return end
        if data[end] == _QUOTE:
            if self._string == _KEY_TEXT:
                self._capture.end_key()
                self._mode = _COLON
            else:
                self._capture.end_text()
                self._end_value()
        elif data[end] == _BACKSLASH:
            self._capture.add_text(b"\\")
            self._mode = _ESCAPE
        else:
            self.state = "failed"
            return end
        return end + 1

    def _escape(self, data: bytes, pos: int) -> int:
        """Read the byte after a backslash (only where the piece or the window ends, or the escape is wrong)."""
        byte = data[pos]
        if byte == b"u"[0]:
            self._mode, self._hex_left = _HEX, 4
        elif byte in _ESCAPED:
            self._mode = self._string
        else:
            self.state = "failed"
            return pos
        self._capture.add_text(data[pos : pos + 1])
        return pos + 1

    def _hex(self, data: bytes, pos: int) -> int:
        if data[pos] not in _HEX_DIGITS:
            self.state = "failed"
            return pos
        self._capture.add_text(data[pos : pos + 1])
        self._hex_left -= 1
        if not self._hex_left:
            self._mode = self._string
        return pos + 1

    def _literal(self, data: bytes, pos: int) -> int:
        word, value = self._word
        if data[pos] != word[self._matched]:
            self.state = "failed"
            return pos
        self._matched += 1
        if self._matched == len(word):
            self._capture.value(value)
            self._end_value()
        return pos + 1

    def _number(self, data: bytes, pos: int) -> int:
        """Read one step of a number; what cannot belong to a whole number ends it."""
        mode, byte = self._mode, data[pos]
        if mode in (_INTEGER, _FRACTION, _POWER) and byte in b"0123456789":
            return _end(_digits, data, pos, self._limit)
        if mode == _MINUS and byte in b"0123456789":
            self._mode = _ZERO if byte == b"0"[0] else _INTEGER
        elif mode in (_ZERO, _INTEGER) and byte == b"."[0]:
            self._mode = _POINT
        elif mode == _POINT and byte in b"0123456789":
            self._mode = _FRACTION
        elif mode in (_ZERO, _INTEGER, _FRACTION) and byte in b"eE":
            self._mode = _EXPONENT
        elif mode == _EXPONENT and byte in b"+-":
            self._mode = _SIGN
        elif mode in (_EXPONENT, _SIGN) and byte in b"0123456789":
            self._mode = _POWER
        else:
            if mode in _WHOLE_NUMBER:
                self._end_value()
            else:
                self.state = "failed"
            return pos
        return pos + 1


_READERS: tuple[Callable[[JsonScanner, bytes, int], int], ...] = (
    *[JsonScanner._between] * 6,
    *[JsonScanner._text] * 2,
    JsonScanner._escape,
    JsonScanner._hex,
    JsonScanner._literal,
    *[JsonScanner._number] * 8,
)
"""Who reads on in which mode."""
