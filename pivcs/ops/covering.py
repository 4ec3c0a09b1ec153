"""Putting placeholders for forgotten records into streams that the store has: same length, same rows, same ids."""

from __future__ import annotations

from pivcs.errors import StateError
from pivcs.objects.index import Indexer
from pivcs.objects.table import Table
from pivcs.ops import prefix
from pivcs.ops.masking import MaskedSource, Masks
from pivcs.ops.summary import summarise
from pivcs.ops.view import SessionView
from pivcs.session.lines import LineReader
from pivcs.session.source import PIECE
from pivcs.store.records import Stream
from pivcs.store.store import Store

_UNCHANGED = ("kind", "offset", "length", "parent", "entry_id")


class CannotForget(StateError):
    """A record in whose place nothing else can stand."""

    def __init__(self, name: str, where: str, reason: str) -> None:
        super().__init__(
            f"'{name}' in '{where}' cannot be forgotten alone: {reason}",
            hint="`pivcs forget` the whole session, or take the entry out of the file and forget the old generation",
        )


def covered_view(store: Store, stream: Stream, masks: Masks, where: str) -> SessionView:
    """Return a stream as it will be, read from its bytes. Raises `StoreDamaged`."""
    reader = LineReader(MaskedSource(store.bytes_of(stream), masks))
    indexer = Indexer(MaskedSource(store.bytes_of(stream), masks))
    for batch in reader.batches():
        indexer.add(batch)
    indexer.table.pending = reader.pending
    return SessionView(indexer.table, MaskedSource(store.bytes_of(stream), masks), where, reader.version1)


def same_rows(before: Table, after: Table) -> bool:
    """Whether rows mean the same nodes at the same places: what names, positions and forks refer to."""
    return before.oid == after.oid and all(getattr(before, name) == getattr(after, name) for name in _UNCHANGED)


class Cover:
    """A stream with placeholders, ready to be put in place of what the store has.

    Nothing in it is to be forgotten, so its chunks may be stored at once. Raises `StoreDamaged`, `StoreBusy`.
    """

    def __init__(self, store: Store, stream: Stream, masks: Masks, where: str = "") -> None:
        self._store = store
        self.stream = stream
        self.view = covered_view(store, stream, masks, where)
        self._content = store.writer(None)
        for start in range(0, stream.size, PIECE):
            self._content.add(self.view.source.read_range(start, min(PIECE, stream.size - start)))
        self._probes = prefix.make_probes(self.view.source, stream.size)
        self._labels = list(self.view.label_settings())
        self._summary = summarise(self.view).encode()

    def put(self) -> Stream:
        """Replace the stream's bytes and rows in the caller's transaction. Raises `StreamMoved`, `ChunkVanished`."""
        return self._store.replace_stream(
            self.stream, self._content, self.view.table, self._labels, self._probes, self._summary
        )


def cover_stream(store: Store, stream: Stream, masks: Masks) -> None:
    """Put placeholders into a stream. Raises as `Cover` and `Cover.put`."""
    cover = Cover(store, stream, masks)
    with store.writing():
        cover.put()
