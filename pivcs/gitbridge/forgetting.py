"""Forgetting in a repository: streams below `refs/pivcs/` and `refs/pivcs-remotes/` without what was forgotten.

A stream with a forgotten record is written anew with a placeholder, and its ref replaced; refs of a forgotten session
go. The old objects stay until git collects them, and whatever was pushed or exported is out of reach: both are told.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import PivcsError
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.forgotten_refs import place_of, spooled, stream_names
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.process import Git, GitFailed
from pivcs.gitbridge.ref_names import ROOT, decode_component, encode_component, parse_pivcs_ref
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate, read_refs, update_refs
from pivcs.gitbridge.remotes import read_settings, shown_address
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import FETCHED, FOLDER, PAGE, FoundRef, entries_of, found_refs, tree_of
from pivcs.gitbridge.streams import write_stream
from pivcs.objects.index import index_source
from pivcs.objects.table import Table
from pivcs.ops.masking import Guard, Mask, MaskedFile, mask_of
from pivcs.ops.view import SessionView
from pivcs.session.lines import LineReader
from pivcs.store.store import Store

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_FOLDER: Final = re.compile(r"/(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|undated)-([0-9a-f]{8,64})(?=/|$)")
_CACHES: Final = ("page", "review")
"""Directories of what exports keep beside a repository for the next one."""


class RemoteAddress(NamedTuple):
    """A remote of a repository that forgetting does not reach; `fetched`: refs of sessions are known of it.

    `refs` are those that have what is forgotten, by the names that they have there, as they were seen last.
    """

    name: str
    address: str
    fetched: bool
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefsPlan:
    """What is to be done in a repository: streams to write anew, refs to remove, and what is out of reach.

    `review` has refs of review commits of the sessions. `unread` has what is wrong with streams that cannot be read.
    """

    repository: Repository
    covered: tuple[FoundRef, ...]
    removed: tuple[FoundRef, ...]
    review: tuple[str, ...]
    remotes: tuple[RemoteAddress, ...]
    unread: tuple[str, ...]

    @property
    def where(self) -> str:
        """What people call the repository."""
        return str(self.repository.root or self.repository.common_dir)

    @property
    def has_log(self) -> bool:
        """Whether it keeps logs of refs, which keep old objects."""
        places = (self.repository.git_dir, self.repository.common_dir)
        return any((place / "logs" / "HEAD").exists() for place in places)

    def __bool__(self) -> bool:
        return bool(self.covered or self.removed)


def plan_refs(
    repository: Repository, guard: Guard, git: Git | None, *,
    sessions: Collection[bytes] = (), holding: Collection[bytes] = (), names: bytes | None = None,
    known: Collection[tuple[str, str]] = (), clean: Collection[bytes] = (),
) -> RefsPlan:  # fmt: skip
    """Return what forgetting changes in a repository: the records that `guard` knows, and whole `sessions`. `holding`
    are the sessions that have the records, with those found here: review commits of theirs go, and exports are told.
    Streams whose commits are in `clean` are not read. `names` is the id of the store when names of theirs change; the
    next archive writes them again. `known` has what remotes had that holds something forgotten, as the store remembers
    it. Raises `OtherRefs`, `OtherHash`.
    """
    covered, removed, unread = [], [], []
    with repository.objects() as objects:
        refs = found_refs(repository)
        for ref in refs:
            if ref.key in sessions:
                removed.append(ref)
            elif ref.store is None and guard and ref.commit not in clean:
                try:
                    with spooled(objects, ref) as file:
                        table, _ = index_source(file)
                        if guard.rows(table, file):
                            covered.append(ref)
                except PivcsError as error:
                    unread.append(error.message)
    holding = {*holding, *(ref.key for ref in covered)}
    own = [ref for ref in refs if ref.store is not None and ref.store == names]
    removed += [ref for ref in own if ref.key in holding and ref.key not in sessions]
    keys = {*sessions, *holding}
    made = re.compile(rf"refs/(?:pivcs|pivcs-remotes/.+)/({'|'.join(key.hex() for key in keys)})/review/.+")
    for prefix in (ROOT, FETCHED) if keys else ():  # made again by the next archive, without what was forgotten
        for name, commit in read_refs(repository, prefix).items():
            found = made.fullmatch(name)
            if found is not None:
                removed.append(FoundRef(name, commit, bytes.fromhex(found[1]), None))
    held = [*covered, *(ref for ref in removed if ref.store is None or ref.key in sessions)]
    return RefsPlan(
        repository, tuple(covered), tuple(removed), tuple(_review_refs(repository, keys)),
        tuple(_remotes(repository, git, [ref.name for ref in held], known, keys)), tuple(unread),
    )  # fmt: skip


def _review_refs(repository: Repository, keys: Iterable[bytes]) -> Iterator[str]:
    """Yield the refs of exported sessions: one of their components is a date and the first digits of the key."""
    prefixes = tuple(key.hex()[:8] for key in keys)
    if not prefixes:
        return
    names = read_refs(repository, "refs/")
    found = [name for name in names if (folder := _FOLDER.search(name)) and folder[1].startswith(prefixes)]
    yield from found
    with repository.objects() as objects:
        for name, commit in names.items():
            if PAGE.fullmatch(name) is not None and (found or _page_has(objects, name, commit, prefixes)):
                yield name


def _page_has(objects: DiskObjectStore, name: str, commit: bytes, prefixes: tuple[str, ...]) -> bool:
    """Whether a start page has a session; what cannot be read may have it."""
    try:
        folders = [folder for _, folder, _ in entries_of(objects, tree_of(objects, commit, name), name)]
    except PivcsError:
        return True
    matches = (FOLDER.fullmatch(folder.decode("ascii", "replace")) for folder in folders)
    return any(found is not None and found[2].startswith(prefixes) for found in matches)


def review_patterns(refs: Iterable[str]) -> list[str]:
    """Return what `git for-each-ref` takes for refs of review commits and start pages: the folders of sessions."""
    patterns: dict[str, None] = {}
    for name in refs:
        found = _FOLDER.search(name)
        patterns[name[: found.end(1)] if found is not None else name] = None
    return list(patterns)


def _remotes(
    repository: Repository, git: Git | None, held: Collection[str], known: Collection[tuple[str, str]],
    keys: Collection[bytes],
) -> Iterator[RemoteAddress]:  # fmt: skip
    try:
        settings = read_settings(repository, git)
    except GitFailed:
        settings = {}
    addresses = {
        name.removeprefix("remote.").removesuffix(".url"): shown_address(value)
        for name, value in settings.items()
        if name.startswith("remote.") and name.endswith(".url")
    }
    there: dict[str, set[str]] = {encode_component(called): set() for called in addresses}
    for name in held:
        if name.startswith(FETCHED):
            component, _, rest = name.removeprefix(FETCHED).partition("/")
            there.setdefault(component, set()).add(ROOT + rest)
    for called, name in known:
        ref = parse_pivcs_ref(name)
        if ref is not None and ref.key in keys:
            there.setdefault(encode_component(called), set()).add(name)
    fetched = read_refs(repository, FETCHED)
    called_by = {encode_component(called): called for called in [*addresses, *(called for called, _ in known)]}
    for component, refs in sorted(there.items()):
        called = called_by.get(component) or decode_component(component) or component
        known_of = any(each.startswith(f"{FETCHED}{component}/") for each in fetched)
        yield RemoteAddress(called, addresses.get(called, called), known_of, tuple(sorted(refs)))


def forget_refs(plan: RefsPlan, guard: Guard, store: Store | None = None) -> list[RefOutcome]:
    """Do what a plan says; refs that are not as they were found are `refused` and left. Saying it again completes what
    was stopped. The store remembers which streams are not to be fetched again, and what remotes had of them.

    Raises `NotWritten`, `OtherRefs`, `RefsNotWritten`, and what reading raises.
    """
    repository = plan.repository
    if store is not None:
        with store.writing():
            store.forgotten.add_streams(stream_names(ref.name for ref in plan.covered))
            for remote in plan.remotes:
                store.forgotten.add_refs(place_of(repository), remote.name, remote.refs)
    new: list[RefUpdate] = []
    old = [RefUpdate(ref.name, ref.commit, None) for ref in plan.removed]
    with ExitStack() as stack:
        objects = stack.enter_context(repository.objects())
        directory = repository.common_dir / "objects"
        writer = stack.enter_context(PackWriter(directory, stack.enter_context(Existing(directory))))
        there = read_refs(repository, "refs/pivcs/") | read_refs(repository, FETCHED)
        for ref in plan.covered:
            with spooled(objects, ref) as file:
                _cover(file, guard)
                table, reader = index_source(_rewound(file))
                written = write_stream(SessionView(table, file, ref.name, reader.version1), writer)
            assert written is not None
            name = f"{ref.name.rpartition('/')[0]}/{written.digest.hex()[:16]}"
            new.append(RefUpdate(name, there.get(name), written.commit))
            there[name] = written.commit  # two streams may become the same
            old.append(RefUpdate(ref.name, ref.commit, None))
        writer.finish()
        try:
            outcomes = update_refs(repository, new)
            refused = any(each.outcome == "refused" for each in outcomes)
            outcomes += update_refs(repository, old if not refused else old[: len(plan.removed)])
        finally:
            writer.release()
    for git_dir in {repository.common_dir, repository.git_dir}:
        for cache in _CACHES:
            shutil.rmtree(git_dir / "pivcs" / cache, ignore_errors=True)
    return outcomes


def _rewound(file: MaskedFile) -> MaskedFile:
    file.seek(0)
    return file


def _cover(file: MaskedFile, guard: Guard) -> None:
    """Cover the forgotten records of a stream. Raises `CannotCover`."""
    table, reader = index_source(_rewound(file))
    file.masks.add(_masks(file, table, reader, guard))


def _masks(file: MaskedFile, table: Table, reader: LineReader, guard: Guard) -> Iterator[Mask]:
    from pivcs.ops.sync import CannotCover

    for row, _ in guard.rows(table, file):
        mask = mask_of(table, row, file, version1=bool(reader.version1))
        if mask is None:
            raise CannotCover(str(file.path))
        yield mask
