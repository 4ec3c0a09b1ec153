"""The tree of the start page: what it has of each session, read, brought together with other pages, and written.

It is a function of the sessions in it: their streams, what is said of each, and the names that each store gave. Of two
pages the union counts, whichever of them is one's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pivcs.errors import PivcsError
from pivcs.gitbridge.objects import BLOB, FILE_MODE, TREE, TREE_MODE, tree_bytes
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.page_summary import StreamSummary, decode_summary
from pivcs.gitbridge.stream_finding import (
    FOLDER,
    NAMES,
    STREAMS,
    entries_of,
    folder_fits,
    raw_object,
    stream_at_page,
    tree_of,
)
from pivcs.gitbridge.stream_reading import StoredStream
from pivcs.gitbridge.stream_union import holds, is_whole
from pivcs.gitbridge.streams import ATTRIBUTES, NO_CONVERSION
from pivcs.store.remote import StoreNames, decode_names

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

SUMMARIES: Final = b"summaries"
"""The directory of what is said of a session's streams."""
_JSON: Final = b".json"
_STREAM: Final = re.compile(rb"[0-9a-f]{16}")
_STORE: Final = re.compile(rb"[0-9a-f]{32}")
_DIGITS: Final = (8, 16, 32, 64)


@dataclass(slots=True)
class PageSession:
    """A session on a page. Streams are told by the first 16 digits of their digests, the ids are of their trees;
    `summaries` and `names` are the bytes of files, the latter by the digits of the id of the store that gave them."""

    key: bytes
    streams: dict[bytes, bytes] = field(default_factory=dict)
    summaries: dict[bytes, bytes] = field(default_factory=dict)
    names: dict[bytes, bytes] = field(default_factory=dict)

    def told(self) -> list[tuple[bytes, StreamSummary]]:
        """Return what is said of the streams, that with most entries first."""
        found = [(name, decode_summary(self.summaries[name])) for name in self.streams if name in self.summaries]
        return sorted(
            [(name, summary) for name, summary in found if summary is not None],
            key=lambda each: (-each[1].entries, -each[1].time, each[0]),
        )

    def given(self) -> list[tuple[bytes, StoreNames]]:
        """Return the names that stores gave, by their ids."""
        found = [(store, decode_names(data, self.key, bytes.fromhex(store.decode())))
                 for store, data in sorted(self.names.items())]  # fmt: skip
        return [(store, names) for store, names in found if names is not None]


Page = dict[str, PageSession]
"""The sessions of a page by their folders."""


def read_page(objects: DiskObjectStore, commit: bytes) -> Page:
    """Return what the page of a commit has; what is no session's folder is left out. Raises `StreamDamaged`."""
    page: Page = {}
    where = "sessions"
    for mode, name, ident in entries_of(objects, tree_of(objects, commit, where), where):
        if mode == TREE_MODE and FOLDER.fullmatch(folder := name.decode("ascii", "replace")) is not None:
            session = _read_session(objects, ident, f"{where}:{folder}")
            if folder_fits(folder, session.key):
                page[folder] = session
    return page


def _read_session(objects: DiskObjectStore, tree: bytes, where: str) -> PageSession:
    session = PageSession(b"")
    for mode, name, ident in entries_of(objects, tree, where):
        if mode != TREE_MODE or name not in (STREAMS, SUMMARIES, NAMES):
            continue
        for inner_mode, inner, found in entries_of(objects, ident, f"{where}/{name.decode()}"):
            stem = inner.removesuffix(_JSON)
            if name == STREAMS and inner_mode == TREE_MODE and _STREAM.fullmatch(inner):
                session.streams[inner] = found
            elif name == SUMMARIES and inner_mode == FILE_MODE and _STREAM.fullmatch(stem):
                session.summaries[stem] = raw_object(objects, BLOB, found, where)
            elif name == NAMES and inner_mode == FILE_MODE and _STORE.fullmatch(stem):
                session.names[stem] = raw_object(objects, BLOB, found, where)
    session.summaries = {name: data for name, data in session.summaries.items() if name in session.streams}
    session.key = _key_of(objects, session, where)
    return session


def _key_of(objects: DiskObjectStore, session: PageSession, where: str) -> bytes:
    told = session.told()
    if told:
        return bytes.fromhex(told[0][1].key)
    for name in sorted(session.streams):
        try:
            return stream_at_page(objects, session.streams[name], where, name).key
        except PivcsError:
            continue
    return b""


def stored_streams(objects: DiskObjectStore, session: PageSession, folder: str) -> dict[str, StoredStream]:
    """Return the streams of a session that can be read, by their names."""
    found = {}
    for name, tree in sorted(session.streams.items()):
        try:
            stream = stream_at_page(objects, tree, f"sessions:{folder}/streams", name)
        except PivcsError:  # it stays as it is, and is told by an import
            continue
        if stream.key == session.key:
            found[name.decode()] = stream
    return found


def union(objects: DiskObjectStore, pages: Sequence[Page]) -> Page:
    """Return what some pages have together, each session once. The order of the pages does not matter.

    A session has its shortest folder; when two have the same one, that with the higher key gets more digits of it.
    """
    if len(pages) == 1:
        return dict(pages[0])
    found: dict[bytes, tuple[str, list[PageSession]]] = {}
    for page in pages:
        for folder, session in page.items():
            known, sessions = found.setdefault(session.key, (folder, []))
            found[session.key] = min(known, folder, key=lambda name: (len(name), name)), [*sessions, session]
    together: Page = {}
    for key, (folder, sessions) in sorted(found.items()):
        name = folder
        if name in together:
            date = folder.rpartition("-")[0]
            name = next(each for count in _DIGITS if (each := f"{date}-{key.hex()[:count]}") not in together)
        together[name] = _joined(objects, sessions, name)
    return together


def _joined(objects: DiskObjectStore, sessions: Sequence[PageSession], folder: str) -> PageSession:
    first = sessions[0]
    if all(each == first for each in sessions):
        return first
    joined = PageSession(first.key)
    for session in sessions:
        for name, tree in session.streams.items():
            known = joined.streams.setdefault(name, tree)
            if known != tree:
                joined.streams[name] = _whole_one(objects, known, tree, folder, name)
        for name, data in session.summaries.items():
            joined.summaries[name] = max(joined.summaries.get(name, b""), data, key=_summary_order)
        for store, data in session.names.items():
            joined.names[store] = max(
                joined.names.get(store, b""), data, key=lambda text: _names_order(text, first.key, store)
            )
    if all(each.streams != joined.streams for each in sessions):  # each page alone has no beginnings
        stored = stored_streams(objects, joined, folder)
        for called, shorter in stored.items():
            if any(holds(objects, longer, shorter) for longer in stored.values()):
                del joined.streams[called.encode()]
    joined.summaries = {name: data for name, data in joined.summaries.items() if name in joined.streams}
    return joined


def _whole_one(objects: DiskObjectStore, one: bytes, other: bytes, folder: str, name: bytes) -> bytes:
    """Return that of two trees, both called by the same digest, that has the bytes with this digest."""
    for tree in sorted((one, other)):
        try:
            if is_whole(objects, stream_at_page(objects, tree, folder, name)):
                return tree
        except PivcsError:
            continue
    return min(one, other)


def _summary_order(data: bytes) -> tuple[bool, bytes]:
    return decode_summary(data) is not None, data


def _names_order(data: bytes, key: bytes, store: bytes) -> tuple[int, bytes]:
    names = decode_names(data, key, bytes.fromhex(store.decode()))
    return (names.time if names is not None else -1), data


def write_page(writer: PackWriter, page: Page, texts: Mapping[str, bytes]) -> bytes:
    """Add the tree of a page, with some files of text by their paths (in one directory at most), and return its id."""
    entries = [(FILE_MODE, ATTRIBUTES, writer.add(BLOB, NO_CONVERSION))]
    directories: dict[bytes, list[tuple[bytes, bytes, bytes]]] = {}
    for path, text in texts.items():
        directory, _, name = path.encode().rpartition(b"/")
        place = directories.setdefault(directory, []) if directory else entries
        place.append((FILE_MODE, name, writer.add(BLOB, text)))
    entries += [(TREE_MODE, name, writer.add(TREE, tree_bytes(inner))) for name, inner in directories.items()]
    for folder, session in page.items():
        parts = [
            (STREAMS, [(TREE_MODE, name, tree) for name, tree in session.streams.items()]),
            (SUMMARIES, _files(writer, session.summaries)),
            (NAMES, _files(writer, session.names)),
        ]
        inner = [(TREE_MODE, name, writer.add(TREE, tree_bytes(files))) for name, files in parts if files]
        entries.append((TREE_MODE, folder.encode(), writer.add(TREE, tree_bytes(inner))))
    return writer.add(TREE, tree_bytes(entries))


def _files(writer: PackWriter, files: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes, bytes]]:
    return [(FILE_MODE, name + _JSON, writer.add(BLOB, data)) for name, data in files.items()]
