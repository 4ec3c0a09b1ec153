"""Taking bytes into the store that came from a repository: a source that is no file.

Its path is `git:`, then the beginnings of the session's key and of the digest of its bytes. When more of the same bytes
come, from a repository or in a file, the source goes on with them; so what is the beginning of something longer is
never kept beside it.
"""

from __future__ import annotations

from pathlib import Path

from pivcs.objects.oid import ObjectId
from pivcs.ops.access import view_of
from pivcs.ops.ingest import SourceChanging
from pivcs.ops.kept_streams import prefix_digests
from pivcs.ops.masking import MaskedFile
from pivcs.ops.sync import RACES, TRIES, FileSync, Synced
from pivcs.store.content import ChunkVanished
from pivcs.store.errors import StreamMoved
from pivcs.store.records import ELSEWHERE, Event, FileStat, Source, Stream
from pivcs.store.store import Store

_DIGITS = 16


def remote_path(key: bytes, digest: bytes) -> bytes:
    """Return what stands for a path of the source with some bytes of a session."""
    return ELSEWHERE + f"{key.hex()[:_DIGITS]}/{digest.hex()[:_DIGITS]}".encode()


def known_stream(store: Store, key: bytes, size: int, digest: bytes) -> Stream | None:
    """Return a stream of a session that begins with some bytes, told by their number and BLAKE3 digest, or is them."""
    source = store.source_at(remote_path(key, digest))
    stream = store.current_stream(source.id) if source is not None else None
    if stream is not None and stream.size == size:
        return stream
    for stream in store.streams_of_session(key):
        if stream.size >= size and prefix_digests(view_of(store, stream).source, [size])[size] == digest:
            return stream
    return None


def take_in(store: Store, file: Path, key: bytes, digest: bytes, now: int, origin: str) -> Synced:
    """Store the bytes of a file, which need not stay, as those of a source that is no file.

    `known_stream` has said that they are new; `origin` says for people where they came from. Raises as `sync_file`.
    """
    path = remote_path(key, digest)
    tries = races = 0
    while True:
        source = store.source_at(path)
        stream = store.current_stream(source.id) if source is not None else None
        sync = _TakeIn(store, Path(path.decode()), path, source, stream, now, False, None)
        sync.origin = origin
        try:
            with MaskedFile(file) as opened:
                return sync.present(opened)
        except StreamMoved:
            races += 1
            if races == RACES:
                raise
        except (ChunkVanished, SourceChanging):
            tries += 1
            if tries == TRIES:
                raise


class _TakeIn(FileSync):
    origin = ""

    def _known_covered(self, file: MaskedFile, status: FileStat, key: ObjectId) -> Stream | None:
        """Without its forgotten records it may be what is there already."""
        digest = prefix_digests(file, [status.size])[status.size]
        return known_stream(self.store, key.digest, status.size, digest)

    def _may_move(self, source: Source) -> bool:
        """A file that has gone keeps its path: it is where its owner looks for it."""
        return not source.is_file

    def _note_move(self, moved_from: str | None, stream: Stream) -> None:
        if moved_from is not None:
            if self.store.source(stream.source) != self.source:
                raise StreamMoved(self.store.database.where)
            self.store.move_source(stream.source, self.real)

    def _note_return(self, stream: Stream) -> None:
        self.store.set_gone(stream.source, True)
        self.store.add_event(Event(self.now, stream.source, stream.generation, "imported", self.origin))
