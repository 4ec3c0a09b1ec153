"""Streams of a session brought together with those that a place has already: whatever is the beginning of another goes.

What a place is does not matter here: refs of an archive, or directories of a start page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pivcs.errors import PivcsError
from pivcs.gitbridge.objects import BLOB
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.stream_finding import raw_object
from pivcs.gitbridge.stream_reading import StoredStream, stream_bytes
from pivcs.gitbridge.streams import Begun, StreamCommit, write_stream
from pivcs.ops.kept_streams import kept_views, prefix_digests
from pivcs.ops.view import SessionView

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore


@dataclass(slots=True)
class StreamsPut:
    """What is kept of a session: its number of streams, their bytes, and how many of these were written now.

    `written` are the streams that a place gets, each with the view that has its bytes; `same` the names of those that
    it has already, with their views; `superseded` the names of those that are the beginning of one of these.
    """

    streams: int = 0
    bytes: int = 0
    new_bytes: int = 0
    written: list[tuple[SessionView, StreamCommit]] = field(default_factory=list)
    same: list[tuple[SessionView, str]] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)


def put_streams(
    view: SessionView,
    writer: PackWriter,
    objects: DiskObjectStore,
    stored: Mapping[str, StoredStream],
    begun: Iterable[Begun] = (),
    *,
    trees_alone: bool = False,
) -> StreamsPut:
    """Add all that is kept of a session to a pack, but for what a place has already, by any names, or the beginning of
    what it has. `begun` are streams that were written to the repository before, by this machine. Their commits are not
    written when the trees alone are wanted.

    Raises `NotWritten`, `TooLarge`, and what reading raises.
    """
    put = StreamsPut()
    superseded: dict[str, None] = {}
    for each in kept_views(view):
        size = each.table.end + each.table.pending
        known = {*(other.size for other in stored.values()), *(other.size for other in begun)}
        sizes = [other for other in known if other <= size]
        digests = prefix_digests(each.source, [*sizes, size] if sizes else [])
        put.streams += 1
        put.bytes += size
        for name, other in stored.items():
            if other.size < size and digests[other.size] == other.digest:
                superseded[name] = None
        same = [name for name, other in stored.items() if other.size == size and digests[size] == other.digest]
        if same:
            put.same += [(each, name) for name in same]
            continue
        if any(other.size > size and _begins_with(objects, other, each, size) for other in stored.values()):
            continue
        starts = [other for other in begun if other.digest == digests.get(other.size)]
        longest = max(starts, key=lambda other: other.size, default=None)
        if longest is not None and not all(map(writer.has, longest.parts)):
            longest = None
        written = write_stream(each, writer, size, digests.get(size), longest, tree_alone=trees_alone)
        if written is not None:
            put.new_bytes += written.new_bytes
            put.written.append((each, written))
    put.superseded = list(superseded)
    return put


def _begins_with(objects: DiskObjectStore, stream: StoredStream, view: SessionView, size: int) -> bool:
    """Whether a stream in the repository is whole and begins with the `size` bytes of a session."""
    at = 0
    try:
        for part in stream_bytes(objects, stream):
            count = min(len(part), size - at)
            if count and view.source.read_range(at, count) != part[:count]:
                return False
            at += count
    except PivcsError:  # told where it is used
        return False
    return at == size


def holds(objects: DiskObjectStore, longer: StoredStream, shorter: StoredStream) -> bool:
    """Whether a stream in the repository is whole and begins with all of another.

    Where parts end depends on no later byte, so all parts of the shorter one but its last are parts of the longer one.
    """
    last = len(shorter.parts) - 1
    if longer.size <= shorter.size or longer.parts[: max(0, last)] != shorter.parts[: max(0, last)]:
        return False
    try:
        if last >= 0 and longer.parts[last] != shorter.parts[last]:
            part = raw_object(objects, BLOB, shorter.parts[last], shorter.where)
            if not raw_object(objects, BLOB, longer.parts[last], longer.where).startswith(part):
                return False
        return is_whole(objects, longer)
    except PivcsError:
        return False


def is_whole(objects: DiskObjectStore, stream: StoredStream) -> bool:
    """Whether the bytes of a stream are what it says of them; all of them are read."""
    try:
        for _ in stream_bytes(objects, stream):
            pass
    except PivcsError:
        return False
    return True
