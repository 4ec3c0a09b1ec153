"""Sending sessions to another repository: what it lacks of `refs/pivcs/`, and away with what has become longer.

Refs of streams are only ever added there. One goes only when the other side has a longer stream that begins with all of
it, which is made sure of with the objects themselves. What has been sent first is there before anything goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import PivcsError
from pivcs.gitbridge.fetch_parts import fetch_whole
from pivcs.gitbridge.forgotten_refs import ForgottenRefs
from pivcs.gitbridge.ref_names import ROOT, parse_pivcs_ref, stream_ref
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate, read_refs, update_refs
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.sending import send_refs
from pivcs.gitbridge.stream_finding import FoundRef, stream_at
from pivcs.gitbridge.stream_reading import StoredStream
from pivcs.gitbridge.stream_union import holds
from pivcs.gitbridge.transport import Transport
from pivcs.ops.kept_streams import kept_views, prefix_digests
from pivcs.ops.view import SessionView

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore


class Push(NamedTuple):
    """What a push did. `refs` are those of the other side that have news, were refused, or are `beginning`: streams
    that were not sent because a longer one is there. `sessions` and `bytes` count the streams that were sent.
    `forgotten` are refs there that hold something forgotten, `kept` those here, which were not sent."""

    remote: Remote
    refs: tuple[RefOutcome, ...]
    sessions: int
    bytes: int
    forgotten: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether something was left as it is."""
        return any(ref.outcome == "refused" for ref in self.refs)


BEGINNING: Final = "beginning"


def push(
    repository: Repository, remote: Remote, transport: Transport, store_id: bytes | None, *, force: bool = False,
    forgotten: ForgottenRefs | None = None,
) -> Push:  # fmt: skip
    """Send what this repository has of sessions to a remote, as far as that lacks it.

    `store_id` is the id of the store whose names are replaced there; names of other stores are only added. A ref there
    that names something else than the one here is left and told, unless `force`. Nothing is sent, and nothing is asked
    beyond the refs, when the remote has all. What holds something forgotten is neither sent nor fetched.

    Raises `TransportFailed`, `OtherHash`, `OtherRefs`.
    """
    here, there_all = _refs_here(repository), transport.refs()
    has = forgotten.has if forgotten is not None else _has_nothing
    ours = {name: commit for name, commit in here.items() if not has(name)}
    with repository.objects() as objects:
        rivals = _fetch_rivals(repository, remote, transport, objects, ours,
                               {name: commit for name, commit in there_all.items() if not has(name)})  # fmt: skip
    if forgotten is not None:
        forgotten.drop(repository, remote, rivals)
    theirs = {name: commit for name, commit in there_all.items() if not has(name)}
    updates: list[RefUpdate] = []
    outcomes: list[RefOutcome] = []
    with repository.objects() as objects:
        streams = _Streams(objects, ours, theirs)
        for name, commit in ours.items():
            there = theirs.get(name)
            if there == commit:
                continue
            if there is None:
                if streams.longer_there(name):
                    outcomes.append(RefOutcome(name, BEGINNING, None, commit))
                else:
                    updates.append(RefUpdate(name, None, commit))
            elif force or _is_own_names(name, store_id):
                updates.append(RefUpdate(name, there, commit))
            elif not _is_names(name):
                outcomes.append(RefOutcome(name, "refused", there, commit))
        done, theirs_now = send_refs(transport, updates, theirs)
        outcomes += done
        gone = [RefUpdate(name, theirs[name], None) for name in streams.superseded(theirs_now) if name in theirs_now]
        done, theirs_now = send_refs(transport, gone, theirs_now)
        outcomes += done
        sent = [ref for ref in outcomes if ref.outcome in ("new", "moved")]
        sizes = {ref.name: stream.size for ref in sent if (stream := streams.of(ref.name, ref.new)) is not None}
    _remember(repository, remote, ours, theirs_now, outcomes)
    removed = {ref.name for ref in outcomes if ref.outcome == "removed"}
    held = forgotten.seen(repository, remote, there_all.keys() - removed) if forgotten is not None else ()
    kept = tuple(name for name in here if name not in ours)
    return Push(remote, tuple(outcomes), len({_key(name) for name in sizes}), sum(sizes.values()), held, kept)


def _has_nothing(_: str) -> bool:
    return False


def has_streams(repository: Repository) -> bool:
    """Whether a repository has anything of sessions to send. Raises `OtherRefs`."""
    return bool(_refs_here(repository))


def _refs_here(repository: Repository) -> dict[str, bytes]:
    return {name: commit for name, commit in read_refs(repository, ROOT).items() if parse_pivcs_ref(name) is not None}


def leaving(views: Iterable[SessionView], repository: Repository, remote: Remote) -> Iterator[SessionView]:
    """Yield the sessions that have more than the remote had when it was asked last: what has left cannot be kept back.

    Raises `OtherRefs`.
    """
    there = {ROOT + name.removeprefix(remote.prefix) for name in read_refs(repository, remote.prefix)}
    keys = {_key(name) for name in there}
    for view in views:
        if view.key is None:
            continue
        key = view.key.digest
        if key not in keys or any(stream_ref(key, _digest(each)) not in there for each in kept_views(view)):
            yield view


def _digest(view: SessionView) -> bytes:
    size = view.table.end + view.table.pending
    return prefix_digests(view.source, [size])[size]


class _Streams:
    """The streams that two repositories have, as far as their objects are here; each is read when it is asked for."""

    def __init__(self, objects: DiskObjectStore, ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> None:
        self._objects = objects
        self._ours = ours
        self._theirs = theirs
        self._read: dict[tuple[str, bytes], StoredStream | None] = {}
        self._there: dict[bytes, list[str]] = {}
        for name in theirs:
            if name not in ours or ours[name] != theirs[name]:
                self._there.setdefault(_key(name), []).append(name)

    def of(self, name: str, commit: bytes | None) -> StoredStream | None:
        """Return a stream; None for names, and for what is not here or damaged."""
        ref = parse_pivcs_ref(name)
        if ref is None or ref.stream is None or commit is None:
            return None
        if (name, commit) not in self._read:
            try:
                found = stream_at(self._objects, FoundRef(name, commit, ref.key, None))
            except PivcsError:
                found = None
            self._read[name, commit] = found
        return self._read[name, commit]

    def longer_there(self, name: str) -> bool:
        """Whether the other side has a stream, which is not here, that begins with one that is."""
        stream = self.of(name, self._ours[name])
        return stream is not None and any(
            longer is not None and holds(self._objects, longer, stream)
            for longer in (self.of(other, self._theirs[other]) for other in self._there.get(_key(name), ()))
        )

    def superseded(self, there_now: Mapping[str, bytes]) -> list[str]:
        """Return the streams of the other side, and not of this one, with which a longer one begins that both have."""
        both: dict[bytes, list[str]] = {}
        for name, commit in self._ours.items():
            if there_now.get(name) == commit:
                both.setdefault(_key(name), []).append(name)
        found = []
        for key, names in self._there.items():
            for name in names:
                shorter = self.of(name, self._theirs[name]) if name not in self._ours else None
                if shorter is not None and any(
                    longer is not None and holds(self._objects, longer, shorter)
                    for longer in (self.of(other, self._ours[other]) for other in both.get(key, ()))
                ):
                    found.append(name)
        return found


def _fetch_rivals(
    repository: Repository, remote: Remote, transport: Transport, objects: DiskObjectStore,
    ours: Mapping[str, bytes], theirs: Mapping[str, bytes],
) -> list[str]:  # fmt: skip
    """Get the streams that the other side alone has of sessions of which it lacks a stream: one may be the beginning of
    another. Returns their names."""
    from dulwich.objects import ObjectID

    lacking = {_key(name) for name in ours if name not in theirs and not _is_names(name)}
    wanted = {}
    for name, commit in theirs.items():
        ref = parse_pivcs_ref(name)
        if ref is None or ref.stream is None or ref.key not in lacking or name in ours:
            continue
        if ObjectID(commit.hex().encode()) not in objects:
            wanted[name] = remote.prefix + name.removeprefix(ROOT)

    def wanting(there: Mapping[str, bytes]) -> dict[str, str]:
        return {name: here for name, here in wanted.items() if name in there}

    # What cannot be fetched, or has gone there meanwhile, is the beginning of nothing as far as can be told.
    fetch_whole(remote, transport, theirs, wanting)
    return list(wanted)


def _remember(
    repository: Repository, remote: Remote, ours: Mapping[str, bytes], theirs: Mapping[str, bytes],
    outcomes: list[RefOutcome],
) -> None:  # fmt: skip
    """Let the refs that are kept of the remote say what it has now, as far as this is also here."""
    has = {name: commit for name, commit in theirs.items() if ours.get(name) == commit}
    has |= {ref.name: ref.new for ref in outcomes if ref.outcome in ("new", "moved") and ref.new is not None}
    gone = {ref.name for ref in outcomes if ref.outcome == "removed"}
    known = read_refs(repository, remote.prefix)
    updates = []
    for name in sorted(has.keys() | gone):
        here = remote.prefix + name.removeprefix(ROOT)
        updates.append(RefUpdate(here, known.get(here), has.get(name)))
    update_refs(repository, [each for each in updates if each.old != each.new])


def _key(name: str) -> bytes:
    ref = parse_pivcs_ref(name)
    return ref.key if ref is not None else b""


def _is_names(name: str) -> bool:
    ref = parse_pivcs_ref(name)
    return ref is not None and ref.store is not None


def _is_own_names(name: str, store_id: bytes | None) -> bool:
    ref = parse_pivcs_ref(name)
    return ref is not None and store_id is not None and ref.store == store_id.hex()
