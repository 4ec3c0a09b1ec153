"""Forgetting in a repository: streams below `refs/pivcs/` and `refs/pivcs-remotes/` without what was forgotten.

A stream with a forgotten record is written anew with a placeholder, and its ref replaced; refs of a forgotten session
go. The old objects stay until git collects them, and whatever was pushed or exported is out of reach: both are told.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import PivcsError
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.process import Git, GitFailed
from pivcs.gitbridge.ref_names import ROOT, encode_component
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate, read_refs, update_refs
from pivcs.gitbridge.remotes import read_settings, shown_address
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import FETCHED, FoundRef, found_refs, stream_at
from pivcs.gitbridge.stream_reading import stream_bytes
from pivcs.gitbridge.streams import write_stream
from pivcs.objects.index import index_source
from pivcs.objects.table import Table
from pivcs.ops.masking import Guard, Mask, MaskedFile, mask_of
from pivcs.ops.view import SessionView
from pivcs.session.lines import LineReader

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_PAGE: Final = re.compile(r"refs/(?:heads|remotes/[^/]+)/sessions")
_CACHES: Final = ("page", "review")
"""Directories of what exports keep beside a repository for the next one."""


class RemoteAddress(NamedTuple):
    """A remote of a repository that forgetting does not reach; `fetched`: refs of sessions were fetched from it."""

    name: str
    address: str
    fetched: bool


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

    def __bool__(self) -> bool:
        return bool(self.covered or self.removed)


def plan_refs(
    repository: Repository, guard: Guard, git: Git | None, *,
    sessions: Collection[bytes] = (), holding: Collection[bytes] = (), names: bytes | None = None,
) -> RefsPlan:  # fmt: skip
    """Return what forgetting changes in a repository: the records that `guard` knows, and whole `sessions`. `holding`
    are the sessions that have the records: review commits of theirs go, and exports are told. `names` is the id of the
    store when names of theirs change; the next archive writes them again. Raises `OtherRefs`, `OtherHash`.
    """
    covered, removed, unread = [], [], []
    with repository.objects() as objects:
        for ref in found_refs(repository):
            own_names = ref.store is not None and ref.store == names and ref.key in holding
            if ref.key in sessions or own_names:
                removed.append(ref)
            elif ref.store is None and guard:
                try:
                    with _spooled(objects, ref) as file:
                        table, _ = index_source(file)
                        if guard.rows(table, file):
                            covered.append(ref)
                except PivcsError as error:
                    unread.append(error.message)
    keys = {*sessions, *holding}
    made = re.compile(rf"refs/(?:pivcs|pivcs-remotes/.+)/({'|'.join(key.hex() for key in keys)})/review/.+")
    for prefix in (ROOT, FETCHED) if keys else ():  # made again by the next archive, without what was forgotten
        for name, commit in read_refs(repository, prefix).items():
            found = made.fullmatch(name)
            if found is not None:
                removed.append(FoundRef(name, commit, bytes.fromhex(found[1]), None))
    return RefsPlan(
        repository, tuple(covered), tuple(removed), tuple(_review_refs(repository, keys)),
        tuple(_remotes(repository, git)), tuple(unread),
    )  # fmt: skip


@contextmanager
def _spooled(objects: DiskObjectStore, ref: FoundRef) -> Iterator[MaskedFile]:
    """Give the verified bytes of a stream as a file that is gone afterwards. Raises `StreamDamaged`, `NewerStream`."""
    with tempfile.TemporaryDirectory(prefix="pivcs-") as directory:
        path = Path(directory, "stream")
        with path.open("wb") as out:
            for part in stream_bytes(objects, stream_at(objects, ref)):
                out.write(part)
        with MaskedFile(path) as file:
            yield file


def _review_refs(repository: Repository, keys: Iterable[bytes]) -> Iterator[str]:
    """Yield the refs of exported sessions: one of their components is a date and the first digits of the key."""
    digits = "|".join(key.hex()[:8] for key in keys)
    if not digits:
        return
    folder = re.compile(rf"/(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|undated)-(?:{digits})[0-9a-f]*(?:/|$)")
    names = list(read_refs(repository, "refs/"))
    found = [name for name in names if folder.search(name)]
    yield from found
    if found:
        yield from (name for name in names if _PAGE.fullmatch(name) is not None)


def _remotes(repository: Repository, git: Git | None) -> Iterator[RemoteAddress]:
    try:
        settings = read_settings(repository, git)
    except GitFailed:
        return
    fetched = read_refs(repository, FETCHED)
    for name, value in sorted(settings.items()):
        if name.startswith("remote.") and name.endswith(".url"):
            called = name.removeprefix("remote.").removesuffix(".url")
            prefix = f"{FETCHED}{encode_component(called)}/"
            yield RemoteAddress(called, shown_address(value), any(each.startswith(prefix) for each in fetched))


def forget_refs(plan: RefsPlan, guard: Guard) -> list[RefOutcome]:
    """Do what a plan says; refs that are not as they were found are `refused` and left. Saying it again completes what
    was stopped. Raises `NotWritten`, `OtherRefs`, `RefsNotWritten`, and what reading raises.
    """
    repository = plan.repository
    new: list[RefUpdate] = []
    old = [RefUpdate(ref.name, ref.commit, None) for ref in plan.removed]
    with ExitStack() as stack:
        objects = stack.enter_context(repository.objects())
        directory = repository.common_dir / "objects"
        writer = stack.enter_context(PackWriter(directory, stack.enter_context(Existing(directory))))
        there = read_refs(repository, "refs/pivcs/") | read_refs(repository, FETCHED)
        for ref in plan.covered:
            with _spooled(objects, ref) as file:
                _cover(file, guard)
                table, reader = index_source(_rewound(file))
                written = write_stream(SessionView(table, file, ref.name, reader.version1), writer)
            assert written is not None
            name = f"{ref.name.rpartition('/')[0]}/{written.digest.hex()[:16]}"
            new.append(RefUpdate(name, there.get(name), written.commit))
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
