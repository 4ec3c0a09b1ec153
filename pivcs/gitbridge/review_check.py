"""Whether the review commits of a session are what its streams make of it.

A commit's id covers its tree, its message and all of its ancestors. So the ends of what refs reach are compared, with
ids that are made again from the streams; nothing is written for that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import DataError
from pivcs.gitbridge.objects import COMMIT, object_id
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import ROOT
from pivcs.gitbridge.refs_update import read_refs
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.review import write_review
from pivcs.gitbridge.review_options import PLAIN, Granularity, Person, ReviewOptions
from pivcs.gitbridge.stream_finding import FETCHED, FOLDER, raw_object
from pivcs.gitbridge.stream_reading import StreamDamaged
from pivcs.ops.view import SessionView
from pivcs.session.codes import ROLES, USER

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_REF: Final = re.compile(rf"refs/(?:heads|tags|remotes/[^/]+)/({FOLDER.pattern})/.+")
_BESIDE: Final = re.compile(r"(refs/pivcs/|refs/pivcs-remotes/.*/)([0-9a-f]{64})/review/.+")
_NODE: Final = re.compile(rb"^Pivcs-Node: ([0-9a-f]{64})$", re.MULTILINE)
_BASE: Final = re.compile(rb"^Pivcs-Base: ", re.MULTILINE)
_PARENT: Final = re.compile(rb"^parent ([0-9a-f]{40})$", re.MULTILINE)
_AUTHOR: Final = re.compile(rb"^author (.*) <(.*)> -?[0-9]+ [+-][0-9]{4}$", re.MULTILINE)
_PEOPLE: Final = (USER, ROLES["bashExecution"])


class ReviewDamaged(DataError):
    """A review commit is not what its session makes of the entry that it names. `ref` reaches it, `commit` is its id
    in hex."""

    def __init__(self, ref: str, commit: str, what: str) -> None:
        super().__init__(
            f"the review commit {commit} that '{ref}' reaches is not what was written: {what}",
            hint="it was changed, or the branch `sessions` is older than it; take both from another copy of the "
            "repository, or delete the ref to import the session without it",
        )
        self.ref = ref
        self.commit = commit


class ReviewCommit(NamedTuple):
    """A commit that names a node: a ref that reaches it, its id, the node's, its parents, and its author; whether it
    stands on a base."""

    ref: str
    ident: bytes
    node: bytes
    parents: tuple[bytes, ...]
    author: Person
    on_base: bool


def review_refs(repository: Repository) -> dict[str, dict[str, bytes]]:
    """Return the refs of branches, labels and tags by the folders of sessions: one's own and those of remotes.

    Raises `OtherRefs`.
    """
    found: dict[str, dict[str, bytes]] = {}
    for name, commit in read_refs(repository, "refs/").items():
        match = _REF.fullmatch(name)
        if match is not None:
            found.setdefault(match[1], {})[name] = commit
    return found


def refs_beside_streams(repository: Repository, place: str | None = None) -> dict[bytes, dict[str, bytes]]:
    """Return the refs of review commits that stand beside streams, by the keys of sessions; with a `place`, what stands
    before the key in a ref's name, only those that stand there. Raises `OtherRefs`."""
    found: dict[bytes, dict[str, bytes]] = {}
    for prefix in (ROOT, FETCHED):
        for name, commit in read_refs(repository, prefix).items():
            match = _BESIDE.fullmatch(name)
            if match is not None and place in (None, match[1]):
                found.setdefault(bytes.fromhex(match[2]), {})[name] = commit
    return found


def check_review(
    objects: DiskObjectStore, refs: Mapping[str, bytes], views: Sequence[SessionView], *, complete: bool = True
) -> None:
    """Compare the review commits that some refs reach with those that the streams of a session make.

    Commits of other people on top of them are passed by, and, when the streams are not `complete`, commits of nodes
    that none of them has. Raises `ReviewDamaged`.
    """
    named = _named(objects, refs)
    if not complete:
        named = {ident: commit for ident, commit in named.items() if any(_rows(view, commit.node) for view in views)}
    left = {ident: commit for ident, commit in named.items() if not commit.on_base}
    known: set[bytes] = set()
    for commit in named.values():
        if not any(_rows(view, commit.node) for view in views):
            raise ReviewDamaged(commit.ref, commit.ident.hex(), f"the session has no node {commit.node.hex()}")
    for view in views:
        for person in _people(objects, view, left.values()):
            for granularity in Granularity:
                rows = {row for commit in left.values() for row in _rows(view, commit.node)}
                if not rows:
                    break
                made = made_commits(view, rows, PLAIN._replace(granularity=granularity, person=person))
                known |= made
                left = {ident: commit for ident, commit in left.items() if ident not in made}
    for commit in left.values():
        first = _first_unknown(objects, commit, known)
        raise ReviewDamaged(commit.ref, first.ident.hex(), f"it names the node {first.node.hex()}")


def made_commits(view: SessionView, rows: Collection[int], options: ReviewOptions) -> set[bytes]:
    """Return the ids of the commits on the paths to some rows, without writing any."""
    writer = _Ids()
    for _ in write_review(view, writer, rows, options):
        pass
    return writer.commits


class _Ids(PackWriter):
    """Takes objects as a pack does, and only keeps the ids of commits."""

    def __init__(self) -> None:
        super().__init__(Path(), deflate=bytes)
        self.commits: set[bytes] = set()

    def has(self, ident: bytes) -> bool:
        return False

    def add(self, kind: int, data: bytes, base: bytes | None = None, delta: bytes | None = None) -> bytes:
        ident = object_id(kind, data)
        if kind == COMMIT:
            self.commits.add(ident)
        return ident


def _rows(view: SessionView, node: bytes) -> list[int]:
    return list(view.table.rows_with_digest_prefix(node))


def _named(objects: DiskObjectStore, refs: Mapping[str, bytes]) -> dict[bytes, ReviewCommit]:
    """Return the commits that name a node and are reached by refs, without going through another one."""
    found: dict[bytes, ReviewCommit] = {}
    seen: set[bytes] = set()
    for ref, tip in refs.items():
        waiting = [tip]
        while waiting:
            ident = waiting.pop()
            if ident in seen:
                continue
            seen.add(ident)
            raw = _commit(objects, ident, ref, must=ident == tip)
            if raw is None:
                continue
            commit = _parsed(ref, ident, raw)
            if commit is None:
                waiting += _parents(raw)
            else:
                found[ident] = commit
    return found


def _commit(objects: DiskObjectStore, ident: bytes, ref: str, *, must: bool) -> bytes | None:
    """Return the bytes of a commit; None for another object, and for one that is not there unless it `must` be: a
    shallow clone ends somewhere."""
    from dulwich.objects import ObjectID

    name = ObjectID(ident.hex().encode())
    if not must and name not in objects:
        return None
    try:
        return raw_object(objects, COMMIT, ident, ref)
    except StreamDamaged:
        if _is_other(objects, ident):
            return None
        raise ReviewDamaged(ref, ident.hex(), "its object is missing or damaged") from None


def _is_other(objects: DiskObjectStore, ident: bytes) -> bool:
    """Whether an object is whole, and no commit: a tag that somebody signed, say."""
    from dulwich.objects import ObjectID

    try:
        found = objects[ObjectID(ident.hex().encode())]
        found.check()
    except Exception:  # dulwich has no common root for what damaged bytes cause
        return False
    return found.type_name != b"commit" and found.id == ident.hex().encode()


def _parsed(ref: str, ident: bytes, raw: bytes) -> ReviewCommit | None:
    """Return a commit that names a node in its last paragraph; None for any other."""
    head, _, message = raw.partition(b"\n\n")
    last = message.rstrip(b"\n").rpartition(b"\n\n")[2]
    node = _NODE.search(last)
    if node is None:
        return None
    author = _AUTHOR.search(head)
    person = Person(author[1], author[2]) if author is not None else Person()
    on_base = _BASE.search(last) is not None
    return ReviewCommit(ref, ident, bytes.fromhex(node[1].decode()), tuple(_parents(raw)), person, on_base)


def _parents(raw: bytes) -> Iterator[bytes]:
    for found in _PARENT.finditer(raw.partition(b"\n\n")[0]):
        yield bytes.fromhex(found[1].decode())


def _people(objects: DiskObjectStore, view: SessionView, commits: Iterable[ReviewCommit]) -> list[Person]:
    """Return whom entries of the user may be by: as always, or as the nearest commit of such an entry has it."""
    found = {Person(): None}
    seen: set[bytes] = set()
    for tip in commits:
        commit: ReviewCommit | None = tip
        while commit is not None and commit.ident not in seen:
            seen.add(commit.ident)
            rows = _rows(view, commit.node)
            if rows and view.table.code[rows[0]] in _PEOPLE:
                found[commit.author] = None
                break
            commit = _above(objects, commit)
    return list(found)


def _above(objects: DiskObjectStore, commit: ReviewCommit) -> ReviewCommit | None:
    """Return the last parent that names a node."""
    for parent in reversed(commit.parents):
        raw = _commit(objects, parent, commit.ref, must=False)
        found = _parsed(commit.ref, parent, raw) if raw is not None else None
        if found is not None:
            return found
    return None


def _first_unknown(objects: DiskObjectStore, commit: ReviewCommit, known: set[bytes]) -> ReviewCommit:
    """Return the commit nearest to the root that is not as it was made: what is below it is only its consequence."""
    while True:
        above = _above(objects, commit)
        if above is None or above.ident in known:
            return commit
        commit = above
