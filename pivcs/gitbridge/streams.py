"""A session's bytes as a git commit that holds nothing else (`docs/git-bridge.md`, "Streams").

Commit and tree are functions of the bytes alone, so every machine writes the same ones. Bytes are cut where lines end,
by rules that look at no later byte: a session that has grown shares all parts but the last with what it was.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple

from blake3 import blake3

from pivcs.errors import DataError
from pivcs.gitbridge.objects import (
    BLOB,
    COMMIT,
    FILE_MODE,
    TREE,
    TREE_MODE,
    Identity,
    commit_bytes,
    object_id,
    seconds,
    tree_bytes,
)
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import session_folder, stream_ref
from pivcs.objects.table import NO_TIME, NODE
from pivcs.ops.view import SessionView
from pivcs.session.source import ByteSource
from pivcs.session.times import parse_time

PART: Final = 1 << 18
"""A part ends with the first line that ends at or behind this many of its bytes."""
LONGEST_PART: Final = 1 << 20
"""A part has at most this many bytes; so a longer line is cut."""
NAMES: Final = 100
"""Names in a directory, at most."""
MOST_PARTS: Final = (NAMES - 2) * NAMES * NAMES

FORMAT: Final = "pivcs stream 1"
DESCRIPTION: Final = b"stream.json"
ATTRIBUTES: Final = b".gitattributes"
NO_CONVERSION: Final = b"* -text\n"
"""No line end is ever converted in a work tree."""
WRITER: Final = b"pivcs"
ADDRESS: Final = b"pivcs@pivcs.invalid"

_LARGE: Final = 4 << 20
"""Bytes from which on it pays to compress in another thread."""
_AHEAD: Final = 8


class TooLarge(DataError):
    """A session of more than 245 GB."""


class StreamCommit(NamedTuple):
    """A stream in git: the session's key, the BLAKE3 digest and number of its bytes, ids of commit and tree, and how
    many bytes of parts were not there before."""

    key: bytes
    digest: bytes
    size: int
    commit: bytes
    tree: bytes
    new_bytes: int

    @property
    def ref(self) -> str:
        """The ref that names it."""
        return stream_ref(self.key, self.digest)


def write_stream(view: SessionView, writer: PackWriter, size: int | None = None) -> StreamCommit | None:
    """Add the bytes of a session to a pack, unless they are there; None when it has no complete line, and so no key.

    `size` bytes are read, all of them without it. Raises `TooLarge`, `NotWritten`, and what reading raises.
    """
    key = view.key
    if key is None:
        return None
    end = view.table.end + view.table.pending if size is None else size
    state = blake3()
    parts: list[bytes] = []
    new = 0
    for ident, length in _written(_hashed(view.source, end, state), writer, threaded=end >= _LARGE):
        parts.append(ident)
        new += length
    digest = state.digest()
    tree = _write_trees(writer, parts, key.digest, digest, end)
    who = Identity(WRITER, ADDRESS, seconds(last_time(view)))
    folder = session_folder(view.header.timestamp, key.digest, {})
    message = f"stream of session {folder}\n\nPivcs-Session: {key.hex}\nPivcs-Stream: {digest.hex()}\n"
    commit = writer.add(COMMIT, commit_bytes(tree, [], who, who, message.encode()))
    return StreamCommit(key.digest, digest, end, commit, tree, new)


def last_time(view: SessionView) -> int | None:
    """Return the time of the last entry that has a readable one, else that of the header, in milliseconds."""
    table = view.table
    for row in range(len(table) - 1, -1, -1):
        if table.flags[row] & NODE and table.time[row] != NO_TIME:
            return table.time[row]
    return parse_time(view.header.timestamp)


def cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of bytes that come in pieces of any size."""
    buffer = bytearray()
    start = searched = 0  # the part begins at `start`; there is no line end between its 256 KiB and `searched`
    for piece in pieces:
        if start:
            del buffer[:start]
            searched -= start
            start = 0
        buffer += piece
        while True:
            found = buffer.find(b"\n", max(start + PART - 1, searched), start + LONGEST_PART)
            if found >= 0:
                end = found + 1
            elif len(buffer) - start >= LONGEST_PART:
                end = start + LONGEST_PART
            else:
                searched = max(len(buffer), start)
                break
            yield bytes(buffer[start:end])
            start = searched = end
    if len(buffer) > start:
        yield bytes(buffer[start:])


def part_path(number: int) -> tuple[bytes, bytes, bytes]:
    """Return where a part is, by its number from 0 on."""
    high, low = divmod(number, NAMES)
    return b"%02d" % (high // NAMES), b"%02d" % (high % NAMES), b"%02d.jsonl" % low


def stream_trees(parts: list[bytes], description: bytes, attributes: bytes) -> Iterator[bytes]:
    """Yield the bytes of the trees of a stream, the root last: `parts` and the others are ids of blobs."""
    level = parts
    names = [b"%02d.jsonl" % number for number in range(NAMES)]
    mode = FILE_MODE
    for _ in range(2):
        trees = []
        for first in range(0, len(level), NAMES):
            group = level[first : first + NAMES]
            raw = tree_bytes([(mode, names[place], ident) for place, ident in enumerate(group)])
            yield raw
            trees.append(object_id(TREE, raw))
        level = trees
        names = [b"%02d" % number for number in range(NAMES)]
        mode = TREE_MODE
    entries = [(TREE_MODE, names[place], ident) for place, ident in enumerate(level)]
    yield tree_bytes([*entries, (FILE_MODE, DESCRIPTION, description), (FILE_MODE, ATTRIBUTES, attributes)])


def describe(key: bytes, digest: bytes, size: int, parts: int) -> bytes:
    """Return what `stream.json` says."""
    value = {"format": FORMAT, "session": key.hex(), "blake3": digest.hex(), "size": size, "parts": parts}
    return json.dumps(value, indent=1).encode() + b"\n"


def _write_trees(writer: PackWriter, parts: list[bytes], key: bytes, digest: bytes, size: int) -> bytes:
    if len(parts) > MOST_PARTS:
        raise TooLarge(f"a session of {size:,} bytes cannot be written to git")
    description = writer.add(BLOB, describe(key, digest, size, len(parts)))
    tree = b""
    for raw in stream_trees(parts, description, writer.add(BLOB, NO_CONVERSION)):
        tree = writer.add(TREE, raw)
    return tree


def _hashed(source: ByteSource, size: int, state: blake3) -> Iterator[bytes]:
    for piece in source.iter_range(0, size):
        state.update(piece)
        yield piece


def _written(pieces: Iterable[bytes], writer: PackWriter, *, threaded: bool) -> Iterator[tuple[bytes, int]]:
    """Add the parts of a stream; yields the id of each, and its length where it is new."""
    if not threaded:
        for part in cut(pieces):
            before = len(writer)
            yield writer.add(BLOB, part), len(part) if len(writer) > before else 0
        return
    waiting: deque[tuple[bytes, int, Future[bytes] | None]] = deque()
    pending: set[bytes] = set()

    def take() -> tuple[bytes, int]:
        ident, size, packed = waiting.popleft()
        if packed is None:
            return ident, 0
        writer.add_deflated(BLOB, ident, size, packed.result())
        pending.discard(ident)
        return ident, size

    with ThreadPoolExecutor(1) as pool:
        for part in cut(pieces):
            ident = object_id(BLOB, part)
            if ident in pending or writer.has(ident):
                waiting.append((ident, 0, None))
            else:
                pending.add(ident)
                waiting.append((ident, len(part), pool.submit(writer.deflate, part)))
            if len(waiting) > _AHEAD:
                yield take()
        while waiting:
            yield take()
