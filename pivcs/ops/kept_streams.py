"""Which streams of a session hold all of its bytes: every kept one that is not the beginning of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from blake3 import blake3

from pivcs.ops.access import view_of
from pivcs.ops.view import SessionView
from pivcs.session.source import ByteSource


def prefix_digests(source: ByteSource, sizes: Iterable[int]) -> dict[int, bytes]:
    """Return the BLAKE3 digests of the first bytes of a source, for each number of bytes; it is read once."""
    found: dict[int, bytes] = {}
    state = blake3(max_threads=blake3.AUTO)
    at = 0
    for size in sorted(set(sizes)):
        for piece in source.iter_range(at, size - at):
            state.update(piece)
        at = size
        found[size] = state.digest()
    return found


def kept_views(view: SessionView) -> Iterator[SessionView]:
    """Yield the streams that the store keeps of a session, older generations and other sources too, longest first.

    What is the beginning of another, or the same, is left out. A session that is in no store is its only stream.
    """
    if view.store is None or view.stream is None or view.stream.session is None:
        yield view
        return
    streams = sorted(view.store.streams_of_session(view.stream.session), key=lambda each: -each.size)
    if len(streams) == 1:
        yield view_of(view.store, streams[0])
        return
    seen: set[tuple[int, bytes]] = set()
    for place, stream in enumerate(streams):
        other = view_of(view.store, stream)
        digests = prefix_digests(other.source, [each.size for each in streams[place:]])
        if (stream.size, digests[stream.size]) not in seen:
            yield other
        seen.update(digests.items())
