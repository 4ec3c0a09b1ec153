"""Sessions back from a repository: into the store, or as session files, byte for byte.

A stream is verified before anything of it is kept, and so are the review commits of its session that are there. Of
several streams of a session those are dropped that are the beginning of another.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import InputError, PivcsError
from pivcs.gitbridge.names_file import FILE
from pivcs.gitbridge.objects import BLOB
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.review_check import check_review, refs_beside_streams, review_refs
from pivcs.gitbridge.stream_finding import (
    FoundRef,
    PageNames,
    entries_of,
    found_refs,
    page_folders,
    raw_object,
    stream_at,
    tree_of,
)
from pivcs.gitbridge.stream_reading import StoredStream, StreamDamaged, stream_bytes
from pivcs.objects.index import index_source
from pivcs.ops.kept_streams import prefix_digests
from pivcs.ops.masking import Guard
from pivcs.ops.remote import known_stream, take_in
from pivcs.ops.view import SessionView
from pivcs.ops.writing_out import file_name
from pivcs.session.source import FileSource
from pivcs.session.wholefile import SessionFileExists, write_new
from pivcs.store.remote import RemoteNames, decode_names
from pivcs.store.store import Store

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_OUTCOMES: Final = {"new": "new", "unchanged": "known", "forgotten": "forgotten"}


class NoStreams(InputError):
    """A repository has no session that was asked for."""


class Imported(NamedTuple):
    """A stream, and what became of it.

    `outcome` is `new`, `grown` (it continues what was imported before), `known`, `forgotten` (its session must not be
    kept), `beginning` (of another stream of the repository); for files `written` or `known`; or `damaged`, with
    `error`. `path` is the file, `title` the session's name or first prompt where it can be told. `is_known` says that
    the store had something of the session before, `holds_forgotten` that the repository has something in the stream
    which the store has forgotten.
    """

    stream: str
    key: bytes
    size: int
    outcome: str
    path: Path | None = None
    error: PivcsError | None = None
    title: str | None = None
    is_known: bool = False
    holds_forgotten: bool = False


class ImportedNames(NamedTuple):
    """Names of another store for a session: how many, and whether they are `new` or `known`."""

    key: bytes
    store: bytes
    names: int
    outcome: str


class Verified(NamedTuple):
    """A stream whose bytes are in a file, and are what it says of them; `view` reads that file."""

    stream: StoredStream
    file: Path
    view: SessionView


class Archive:
    """The streams and names that a repository has; with `only`, those that some refs name.

    Raises, as its methods, `OtherHash`, `OtherRefs`.
    """

    def __init__(
        self, repository: Repository, objects: DiskObjectStore, only: Sequence[FoundRef] | None = None
    ) -> None:
        self._objects = objects
        self.broken: list[tuple[str, bytes, PivcsError]] = []
        found: dict[tuple[bytes, bytes], StoredStream] = {}
        refs = found_refs(repository) if only is None else only
        for ref in refs:
            if ref.store is None:
                try:
                    stream = stream_at(objects, ref)
                    found.setdefault((stream.key, stream.digest), stream)
                except PivcsError as error:
                    self.broken.append((ref.name, ref.key, error))
        names: list[FoundRef | PageNames] = [ref for ref in refs if ref.store is not None]
        place = refs[0].name.partition(refs[0].key.hex())[0] if only and refs else None
        self._refs = refs_beside_streams(repository, place)
        by_folder: dict[str, set[bytes]] = {}
        try:
            for folder in page_folders(repository, objects) if only is None else ():
                for stream in folder.streams:
                    found.setdefault((stream.key, stream.digest), stream)
                    by_folder.setdefault(folder.folder, set()).add(stream.key)
                key = folder.streams[0].key if folder.streams else b""
                self.broken += [(where, key, error) for where, error in folder.broken]
                names += folder.names
        except PivcsError as error:
            self.broken.append(("sessions", b"", error))
        if by_folder:
            for name, reached in review_refs(repository).items():
                for key in by_folder.get(name, ()):
                    self._refs.setdefault(key, {}).update(reached)
        self.streams = sorted(found.values(), key=lambda each: (each.key, -each.size, each.digest))
        self.names = names

    def keep(self, sessions: Sequence[str]) -> None:
        """Leave out all sessions but those whose key or id begins with one of some texts. Raises `NoStreams`."""
        if not sessions:
            if not self.streams and not self.broken:
                raise NoStreams("there is no session in the repository", hint="`pivcs archive` puts sessions there")
            return
        kept: set[bytes] = set()
        keys = {stream.key: stream for stream in self.streams}
        for session in sessions:
            found = {key for key in keys if key.hex().startswith(session)} if len(session) >= 4 else set()
            found |= {key for key, stream in keys.items() if self._id_of(stream).startswith(session)}
            found |= {key for _, key, _ in self.broken if len(session) >= 4 and key.hex().startswith(session)}
            if not found:
                raise NoStreams(f"there is no session '{session}' in the repository")
            kept |= found
        self.streams = [stream for stream in self.streams if stream.key in kept]
        self.names = [ref for ref in self.names if ref.key in kept]
        self.broken = [each for each in self.broken if each[1] in kept or not each[1]]

    def _id_of(self, stream: StoredStream) -> str:
        from pivcs.session.entries import Header
        from pivcs.session.jsontext import NotJson, parse_json

        try:
            first = next(stream_bytes(self._objects, stream), b"")
            return Header(parse_json(first.split(b"\n", 1)[0])).id or ""
        except (PivcsError, NotJson):
            return ""

    def verified(self) -> Iterator[Verified | Imported]:
        """Yield the streams, verified, each in a temporary file that goes when another session is asked for.

        What is the beginning of another, and what is damaged, comes as `Imported`. A session that has a review commit
        which is not made of its streams is damaged as a whole.
        """
        for name, key, error in self.broken:
            yield Imported(name, key, 0, "damaged", error=error)
        for _, streams in groupby(self.streams, key=lambda each: each.key):
            yield from self._session(list(streams))

    def _session(self, streams: Sequence[StoredStream]) -> Iterator[Verified | Imported]:
        """Yield the streams of one session, the longest first; all are read before the first is handed out."""
        key = streams[0].key
        longer: set[tuple[int, bytes]] = set()
        verified: list[Verified] = []
        damaged = any(each[1] in (key, b"") for each in self.broken)
        with tempfile.TemporaryDirectory(prefix="pivcs-") as directory, ExitStack() as stack:
            for place, stream in enumerate(streams):
                if (stream.size, stream.digest) in longer:
                    yield Imported(stream.where, key, stream.size, "beginning")
                    continue
                file = Path(directory, str(place))
                try:
                    view = stack.enter_context(_spooled(self._objects, stream, file))
                except StreamDamaged as error:
                    yield Imported(stream.where, key, stream.size, "damaged", error=error)
                    damaged = True
                    continue
                longer.update(prefix_digests(view.source, [each.size for each in streams[place + 1 :]]).items())
                verified.append(Verified(stream, file, view))
            if verified and key in self._refs:
                try:
                    views = [each.view for each in verified]
                    check_review(self._objects, self._refs[key], views, complete=not damaged)
                except PivcsError as error:
                    for each in verified:
                        title = _title(each.view)
                        yield Imported(each.stream.where, key, each.stream.size, "damaged", None, error, title)
                    return
            yield from verified

    def names_in(self, ref: FoundRef | PageNames) -> bytes:
        """Return the text of the names that a ref or a start page has. Raises `StreamDamaged`."""
        if isinstance(ref, PageNames):
            return raw_object(self._objects, BLOB, ref.blob, ref.name)
        for _, name, ident in entries_of(self._objects, tree_of(self._objects, ref.commit, ref.name), ref.name):
            if name == FILE:
                return raw_object(self._objects, BLOB, ident, ref.name)
        raise StreamDamaged(ref.name, FILE.decode(), "it is missing")


@contextmanager
def opened_archive(repository: Repository, sessions: Sequence[str]) -> Iterator[Archive]:
    """Give the streams and names of a repository, of some sessions only when any are named. Raises `NoStreams`."""
    with repository.objects() as objects:
        archive = Archive(repository, objects)
        archive.keep(sessions)
        yield archive


@contextmanager
def _spooled(objects: DiskObjectStore, stream: StoredStream, file: Path) -> Iterator[SessionView]:
    with file.open("wb") as out:
        for part in stream_bytes(objects, stream):
            out.write(part)
    with FileSource(file) as source:
        table, lines = index_source(source)
        view = SessionView(table, source, stream.where, lines.version1)
        if view.key is None or view.key.digest != stream.key:
            raise StreamDamaged(stream.where, "stream.json", "the session's key is not that of its bytes")
        yield view


def import_to_store(archive: Archive, store: Store, *, now: int, origin: str) -> Iterator[Imported]:
    """Take the streams of a repository into the store; what it has already is left as it is.

    `now` is in milliseconds since 1970, `origin` says for people where they come from. Raises what the store raises
    when it cannot be written.
    """
    before = set(store.session_keys())
    guard = Guard.of(store)
    for each in archive.verified():
        if isinstance(each, Imported):
            yield each._replace(is_known=each.key in before)
            continue
        stream = each.stream
        if known_stream(store, stream.key, stream.size, stream.digest) is not None:
            outcome, holds = "known", False
        else:
            holds = stream.key in guard.sessions or bool(guard and guard.rows(each.view.table, each.view.source))
            taken = take_in(store, each.file, stream.key, stream.digest, now, origin)
            outcome = _OUTCOMES.get(taken.outcome, "grown")
        title = _title(each.view) if not holds else None  # it may be what was forgotten
        yield Imported(
            stream.where, stream.key, stream.size, outcome, title=title, is_known=stream.key in before,
            holds_forgotten=holds,
        )  # fmt: skip


def import_names(archive: Archive, store: Store) -> Iterator[ImportedNames | Imported]:
    """Remember the names that other stores have for sessions which this store knows; of two states the later counts."""
    own = store.remote.id()
    keys = set(store.session_keys())
    for ref in archive.names:
        if ref.store is None or ref.store == own or ref.key not in keys:
            continue
        try:
            data = archive.names_in(ref)
            names = decode_names(data, ref.key, ref.store)
            if names is None:
                raise StreamDamaged(ref.name, FILE.decode(), "these are no names of this session and store")
        except PivcsError as error:
            yield Imported(ref.name, ref.key, 0, "damaged", error=error)
            continue
        count = len(names.branches) + len(names.tags)
        with store.writing():
            known = next((each.data for each in store.remote.names(ref.key) if each.store == ref.store), None)
            before = decode_names(known, ref.key, ref.store) if known is not None else None
            is_new = before is None or (names.time, data) > (before.time, known or b"")
            if is_new:
                store.remote.put_names(ref.key, RemoteNames(ref.store, data))
        yield ImportedNames(ref.key, ref.store, count, "new" if is_new else "known")


def import_to_files(archive: Archive, directory: Path) -> Iterator[Imported]:
    """Write the streams of a repository as session files into a directory, under the names that pi gives them.

    Of several streams of a session the longest has pi's name, the others the beginning of their digest behind it. A
    file that is there is never changed. Raises `SessionFileExists` for one with other bytes, `SessionNotWritable`.
    """
    seen: set[bytes] = set()
    for each in archive.verified():
        if isinstance(each, Imported):
            yield each
            continue
        stream = each.stream
        digest = stream.digest if stream.key in seen else None
        path = directory / file_name(each.view.header.id, each.view.header.timestamp, stream.key, digest)
        seen.add(stream.key)
        outcome = "written"
        if path.exists():
            if not _has(path, stream):
                raise SessionFileExists(path)
            outcome = "known"
        else:
            write_new(path, each.view.source.iter_range(0, stream.size))
        yield Imported(stream.where, stream.key, stream.size, outcome, path, title=_title(each.view))


def _title(view: SessionView) -> str | None:
    return view.name or view.first_prompt


def _has(path: Path, stream: StoredStream) -> bool:
    with FileSource(path) as file:
        size = file.status.st_size
        return size == stream.size and prefix_digests(file, [size])[size] == stream.digest
