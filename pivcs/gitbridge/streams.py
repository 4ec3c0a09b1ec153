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


class Begun(NamedTuple):
    """A stream that was written before: the number and BLAKE3 digest of its bytes, the ids of its parts, and where the
    last of them begins."""

    size: int
    digest: bytes
    parts: tuple[bytes, ...]
    last_at: int


class StreamCommit(NamedTuple):
    """A stream in git: the session's key, the BLAKE3 digest and number of its bytes, ids of commit and tree, how many
    bytes of parts were not there before, and what a longer stream can go on from."""

    key: bytes
    digest: bytes
    size: int
    commit: bytes
    tree: bytes
    new_bytes: int
    begun: Begun

    @property
    def ref(self) -> str:
        """The ref that names it."""
        return stream_ref(self.key, self.digest)


def write_stream(
    view: SessionView, writer: PackWriter, size: int | None = None, digest: bytes | None = None,
    begun: Begun | None = None, *, tree_alone: bool = False,
) -> StreamCommit | None:  # fmt: skip
    """Add the bytes of a session to a pack, unless they are there; None when it has no complete line, and so no key.

    `size` bytes are read, all of them without it. Whoever knows their BLAKE3 digest gives it, and `begun`, whose parts
    are in the repository, when the bytes begin with those: then only what follows is read. The commit is not written
    when the tree alone is wanted. Raises `TooLarge`, `NotWritten`, and what reading raises.
    """
    key = view.key
    if key is None:
        return None
    end = view.table.end + view.table.pending if size is None else size
    parts = list(begun.parts[:-1]) if begun is not None and digest is not None else []
    start = begun.last_at if begun is not None and parts else 0
    last_at = at = start
    new = 0
    state = blake3() if digest is None else None
    pieces = _hashed(view.source, end, state) if state is not None else view.source.iter_range(start, end - start)
    for ident, length, is_new in _written(pieces, writer, threaded=end - start >= _LARGE):
        parts.append(ident)
        new += length if is_new else 0
        last_at, at = at, at + length
    digest = digest if state is None else state.digest()
    assert digest is not None
    tree = _write_trees(writer, parts, key.digest, digest, end)
    who = Identity(WRITER, ADDRESS, seconds(last_time(view)))
    folder = session_folder(view.header.timestamp, key.digest, {})
    message = f"stream of session {folder}\n\nPivcs-Session: {key.hex}\nPivcs-Stream: {digest.hex()}\n"
    raw = commit_bytes(tree, [], who, who, message.encode())
    commit = object_id(COMMIT, raw) if tree_alone else writer.add(COMMIT, raw)
    return StreamCommit(
        key.digest, digest, end, commit, tree, new, Begun(end, digest, tuple(parts), last_at)
    )


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


def _written(pieces: Iterable[bytes], writer: PackWriter, *, threaded: bool) -> Iterator[tuple[bytes, int, bool]]:
    """Add the parts of a stream; yields the id of each, its length, and whether it is new."""
    if not threaded:
        for part in cut(pieces):
            before = len(writer)
            yield writer.add(BLOB, part), len(part), len(writer) > before
        return
    waiting: deque[tuple[bytes, int, Future[bytes] | None]] = deque()
    pending: set[bytes] = set()

    def take() -> tuple[bytes, int, bool]:
        ident, size, packed = waiting.popleft()
        if packed is None:
            return ident, size, False
        writer.add_deflated(BLOB, ident, size, packed.result())
        pending.discard(ident)
        return ident, size, True

    with ThreadPoolExecutor(1) as pool:
        for part in cut(pieces):
            ident = object_id(BLOB, part)
            if ident in pending or writer.has(ident):
                waiting.append((ident, len(part), None))
            else:
                pending.add(ident)
                waiting.append((ident, len(part), pool.submit(writer.deflate, part)))
            if len(waiting) > _AHEAD:
                yield take()
        while waiting:
            yield take()
