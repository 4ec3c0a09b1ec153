"""Refs of remotes that hold something which was forgotten here: known by their names, so that they are neither fetched
nor sent again, or found by reading what has come."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pivcs.errors import PivcsError
from pivcs.gitbridge.ref_names import ROOT, parse_pivcs_ref
from pivcs.gitbridge.refs_update import RefUpdate, update_refs
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import FoundRef, found_refs, stream_at
from pivcs.gitbridge.stream_reading import stream_bytes
from pivcs.objects.index import index_source
from pivcs.ops.masking import Guard, MaskedFile
from pivcs.store.store import Store

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore


class ForgottenRefs:
    """Knows which refs below `refs/pivcs/` hold something that a store has forgotten. Cheap where nothing was."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._guard = Guard.of(store)
        self._streams = store.forgotten.streams()

    def has(self, name: str) -> bool:
        """Whether a ref, by the name that it has at a remote, is known to hold something forgotten."""
        ref = parse_pivcs_ref(name)
        if ref is None:
            return False
        if ref.key in self._guard.sessions:
            return True
        return ref.stream is not None and (ref.key, bytes.fromhex(ref.stream)) in self._streams

    def drop(self, repository: Repository, remote: Remote, names: Collection[str]) -> None:
        """Read streams that have come from a remote, and let no ref name those here that hold something forgotten; they
        are known from now on. `names` are those that they have there. What cannot be read stays.

        Raises `OtherRefs`, `RefsNotWritten`.
        """
        if not self._guard or not names:
            return
        come = {remote.prefix + name.removeprefix(ROOT) for name in names}
        held = []
        with repository.objects() as objects:
            for ref in found_refs(repository, remote.prefix):
                if ref.name in come and ref.store is None and holds_forgotten(objects, ref, self._guard):
                    held.append(ref)
        update_refs(repository, [RefUpdate(ref.name, ref.commit, None) for ref in held])
        self._know(held)

    def _know(self, refs: Iterable[FoundRef]) -> None:
        found = stream_names(ref.name for ref in refs) - self._streams
        self._streams |= found
        if found and not self._store.read_only:
            with self._store.writing():
                self._store.forgotten.add_streams(found)

    def seen(self, repository: Repository, remote: Remote, theirs: Iterable[str]) -> tuple[str, ...]:
        """Remember which refs of a remote hold something forgotten, of all that it has now; returns their names."""
        held = tuple(sorted(name for name in theirs if self.has(name)))
        where = place_of(repository)
        before = {name for shown, name in self._store.forgotten.refs(where) if shown == remote.shown}
        if before != set(held) and not self._store.read_only:
            with self._store.writing():
                self._store.forgotten.put_refs(where, remote.shown, held)
        return held


def place_of(repository: Repository) -> bytes:
    """Return what a repository is called in the store, as `pivcs.ops.project.common_directory` has it."""
    return os.fsencode(os.path.realpath(repository.common_dir))


def stream_names(names: Iterable[str]) -> set[tuple[bytes, bytes]]:
    """Return the session's key and the beginning of the digest for each name of a stream's ref, wherever it is kept."""
    found = set()
    for name in names:
        ref = parse_pivcs_ref(ROOT + "/".join(name.split("/")[-3:]))
        if ref is not None and ref.stream is not None:
            found.add((ref.key, bytes.fromhex(ref.stream)))
    return found


def holds_forgotten(objects: DiskObjectStore, ref: FoundRef, guard: Guard) -> bool:
    """Whether a stream has a forgotten record with its bytes; False for one that cannot be read."""
    try:
        with spooled(objects, ref) as file:
            table, _ = index_source(file)
            return bool(guard.rows(table, file))
    except PivcsError:
        return False


@contextmanager
def spooled(objects: DiskObjectStore, ref: FoundRef) -> Iterator[MaskedFile]:
    """Give the verified bytes of a stream as a file that is gone afterwards. Raises `StreamDamaged`, `NewerStream`."""
    with tempfile.TemporaryDirectory(prefix="pivcs-") as directory:
        path = Path(directory, "stream")
        with path.open("wb") as out:
            for part in stream_bytes(objects, stream_at(objects, ref)):
                out.write(part)
        with MaskedFile(path) as file:
            yield file
