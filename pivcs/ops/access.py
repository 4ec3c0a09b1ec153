"""Opening a session for reading: synced into the store first, and read from there.

A store that cannot be written is no reason to show nothing: what it knows is shown, or the file as it is, with a
warning.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pivcs.errors import InputError
from pivcs.ops.fresh import current_stream, is_same, real_path
from pivcs.ops.locate import NoSession, locate, looks_like_path
from pivcs.ops.project import project_directories
from pivcs.ops.summary import decode_summary
from pivcs.ops.through import files_through, keys_through
from pivcs.ops.view import SessionView, open_file
from pivcs.session.layout import Surroundings
from pivcs.session.source import SourceNotReadable
from pivcs.store.errors import StoreBusy, StoreFull, StoreReadOnly
from pivcs.store.records import ELSEWHERE, Source, Stream
from pivcs.store.store import Store

Warn = Callable[[str], None]
CannotWrite = (StoreBusy, StoreReadOnly, StoreFull)


class AmbiguousSession(InputError):
    """The beginning of a key or an id that several sessions have."""


class Reader(NamedTuple):
    """What opening a session needs: the store (None when there is no usable one), pi's places, the time, and a way to
    warn. `now` is in milliseconds since 1970. `if_forgotten` tells what is done with a session that was forgotten."""

    store: Store | None
    surroundings: Surroundings
    now: int
    warn: Warn
    if_forgotten: str = "showing the file, and keeping nothing of it"

    def open(self, session: str | None) -> SessionView:
        """Open a session by path, id, key, or None for the current project's latest.

        Raises `NoSession`, `AmbiguousSession`, `SourceNotReadable`.
        """
        imported = self._imported(session)
        if imported is not None:
            return imported
        if session is not None and not looks_like_path(session):
            if self.store is not None and self.store.source_at(real_path(Path(session))) is not None:
                return self.open_path(Path(session))  # a file that is gone, named without a slash
            stream = self._stored(session)
            if stream is not None:
                return self._refreshed(stream)
        try:
            path = locate(session, self.surroundings, self._came_through)
        except NoSession:
            gone = self._latest_gone() if session is None else None
            if gone is None:
                raise
            return self._refreshed(gone)
        return self.open_path(path)

    def _came_through(self, path: Path) -> bool:
        """Whether the session in a file came through the repository of the project."""
        return os.path.realpath(path) in map(str, files_through(self.store, self.surroundings.cwd))

    def _imported(self, session: str | None) -> SessionView | None:
        """Return what came from a repository, named as its source is; None when a text is no such name."""
        if self.store is None or session is None or not session.startswith(os.fsdecode(ELSEWHERE)):
            return None
        source = self.store.source_at(os.fsencode(session))
        stream = self.store.current_stream(source.id) if source is not None else None
        return view_of(self.store, stream) if stream is not None else None

    def _latest_gone(self) -> Stream | None:
        """Return the latest stream of the current project whose file is gone, or that came from another machine."""
        if self.store is None:
            return None
        directories = set(project_directories(self.surroundings.cwd))
        keys = keys_through(self.store, self.surroundings.cwd)
        aged = []
        for stream in self.store.current_streams():
            facts = decode_summary(stream.summary)
            if stream.session is not None and (facts.cwd in directories or stream.session in keys):
                aged.append((facts.time or 0, stream.id, stream))
        return max(aged)[2] if aged else None

    def open_path(self, path: Path) -> SessionView:
        """Open the session at a path: what is there now, or what was last seen there."""
        if self.store is None:
            return open_file(path)
        stream = current_stream(self.store, path)
        if stream is not None:
            return view_of(self.store, stream)
        from pivcs.ops.sync import sync_file

        try:
            synced = sync_file(self.store, path, self.now)
            stream = synced.stream
            if synced.outcome == "gone":
                self.warn(f"no file is at '{path}' any more; showing what was last seen there")
            elif synced.outcome == "forgotten":
                self.warn(f"the session in '{path}' was forgotten; {self.if_forgotten}")
                return open_file(path)
        except CannotWrite as error:
            self.warn(f"{error.message}; showing what is known")
            stream = self._known(path)
            if stream is None:
                return open_file(path)
        except SourceNotReadable as error:
            stream = self._known(path)
            if stream is None:
                raise
            self.warn(f"{error.message}; showing what was last seen there")
        if stream is None:
            raise SourceNotReadable(f"cannot read '{path}': no such file or directory")
        return view_of(self.store, stream)

    def _known(self, path: Path) -> Stream | None:
        """Return what was last seen at a path."""
        assert self.store is not None
        source = self.store.source_at(os.fsencode(os.path.realpath(path)))
        return self.store.current_stream(source.id) if source is not None else None

    def _refreshed(self, stream: Stream) -> SessionView:
        """Sync the sources that a stored session comes from, and open what is primary then."""
        assert self.store is not None
        if stream.session is None:
            return view_of(self.store, stream)
        from pivcs.ops.sync import sync_file

        notes: dict[int, str] = {}
        for each in latest_generations(self.store.streams_of_session(stream.session)):
            source, current = self.store.source(each.source), self.store.current_stream(each.source)
            if source is None or not source.is_file or (current is not None and is_same(source, current)):
                continue
            path = os.fsdecode(source.path)
            try:
                if sync_file(self.store, Path(path), self.now).outcome == "gone":
                    notes[source.id] = f"no file is at '{path}' any more; showing what was last seen there"
            except CannotWrite as error:
                self.warn(f"{error.message}; showing what is known")
                break
            except SourceNotReadable as error:
                notes[source.id] = f"{error.message}; showing what was last seen there"
        now = primary_stream(self.store, stream.session) or stream
        if now.source in notes:
            self.warn(notes[now.source])
        return view_of(self.store, now)

    def _stored(self, text: str) -> Stream | None:
        """Return the primary stream of the one session whose key or id begins with a text.

        Sessions count that no file has any more, because it was emptied or another one took its place.
        """
        if self.store is None:
            return None
        keys = self.store.session_keys()
        wanted = [key for key in keys if key.hex() == text]
        if not wanted and len(text) >= 4:
            wanted = [key for key in keys if key.hex().startswith(text)]
            wanted += _sessions_with_id(self.store.current_streams(), text)
            if not wanted:
                wanted = _sessions_with_id(self.store.streams(), text)
        found = sorted(set(wanted))
        if len(found) > 1:
            shown = ", ".join(key.hex()[:16] for key in found[:8])
            raise AmbiguousSession(f"'{text}' names {len(found)} sessions: {shown}", hint="type more of it, or a path")
        return primary_stream(self.store, found[0]) if found else None


def _sessions_with_id(streams: list[Stream], text: str) -> list[bytes]:
    return [
        stream.session
        for stream in streams
        if stream.session is not None and (decode_summary(stream.summary).id or "").startswith(text)
    ]


def view_of(store: Store, stream: Stream) -> SessionView:
    """Return a stream as commands see it."""
    source = store.source(stream.source)
    where = os.fsdecode(source.path) if source is not None else f"stream {stream.id}"
    return SessionView(
        store.table_of(stream), store.bytes_of(stream), where, stream.version1, store=store, stream=stream
    )


def primary_stream(store: Store, key: bytes) -> Stream | None:
    """Return the stream from which a session's position, labels and name come: of the latest generations of its
    sources the one with the latest entry; ties: the longer one, then the first by its bytes.

    A file that another session has taken over counts only where no other file has the session.
    """
    latest = latest_generations(store.streams_of_session(key))
    streams = [each for each in latest if store.current_stream(each.source) == each] or latest
    if len(streams) < 2:
        return streams[0] if streams else None
    ranked = sorted(streams, key=lambda each: (-(decode_summary(each.summary).time or 0), -each.size))
    best = [each for each in ranked if _rank(each) == _rank(ranked[0])]
    if len(best) == 1:
        return best[0]
    return min(best, key=lambda each: whole_digest(store, each))


def latest_generations(streams: list[Stream]) -> list[Stream]:
    """Return the latest generation of each source among streams."""
    latest: dict[int, Stream] = {}
    for stream in streams:
        known = latest.get(stream.source)
        if known is None or stream.generation > known.generation:
            latest[stream.source] = stream
    return list(latest.values())


def _rank(stream: Stream) -> tuple[int, int]:
    return -(decode_summary(stream.summary).time or 0), -stream.size


def whole_digest(store: Store, stream: Stream) -> bytes:
    """Return the BLAKE3 digest of a stream's bytes."""
    from pivcs.objects.hashing import whole_hash

    return whole_hash(store.bytes_of(stream).iter_range(0, stream.size))


def source_of(store: Store, stream: Stream) -> Source:
    """Return the source of a stream."""
    source = store.source(stream.source)
    assert source is not None
    return source


