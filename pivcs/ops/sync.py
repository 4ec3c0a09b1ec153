"""Bringing the store up to date with session files.

A file that only grew is read from where the store ends. One that was rewritten or cut starts the next generation of its
source; what was known before stays. Nothing is ever written to a session file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.errors import PivcsError, StateError
from pivcs.objects.index import index_source
from pivcs.objects.oid import ObjectId
from pivcs.ops import prefix
from pivcs.ops.branch_sync import carry_over, follow_growth, follow_new, write_branches
from pivcs.ops.branching import Position
from pivcs.ops.covering import cover_stream
from pivcs.ops.fresh import RealPaths, is_same, real_path
from pivcs.ops.grown_rows import GrownRows
from pivcs.ops.ingest import IN_MEMORY, Ingested, Progress, SourceChanging, index_new, ingest, read_rows_again
from pivcs.ops.masking import Guard, Mask, MaskedFile, Masks, known_masks, mask_of
from pivcs.ops.summary import Summary, advance, decode_summary, summarise, tips_after
from pivcs.ops.view import SessionView
from pivcs.session.source import BytesSource, SourceNotReadable
from pivcs.store.content import ChunkVanished
from pivcs.store.errors import StreamMoved
from pivcs.store.records import Event, FileStat, Source, Stream
from pivcs.store.refs import Branch
from pivcs.store.store import NewState, Store

TRIES: Final = 4
RACES: Final = 50
BEGINNING: Final = 64 << 10
"""Bytes in which the header of a moved file is looked for."""


class Synced(NamedTuple):
    """What became of one file: `unchanged`, `new`, `appended`, `rewritten`, `truncated`, `gone`, or `forgotten` when
    nothing of its session must be kept: it has no stream then.

    `rows` and `bytes` are what was added. `moved_from` is the old path of a source that goes on at a new one.
    """

    path: str
    outcome: str
    stream: Stream | None
    rows: int = 0
    bytes: int = 0
    moved_from: str | None = None


class Failed(NamedTuple):
    """A file that could not be synced, and why."""

    path: str
    error: PivcsError


class CannotCover(StateError):
    """A file has a forgotten record in a form in which nothing else can stand in its place."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"'{path}' is not taken in: a forgotten entry is in it, in a form that cannot be left out",
            hint="remove the entry from the file, or `pivcs forget` the session",
        )


def sync_files(
    store: Store, paths: Iterable[Path], now: int, *, full: bool = False, progress: Progress | None = None
) -> Iterator[Synced | Failed]:
    """Sync files one after the other; one that fails does not keep the others. `now` is in milliseconds since 1970.

    What stat() says is compared for all of them with one question to the store, so files without news cost little.
    """
    known = {source.path: source for source in store.sources()}
    current = {stream.source: stream for stream in store.current_streams()}
    real_paths = RealPaths()
    for path in paths:
        real = real_paths.of(path)
        source = known.get(real)
        stream = current.get(source.id) if source is not None else None
        try:
            if source is not None and stream is not None and not full and is_same(source, stream):
                yield Synced(str(path), "unchanged", stream)
            else:
                yield sync_file(store, path, now, full=full, progress=progress)
        except PivcsError as error:
            yield Failed(str(path), error)


def sync_file(
    store: Store, path: Path, now: int, *, full: bool = False, progress: Progress | None = None
) -> Synced:
    """Bring the store up to date with one file; with `full` the whole known prefix is compared.

    Raises `SourceNotReadable`, `SourceChanging`, and what the store raises when it cannot be written.
    """
    real = real_path(path)
    tries = races = 0
    while True:
        source = store.source_at(real)
        stream = store.current_stream(source.id) if source is not None else None
        if source is not None and stream is not None and not full and is_same(source, stream):
            return Synced(str(path), "unchanged", stream)
        try:
            return FileSync(store, path, real, source, stream, now, full, progress).run()
        except StreamMoved:  # each time another process has got on with it
            races += 1
            if races == RACES:
                raise
        except (ChunkVanished, SourceChanging):
            tries += 1
            if tries == TRIES:
                raise


def note_absent(store: Store, now: int) -> list[Source]:
    """Record sources whose file has gone since the last sync; returns those that have gone now."""
    real_paths = RealPaths()
    lost = [source for source in store.sources() if not source.gone and _is_gone(source.path, real_paths)]
    if not lost:
        return []
    with store.writing():
        return [source for source in lost if _mark_gone(store, source, now)]


def _mark_gone(store: Store, source: Source, now: int) -> bool:
    """Record that a source's file has gone, unless somebody else has; says whether it was recorded."""
    if store.source(source.id) != source:
        return False
    stream = store.current_stream(source.id)
    store.set_gone(source.id, True)
    store.add_event(Event(now, source.id, stream.generation if stream else None, "gone", ""))
    return True


def _is_gone(path: bytes, real_paths: RealPaths) -> bool:
    """Whether nothing is at a real path. What cannot be looked at may be there."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)
    return real_paths.of(path) != path


@dataclass(slots=True)
class FileSync:
    """One attempt at bringing the store up to date with one file."""

    store: Store
    path: Path
    real: bytes
    source: Source | None
    stream: Stream | None
    now: int
    full: bool
    progress: Progress | None
    guard: Guard = field(default_factory=Guard)

    def run(self) -> Synced:
        """Take what is new in the file, or note that it has gone. Raises as `present`."""
        try:
            file = MaskedFile(Path(os.fsdecode(self.real)))
        except SourceNotReadable:
            if self.source is None or not _is_gone(self.real, RealPaths()):
                raise
            return self._gone(self.source)
        with file:
            return self.present(file)

    def _gone(self, source: Source) -> Synced:
        if not source.gone:
            with self.store.writing():
                _mark_gone(self.store, source, self.now)
        return Synced(str(self.path), "gone", self.stream)

    def present(self, file: MaskedFile) -> Synced:
        """Take what is new in an open file. Raises as `sync_file`, and `StreamMoved` when another one was faster."""
        status = FileStat.of(file.status)
        moved_from = None
        self.guard = Guard.of(self.store)
        if self.guard.sessions and self._is_forgotten(_key_of_beginning(file)):
            return Synced(str(self.path), "forgotten", None)
        if self.source is None:
            predecessor = self._predecessor(file, status)
            if predecessor is not None:
                moved_from = os.fsdecode(predecessor.path)
                self.source, self.stream = predecessor, self.store.current_stream(predecessor.id)
        if self.stream is None:
            return self._add(file, status, "new")
        file.masks.add(self._known_masks(self.stream, file, status))
        outcome = self._how_changed(file, status, self.stream)
        if outcome != "appended":
            return self._add(file, status, outcome)
        return self._append(file, status, self.stream, moved_from)

    def _how_changed(self, file: MaskedFile, status: FileStat, stream: Stream) -> str:
        """Say whether a file continues its stream: `appended` (perhaps by nothing), `truncated` or `rewritten`."""
        if status.size >= stream.size and not self.full and not prefix.needs_whole(stream, status):
            return "appended" if prefix.probes_match(file, stream.probes) else "rewritten"
        if prefix.first_difference(self.store, stream, file, status.size) is not None:
            return "rewritten"
        return "appended" if status.size >= stream.size else "truncated"

    def _predecessor(self, file: MaskedFile, status: FileStat) -> Source | None:
        """Return the source that goes on at this new path: its file is gone, and its bytes are a prefix of these."""
        key = _key_of_beginning(file)
        for stream in self.store.streams_of_session(key.digest) if key is not None else ():
            source = self.store.source(stream.source)
            if source is None or not self._may_move(source) or self.store.current_stream(source.id) != stream:
                continue
            if stream.size > status.size:
                continue
            file.masks.add(self._known_masks(stream, file, status))
            if prefix.first_difference(self.store, stream, file, status.size) is None:
                return source
        return None

    def _known_covered(self, file: MaskedFile, status: FileStat, key: ObjectId) -> Stream | None:
        """Return a stream that makes it needless to keep a file as one of its own, now that it is covered."""
        return None

    def _is_forgotten(self, key: ObjectId | None) -> bool:
        return key is not None and key.digest in self.guard.sessions

    def _known_masks(self, stream: Stream, file: MaskedFile, status: FileStat) -> list[Mask]:
        """Return what covers the records of a file that are forgotten in its stream."""
        if not self.guard or not decode_summary(stream.summary).forgotten:
            return []
        return known_masks(self.guard, self.store.table_of(stream), self.store.bytes_of(stream), file, status.size)

    def _may_move(self, source: Source) -> bool:
        """Whether a source's bytes may go on at another path: no file has them at its own."""
        return not RealPaths().has_file(source.path)

    def _add(self, file: MaskedFile, status: FileStat, outcome: str) -> Synced:
        """Store a file from its beginning, as the first or the next generation of its source."""
        file.masks = Masks()  # what stood above a record may be other bytes now, which gives it another object id
        read = self._read(file, status, None)
        view = SessionView(read.rows, file, str(self.path), read.version1)
        if self.guard.sessions and self._is_forgotten(view.key):
            return Synced(str(self.path), "forgotten", None)
        if file.masks and view.key is not None:
            known = self._known_covered(file, status, view.key)
            if known is not None:
                return Synced(str(self.path), "unchanged", known)
        probes = prefix.make_probes(file, status.size)
        moves, position = follow_new(read.rows)
        carried: list[Branch] = []
        if self.stream is not None:
            carried = carry_over(self.store, self.stream, _old_view(self.store, self.stream), view, moves)
        state = _state(status, read, view.key, summarise(view), status.size, probes, position)
        labels = list(view.label_settings())
        with self.store.writing():
            source = self.store.source_at(self.real) or self.store.add_source(self.real)
            if self.store.current_stream(source.id) != self.stream or not self.guard.is_current(self.store):
                raise StreamMoved(self.store.database.where)
            stream = self.store.add_stream(source.id, read.content, read.rows, state)
            write_branches(self.store, stream, moves, read.rows.digest, self.now, f"sync ({outcome})")
            self.store.refs.put_branches(stream.id, carried)
            self.store.refs.add_label_settings(stream.id, labels)
            self.store.refs.change_tips(stream.id, [], view.tips())
            self._note_return(stream)
            if self.stream is not None:
                detail = f"{self.stream.size} -> {status.size} bytes"
                self.store.add_event(Event(self.now, source.id, stream.generation, outcome, detail))
        return Synced(str(self.path), outcome, stream, len(read.rows), status.size)

    def _append(self, file: MaskedFile, status: FileStat, stream: Stream, moved_from: str | None) -> Synced:
        verified = status.size if prefix.needs_whole(stream, status) or self.full else stream.verified_size
        if status.size == stream.size:
            with self.store.writing():
                if self.store.current_stream(stream.source) != stream:
                    raise StreamMoved(self.store.database.where)
                self.store.note_file(stream.id, status, verified)
                self._note_move(moved_from, stream)
                self._note_return(stream)
            now = self.store.stream(stream.id)
            return Synced(str(self.path), "unchanged", now, moved_from=moved_from)
        read = self._read(file, status, stream)
        fresh = verified != stream.verified_size
        probes = (
            prefix.make_probes(file, status.size)
            if fresh or not stream.probes
            else prefix.move_last_probe(stream.probes, file, status.size)
        )
        new = SessionView(read.rows, file, str(self.path), read.version1)
        tips = tips_after(read.rows, stream.row_count, lambda row: self.store.refs.is_tip(stream, row))
        summary = advance(decode_summary(stream.summary), new, tips)
        key = ObjectId(stream.session) if stream.session is not None else new.key
        if self.guard.sessions and self._is_forgotten(key):
            return Synced(str(self.path), "forgotten", None)
        rows = GrownRows(self.store, stream, read.rows)
        if summary is None:
            view = SessionView(rows.whole(), file, str(self.path), read.version1)
            summary, key = summarise(view), view.key
        moves, position = follow_growth(self.store, stream, read.rows, rows.conversation_ancestor)
        state = _state(status, read, key, summary, verified, probes, position)
        labels = [(stream.row_count + row, target, text) for row, target, text in new.label_settings()]
        with self.store.writing():
            if not self.guard.is_current(self.store):
                raise StreamMoved(self.store.database.where)
            grown = self.store.extend_stream(stream, read.content, read.rows, state)
            self.store.refs.change_tips(grown.id, tips.gone, tips.new)
            write_branches(self.store, grown, moves, rows.digest, self.now, "sync")
            self.store.refs.add_label_settings(grown.id, labels)
            self._note_move(moved_from, grown)
            self._note_return(grown)
        added = status.size - stream.size
        return Synced(str(self.path), "appended", grown, len(read.rows), added, moved_from)

    def _read(self, file: MaskedFile, status: FileStat, stream: Stream | None) -> Ingested:
        read = self._ingest(file, status, stream)
        now = FileStat.of(file.status_now())
        if now == status:
            return read
        # Growing meanwhile is what session files do; anything else means to start again.
        if now.size < status.size:
            raise SourceChanging(str(self.path))
        if read.apart:
            read = read_rows_again(read, file)
        known = stream is None or prefix.first_difference(self.store, stream, file, status.size) is None
        if not known or not read.content.matches(file, status.size):
            raise SourceChanging(str(self.path))
        return read

    def _ingest(self, file: MaskedFile, status: FileStat, stream: Stream | None) -> Ingested:
        """Read what is new, with forgotten records covered before anything of it is kept."""
        size = status.size
        start = stream.size if stream is not None else 0
        if self.guard and size - start > IN_MEMORY and self.guard.may_be_in(file, start, size):
            self._cover(file, index_new(self.store, stream, file, size), stream)
        read = ingest(self.store, stream, file, size, self.progress)
        if self.guard and self._cover(file, read, stream, stored=size - start > IN_MEMORY):
            read = ingest(self.store, stream, file, size, self.progress)
        return read

    def _cover(self, file: MaskedFile, read: Ingested, stream: Stream | None, *, stored: bool = False) -> bool:
        """Cover the forgotten records among new rows; returns whether there was one. `stored`: chunks with their bytes
        may be in the store already."""
        found = self.guard.rows(read.rows, file)
        if not found:
            return False
        masks: list[Mask] = []
        for row, _ in found:
            mask = mask_of(read.rows, row, file, version1=bool(read.version1))
            if mask is None:
                raise CannotCover(str(self.path))
            masks.append(mask)
        file.masks.add(masks)
        self.guard.add(record for _, record in found)
        # The last line was pending, and the store has the beginning of the record.
        begun = stream if stream is not None and any(mask.offset < stream.size for mask in masks) else None
        with self.store.writing():
            self.store.forgotten.add(record for _, record in found)
            if stored or begun is not None:
                self.store.forgotten.begin_erasure(self.now)
        if begun is not None:
            cover_stream(self.store, begun, Masks(masks))
            raise StreamMoved(self.store.database.where)
        return True

    def _note_move(self, moved_from: str | None, stream: Stream) -> None:
        if moved_from is not None:
            if self.store.source(stream.source) != self.source:
                raise StreamMoved(self.store.database.where)
            self.store.move_source(stream.source, self.real)
            # The store holds text, and a path need not be any.
            old = os.fsencode(moved_from).decode("utf-8", "backslashreplace")
            self.store.add_event(Event(self.now, stream.source, stream.generation, "moved", f"from {old}"))

    def _note_return(self, stream: Stream) -> None:
        source = self.store.source(stream.source)
        if source is not None and source.gone and RealPaths().has_file(source.path):
            self.store.set_gone(source.id, False)
            self.store.add_event(Event(self.now, source.id, stream.generation, "returned", ""))


def _state(
    status: FileStat, read: Ingested, key: ObjectId | None, summary: Summary, verified: int, probes: bytes, at: Position
) -> NewState:
    return NewState(
        session=key.digest if key is not None else None,
        size=status.size,
        line_end=read.rows.end,
        version1=read.version1,
        last_record=read.last_record,
        conversation=at.conversation,
        verified_size=verified,
        probes=probes,
        file=status,
        summary=summary.encode(),
    )


def _old_view(store: Store, stream: Stream) -> SessionView:
    return SessionView(store.table_of(stream), store.bytes_of(stream), "", stream.version1)


def _key_of_beginning(file: MaskedFile) -> ObjectId | None:
    """Return the session key that the first 64 KiB of a file give; None when they have no complete line."""
    beginning = BytesSource(file.read_range(0, BEGINNING))
    table, _ = index_source(beginning)
    return SessionView(table, beginning, "").key
