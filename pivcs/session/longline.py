"""What one line is, for a line that is too long to be held whole.

The verdict is that of `classify_line`. Held are one piece, one byte for each open container, the fields of objects
that are open, and the records that are found.
"""

from __future__ import annotations

import codecs

from pivcs.session.classify import verdict_of_torn, verdict_of_value
from pivcs.session.fields import LineKind, Verdict
from pivcs.session.jsonscan import JsonScanner
from pivcs.session.jsontext import blank_end
from pivcs.session.salvage import Salvager

_SPACE = b" \t\n\r"
_LONGEST_BLANK = 3
"""Bytes of the longest character of white space."""


class LongLine:
    """Takes a line without its LF in pieces."""

    def __init__(self, *, version1: bool) -> None:
        self._version1 = version1
        self._length = 0
        self._salvager = Salvager(version1=version1)
        self._blank: bytes | None = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._utf8 = True
        # The scanner of a value that is no object; the salvager knows whether the line is one object.
        self._value: JsonScanner | None = JsonScanner()

    def feed(self, piece: bytes | memoryview) -> None:
        """Take the next bytes of the line."""
        data = piece if isinstance(piece, bytes) else bytes(piece)
        self._length += len(data)
        self._check_utf8(data)
        self._check_blank(data)
        self._scan_value(data)
        self._salvager.feed(data)

    def finish(self) -> Verdict:
        """End the line and return what it is."""
        self._check_utf8(b"", final=True)
        if self._blank == b"":
            return Verdict(LineKind.BLANK)
        records = self._salvager.finish()
        if self._value is not None:
            self._value.finish()
        single = self._salvager.single
        if single is not None or (self._value is not None and self._value.state == "done"):
            return verdict_of_value(single, self._length, version1=self._version1, utf8=self._utf8)
        return verdict_of_torn(records, utf8=self._utf8)

    def _check_utf8(self, data: bytes, *, final: bool = False) -> None:
        # Most pieces are ASCII, which is seen ten times faster than it is decoded.
        if not self._utf8 or (not final and data.isascii() and not self._decoder.getstate()[0]):
            return
        try:
            self._decoder.decode(data, final)
        except UnicodeDecodeError:
            self._utf8 = False

    def _check_blank(self, data: bytes) -> None:
        """Keep the bytes of a character that is not whole yet; None once something else than white space came."""
        if self._blank is not None:
            data = self._blank + data
            rest = data[blank_end(data) :]
            self._blank = rest if len(rest) < _LONGEST_BLANK else None

    def _scan_value(self, data: bytes) -> None:
        scanner = self._value
        if scanner is None:
            return
        if scanner.position == 0:
            data = data.lstrip(_SPACE)
            if data.startswith(b"{"):
                self._value = None
                return
        data = data[scanner.feed(data) :]
        if scanner.state == "failed" or (scanner.state == "done" and data.strip(_SPACE)):
            self._value = None
