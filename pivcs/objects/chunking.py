"""Where a stream is cut into chunks (`docs/format.md`, "Chunks").

Cuts follow the content, so that copies and rewrites of a file share most of their chunks, and they never move when
bytes are appended. From the start of a chunk the first of these ends it:

- the start of a *run*: at least 32 KiB of base64 characters in a row (an image repeated fifty times is stored once);
- the end of the run that the chunk began with;
- a line end from 128 KiB on, if the CRC-32 of the 64 bytes before its LF is divisible by 32;
- a line end from 512 KiB on;
- 1 MiB.
"""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

LEAST: Final = 128 << 10
ANY_LINE: Final = 512 << 10
MOST: Final = 1 << 20
RUN: Final = 32 << 10
LOOK_AHEAD: Final = MOST + RUN
"""A cut is certain once this many bytes from the chunk's start are known."""

_LINE_TAIL: Final = 64
_BASE64: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_"
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/=_-]")
_WINDOW: Final = RUN // 2


def chunk_end(data: bytes | bytearray, start: int, end: int) -> int | None:
    """Return where the chunk that begins at `start` ends, knowing `data[start:end]`; None while more bytes could tell
    otherwise.

    `start` is the start of the stream or an earlier result; bytes before it are not looked at.
    """
    most = start + MOST
    cut = _line_cut(data, start, min(most, end))
    # Only what comes before the first possible line end matters, and no run holds an LF: it is over by then.
    run = _first_run(data, start, min(end, start + LOOK_AHEAD) if cut is None else cut)
    if run is not None and run[0] == start:
        stop = min(run[1], most)
        return stop if stop < end or stop == most else None
    if run is not None:
        return min(most, run[0])
    if cut is not None:
        return cut
    return most if end - start >= LOOK_AHEAD else None


def _line_cut(data: bytes | bytearray, start: int, limit: int) -> int | None:
    """Return the first line end in `data[start:limit]` at which a chunk may end."""
    at = start + LEAST - 1
    while (at := data.find(b"\n", at, limit)) >= 0:
        stop = at + 1
        if stop - start >= ANY_LINE or crc32(data[at - _LINE_TAIL : at]) & 31 == 0:
            return stop
        at = stop
    return None


def _first_run(data: bytes | bytearray, start: int, end: int) -> tuple[int, int] | None:
    """Return the bounds of the first run in `data[start:end]`, or None.

    A run covers at least one aligned window of half its least length, so most windows are ruled out by one search for
    a quotation mark.
    """
    for at in range(start, end - _WINDOW + 1, _WINDOW):
        stop = at + _WINDOW
        if data.find(b'"', at, stop) < 0 and not data[at:stop].translate(None, _BASE64):
            before = max(start, at - _WINDOW)
            first = before + len(data[before:at].rstrip(_BASE64))
            outside = _NOT_BASE64.search(data, stop, end)
            last = outside.start() if outside else end
            if last - first >= RUN:
                return first, last
    return None


def cut_chunks(data: bytes | bytearray) -> list[int]:
    """Return the ends of all chunks that are certain in a stream; what follows the last is its uncut tail."""
    ends: list[int] = []
    start = 0
    while (stop := chunk_end(data, start, len(data))) is not None:
        ends.append(stop)
        start = stop
    return ends
