"""Which streams and names a repository has, wherever it keeps them: below `refs/pivcs/`, as fetched from a remote, and
on the branch of the start page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import PivcsError
from pivcs.gitbridge.objects import COMMIT, KIND_NAMES, TREE, object_id
from pivcs.gitbridge.ref_names import ROOT, parse_pivcs_ref
from pivcs.gitbridge.refs_update import read_refs
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_reading import StoredStream, StreamDamaged, read_stream

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

FETCHED: Final = "refs/pivcs-remotes/"
"""Refs as they are at a remote: the remote's name and a slash follow, then what stands behind `refs/pivcs/` there."""
STREAMS: Final = b"streams"
"""The directory of a session's streams on the branch of the start page."""
NAMES: Final = b"names"
"""The directory of the names that stores gave, there."""
PAGE: Final = re.compile(r"refs/(?:heads|remotes/[^/]+)/sessions")
"""The refs of start pages: one's own, and those that were fetched from a remote."""
FOLDER: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}|undated)-([0-9a-f]{8,64})")
"""What a session may be called in a repository: a date, and the beginning of its key."""
NAMES_FILE: Final = re.compile(rb"[0-9a-f]{32}\.json")
_FETCHED_REF: Final = re.compile(r"refs/pivcs-remotes/.*/(?=[0-9a-f]{64}/)")
_TREE: Final = b"tree "


class FoundRef(NamedTuple):
    """A ref of streams or names: the ref itself, the commit that it names, whose session it is about, and for names the
    id of the store that wrote them."""

    name: str
    commit: bytes
    key: bytes
    store: bytes | None


def found_refs(repository: Repository, prefix: str | None = None) -> list[FoundRef]:
    """Return the refs of streams and names: the repository's own first, then those of remotes.

    With the `prefix` of a remote, which ends with a slash, only what is kept of that. Raises `OtherRefs`.
    """
    own = read_refs(repository, ROOT) if prefix is None else {}
    found = [_parsed(name, name, commit) for name, commit in own.items()]
    for name, commit in read_refs(repository, prefix or FETCHED).items():
        found.append(_parsed(ROOT + _FETCHED_REF.sub("", name), name, commit))
    return [each for each in found if each is not None]


def _parsed(meaning: str, name: str, commit: bytes) -> FoundRef | None:
    ref = parse_pivcs_ref(meaning)
    if ref is None:
        return None
    return FoundRef(name, commit, ref.key, bytes.fromhex(ref.store) if ref.store is not None else None)


def stream_at(objects: DiskObjectStore, ref: FoundRef) -> StoredStream:
    """Return the stream that a ref names. Raises `StreamDamaged`, `NewerStream`."""
    stream = read_stream(objects, tree_of(objects, ref.commit, ref.name), ref.name)
    if stream.key != ref.key or not ref.name.endswith("/" + stream.digest.hex()[:16]):
        raise StreamDamaged(ref.name, "", "it is another stream than the ref's name says")
    return stream


class PageNames(NamedTuple):
    """Names on a start page: where they are, the file, whose session they are about, and the id of the store that gave
    them."""

    name: str
    blob: bytes
    key: bytes
    store: bytes


class PageFolder(NamedTuple):
    """What a start page has of one session: its folder, the streams, those that cannot be read with the reasons, and
    names."""

    folder: str
    streams: tuple[StoredStream, ...]
    broken: tuple[tuple[str, PivcsError], ...]
    names: tuple[PageNames, ...]


def folder_fits(folder: str, key: bytes) -> bool:
    """Whether a session may have a folder."""
    found = FOLDER.fullmatch(folder)
    return found is not None and key.hex().startswith(found[2])


def page_folders(repository: Repository, objects: DiskObjectStore) -> Iterator[PageFolder]:
    """Yield the sessions on branches of start pages, the repository's own and those that a clone got.

    Raises `StreamDamaged` when a page itself cannot be read, and `OtherRefs`.
    """
    pages = {commit: name for name, commit in read_refs(repository, "refs/").items() if PAGE.fullmatch(name)}
    for commit, name in sorted(pages.items(), key=lambda each: each[1]):
        for inner, tree in _directories(objects, tree_of(objects, commit, name), name):
            folder = inner.decode("ascii", "replace")
            if FOLDER.fullmatch(folder) is not None:
                yield _page_folder(objects, tree, folder, f"{name}:{folder}")


def _page_folder(objects: DiskObjectStore, tree: bytes, folder: str, where: str) -> PageFolder:
    streams: list[StoredStream] = []
    broken: list[tuple[str, PivcsError]] = []
    files: list[tuple[bytes, bytes]] = []
    try:
        for part, inner in _directories(objects, tree, where):
            if part == STREAMS:
                for name, ident in _directories(objects, inner, f"{where}/streams"):
                    place = f"{where}/streams/{name.decode(errors='replace')}"
                    try:
                        stream = stream_at_page(objects, ident, place, name)
                        if not folder_fits(folder, stream.key):
                            raise StreamDamaged(place, "", "it is the stream of another session")
                        streams.append(stream)
                    except PivcsError as error:
                        broken.append((place, error))
            elif part == NAMES:
                files += [(name, ident) for _, name, ident in entries_of(objects, inner, f"{where}/names")]
    except PivcsError as error:
        broken.append((where, error))
    key = streams[0].key if streams else b""
    names = tuple(
        PageNames(f"{where}/names/{name.decode()}", ident, key, bytes.fromhex(name[:32].decode()))
        for name, ident in files
        if streams and NAMES_FILE.fullmatch(name)
    )
    return PageFolder(folder, tuple(streams), tuple(broken), names)


def stream_at_page(objects: DiskObjectStore, tree: bytes, where: str, name: bytes) -> StoredStream:
    """Return the stream that a directory of a start page has; `name` is what the directory is called.

    Raises `StreamDamaged`, `NewerStream`.
    """
    stream = read_stream(objects, tree, where)
    if stream.digest.hex()[:16].encode() != name:
        raise StreamDamaged(where, "", "it is another stream than its directory says")
    return stream


def tree_of(objects: DiskObjectStore, commit: bytes, where: str) -> bytes:
    """Return the id of a commit's tree. Raises `StreamDamaged`."""
    raw = raw_object(objects, COMMIT, commit, where)
    if not raw.startswith(_TREE) or len(raw) < len(_TREE) + 41:
        raise StreamDamaged(where, "", "its commit has no tree")
    try:
        return bytes.fromhex(raw[len(_TREE) : len(_TREE) + 40].decode("ascii"))
    except ValueError:
        raise StreamDamaged(where, "", "its commit has no tree") from None


def raw_object(objects: DiskObjectStore, kind: int, ident: bytes, where: str) -> bytes:
    """Return the bytes of an object after comparing them with its id. Raises `StreamDamaged`."""
    from dulwich.objects import ObjectID

    try:
        found, raw = objects.get_raw(ObjectID(ident.hex().encode()))
    except KeyError:
        problem = f"the repository does not have the object {ident.hex()}"
    except Exception:  # dulwich has no common root for what damaged bytes cause
        problem = f"the object {ident.hex()} cannot be read"
    else:
        if found == kind and object_id(kind, raw) == ident:
            return raw
        problem = f"the object {ident.hex()} is not the {KIND_NAMES[kind].decode()} that its id says"
    # Outside of the handlers: a chained exception would keep the pack open that it was raised in.
    raise StreamDamaged(where, "", problem)


def entries_of(objects: DiskObjectStore, tree: bytes, where: str) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield mode, name and id of the entries of a tree. Raises `StreamDamaged`."""
    raw = raw_object(objects, TREE, tree, where)
    at = 0
    while at < len(raw):
        space, end = raw.find(b" ", at), raw.find(b"\0", at)
        if not at < space < end or end + 21 > len(raw):
            raise StreamDamaged(where, "", "it is no tree")
        yield raw[at:space], raw[space + 1 : end], raw[end + 1 : end + 21]
        at = end + 21


def _directories(objects: DiskObjectStore, tree: bytes, where: str) -> Iterator[tuple[bytes, bytes]]:
    for mode, name, ident in entries_of(objects, tree, where):
        if mode == b"40000":
            yield name, ident
