"""Getting sessions from another repository: its refs beside one's own, and what is new of them into the store.

What was taken once is remembered by the id of its commit, so that nothing is read again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from pivcs.gitbridge.fetch_parts import Whole, fetch_whole
from pivcs.gitbridge.forgotten_refs import ForgottenRefs, place_of
from pivcs.gitbridge.importing import Archive, Imported, ImportedNames, import_names, import_to_store
from pivcs.gitbridge.ref_names import ROOT, parse_pivcs_ref
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate, read_refs, update_refs
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import found_refs
from pivcs.gitbridge.transport import Transport
from pivcs.store.store import Store


class Fetched(NamedTuple):
    """The refs of a remote that have news: `new`, `moved` or `removed`, by the names that they have there; `there` are
    all refs of streams and names that it has. Those that cannot be fetched are `damaged`; what was known of them stays.
    """

    remote: Remote
    refs: tuple[RefOutcome, ...]
    there: frozenset[str]
    damaged: tuple[Imported, ...] = ()


def fetch(
    repository: Repository, remote: Remote, transport: Transport, forgotten: ForgottenRefs | None = None
) -> Fetched:
    """Let the refs that are kept of a remote say what it has now, and get what they name, but for streams of which
    it is known that they hold something forgotten.

    Without news nothing is asked beyond the refs, and nothing is written. No other ref changes. Raises
    `TransportFailed`, `OtherHash`, `OtherRefs`, `NotKept`, `RefsNotWritten`.
    """
    repository.open_objects().close()  # refuses other hashes
    known = read_refs(repository, remote.prefix)

    def names(theirs: Iterable[str]) -> dict[str, str]:
        ours = [name for name in theirs if parse_pivcs_ref(name) is not None]
        return {name: remote.prefix + name.removeprefix(ROOT) for name in ours
                if forgotten is None or not forgotten.has(name)}  # fmt: skip

    def wanting(theirs: Mapping[str, bytes], have: Mapping[str, bytes] | None = None) -> dict[str, str]:
        have = have if have is not None else read_refs(repository, remote.prefix)
        return {name: here for name, here in names(theirs).items() if have.get(here) != theirs[name]}

    whole = Whole(transport.refs(), {})
    if wanting(whole.theirs, known):
        whole = fetch_whole(remote, transport, whole.theirs, wanting)
    theirs = {name for name in whole.theirs if parse_pivcs_ref(name) is not None}
    held = {name for name in theirs if forgotten is not None and forgotten.has(name)}
    kept = set(names(whole.theirs).values())
    update_refs(repository, [RefUpdate(here, commit, None) for here, commit in known.items() if here not in kept])
    now = read_refs(repository, remote.prefix)
    outcomes = []
    for here in sorted(known.keys() | now.keys()):
        name, old, new = ROOT + here.removeprefix(remote.prefix), known.get(here), now.get(here)
        if old != new and name not in held:
            word = "new" if old is None else "removed" if new is None else "moved"
            outcomes.append(RefOutcome(name, word, old, new))
    damaged = [
        Imported(here, ref.key, 0, "damaged", error=whole.damaged[name])
        for name, here in names(whole.damaged).items() if (ref := parse_pivcs_ref(name)) is not None
    ]  # fmt: skip
    return Fetched(remote, tuple(outcomes), frozenset(theirs), tuple(damaged))


def drop_forgotten(
    repository: Repository, done: Fetched, taken: Iterable[Imported], forgotten: ForgottenRefs
) -> tuple[str, ...]:
    """Let no ref name what came and holds something forgotten, after the store has taken the rest of it: `taken`.

    Returns the refs of the remote that hold something forgotten. Raises `OtherRefs`, `RefsNotWritten`.
    """
    come = {ref.name for ref in done.refs if ref.new is not None}
    come |= {ROOT + each.stream.removeprefix(done.remote.prefix) for each in taken if each.holds_forgotten}
    forgotten.drop(repository, done.remote, come)
    return forgotten.seen(repository, done.remote, done.there)


def take_fetched(
    repository: Repository, remote: Remote, store: Store, *, now: int
) -> Iterator[Imported | ImportedNames]:
    """Take into the store what the refs kept of a remote name and was not taken yet; the streams, then the names.

    Whether the refs came just now or with an earlier fetch makes no difference. `now` is in milliseconds since 1970.
    Raises as `import_to_store`.
    """
    taken = store.remote.taken(place_of(repository))
    refs = [ref for ref in found_refs(repository, remote.prefix) if (ref.commit, ref.key) not in taken]
    own = store.remote.id()
    refs = [ref for ref in refs if ref.store is None or ref.store != own]
    if not refs:
        return
    failed: set[bytes] = set()
    with repository.objects() as objects:
        archive = Archive(repository, objects, refs)
        for each in import_to_store(archive, store, now=now, origin=f"from {remote.shown}"):
            if each.outcome == "damaged":
                failed.add(each.key)
            yield each
        for named in import_names(archive, store):
            if isinstance(named, Imported):
                failed.add(named.key)
            yield named
    known = {*store.session_keys(), *store.forgotten.sessions()}
    done = [(ref.commit, ref.key) for ref in refs if ref.key in known and ref.key not in failed]
    remember_taken(store, repository, done)


def remember_imported(store: Store, repository: Repository, keys: Container[bytes]) -> None:
    """Remember that all refs which a repository has of some sessions were imported."""
    remember_taken(store, repository, [(ref.commit, ref.key) for ref in found_refs(repository) if ref.key in keys])


def remember_taken(store: Store, repository: Repository, refs: Iterable[tuple[bytes, bytes]]) -> None:
    """Remember commits whose streams and names the store has: pairs of an id and the session's key.

    A later fetch need not read them.
    """
    where = place_of(repository)
    taken = store.remote.taken(where)
    new = [each for each in refs if each not in taken]
    if new and not store.read_only:
        with store.writing():
            store.remote.put_taken(where, new)
