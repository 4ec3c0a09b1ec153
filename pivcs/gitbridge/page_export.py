"""The branch of the start page in a repository that sessions are exported to: brought together with the pages that were
fetched from others, and committed.

Its commits are ordinary history. What `git fetch` left in `refs/remotes/<remote>/sessions` is merged: the next commit
has one's own page and theirs as parents, and the union of both as its tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pivcs.gitbridge.destination import DEFAULT_BRANCH, Destination, Moved, RefUpdate
from pivcs.gitbridge.export_cache import read_cache, write_cache
from pivcs.gitbridge.names_file import encode_names, names_of
from pivcs.gitbridge.objects import COMMIT, LATEST_TIME, Identity, commit_bytes, seconds
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.page_summary import encode_summary, summary_of
from pivcs.gitbridge.page_tree import Page, PageSession, read_page, stored_streams, union, write_page
from pivcs.gitbridge.review_options import TOOLS
from pivcs.gitbridge.start_page import latest_time, page_texts
from pivcs.gitbridge.stream_finding import PAGE, raw_object, tree_of
from pivcs.gitbridge.stream_reading import StreamDamaged
from pivcs.gitbridge.stream_union import put_streams
from pivcs.gitbridge.streams import Begun
from pivcs.ops.view import SessionView

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_PARENT: Final = re.compile(rb"^parent ([0-9a-f]{40})$", re.MULTILINE)


class StartPage:
    """The page that a repository has, with those that were fetched, while sessions are put on it.

    `taken` has the keys of its sessions by their folders. Raises `StreamDamaged`.
    """

    def __init__(self, destination: Destination, objects: DiskObjectStore) -> None:
        self._destination = destination
        self._objects = objects
        refs = destination.refs()
        self._old = refs.get(DEFAULT_BRANCH)
        found = dict.fromkeys([self._old] if self._old is not None else [])
        found.update(dict.fromkeys(refs[name] for name in sorted(refs) if PAGE.fullmatch(name)))
        pages = {commit: page for commit in found if (page := _page(objects, commit)) is not None}
        self._is_ours = self._old is None or self._old in pages
        self._parents = _heads(objects, list(pages))
        self._page: Page = union(objects, [pages[commit] for commit in self._parents])

    @property
    def taken(self) -> dict[str, bytes]:
        """The keys of the sessions on the page, by their folders."""
        return {folder: session.key for folder, session in self._page.items()}

    def put(self, view: SessionView, folder: str, writer: PackWriter, store_id: bytes | None) -> None:
        """Put all that is kept of a session on the page: its streams, what is said of them, and, when the store has an
        id, the names that were given there. Raises `NotWritten`, and what reading raises."""
        assert view.key is not None
        session = self._page.setdefault(folder, PageSession(view.key.digest))
        place = self._destination.git_dir / "pivcs" / "page" / session.key.hex()[:16]
        begun = read_cache(place.with_suffix(".parts"), tuple[Begun, ...]) or ()
        put = put_streams(view, writer, self._objects, stored_streams(self._objects, session, folder), begun,
                          trees_alone=True)  # fmt: skip
        if put.written:
            write_cache(place.with_suffix(".parts"), tuple(written.begun for _, written in put.written))
        for shorter in put.superseded:
            del session.streams[shorter.encode()]
            session.summaries.pop(shorter.encode(), None)
        told = {name for name, _ in session.told()}
        for each, written in put.written:
            name = written.digest.hex()[:16].encode()
            session.streams[name] = written.tree
            session.summaries[name] = encode_summary(summary_of(each, place))
        for each, same in put.same:
            if same.encode() not in told:
                session.summaries[same.encode()] = encode_summary(summary_of(each, place))
        if view.store is not None and store_id is not None:
            names = names_of(view.store, view.key.digest)
            store = store_id.hex().encode()
            if names.branches or names.tags or store in session.names:
                session.names[store] = encode_names(names, view.key.digest, store_id)

    def commit(self, writer: PackWriter) -> bytes | None:
        """Add the commit of the page; return None when the branch is as it was. Raises `NotWritten`."""
        tree = write_page(writer, self._page, page_texts(self._page))
        if len(self._parents) == 1 and tree_of(self._objects, self._parents[0], "sessions") == tree:
            return self._parents[0] if self._parents[0] != self._old else None
        times = [_time(raw_object(self._objects, COMMIT, parent, "sessions")) for parent in self._parents]
        who = Identity(TOOLS, TOOLS + b"@pivcs.invalid", max([seconds(latest_time(self._page)), *times]))
        count = len(self._page)
        merged = ", merged" if len(self._parents) > 1 else ""
        message = f"sessions: {count} session{'s' * (count != 1)}{merged}\n".encode()
        return writer.add(COMMIT, commit_bytes(tree, self._parents, who, who, message))

    def move(self, commit: bytes) -> Moved:
        """Let the branch name a commit, unless another process has moved it since it was read, or it is something else
        that somebody called so."""
        if not self._is_ours:
            return Moved(DEFAULT_BRANCH, "refused", self._old, commit, "no page")
        return self._destination.move([RefUpdate(DEFAULT_BRANCH, commit)], lambda _, old, __: old == self._old)[0]


def _page(objects: DiskObjectStore, commit: bytes) -> Page | None:
    """Return the page of a commit; None when it is none: a project may have a branch of this name."""
    page = read_page(objects, commit)
    raw = raw_object(objects, COMMIT, commit, "sessions")
    return page if page or b"\n\nsessions: " in raw else None


def _heads(objects: DiskObjectStore, commits: list[bytes]) -> list[bytes]:
    """Return those of some commits that no other one descends from, in the same order."""
    heads: list[bytes] = []
    for commit in commits:
        if not any(_descends(objects, head, commit) for head in heads):
            heads = [*(head for head in heads if not _descends(objects, commit, head)), commit]
    return heads


def _descends(objects: DiskObjectStore, commit: bytes, ancestor: bytes) -> bool:
    """Whether a commit has another one above it.

    No commit that an export makes is older than its parents, so it is looked for among younger ones first; a person
    whose clock was wrong may have made others.
    """
    oldest = _time(raw_object(objects, COMMIT, ancestor, "sessions"))
    return _is_above(objects, commit, ancestor, oldest) or _is_above(objects, commit, ancestor, 0)


def _is_above(objects: DiskObjectStore, commit: bytes, ancestor: bytes, oldest: int) -> bool:
    """Whether one is found among the commits that are above another and not older than some time in seconds."""
    seen = {commit}
    waiting = [commit]
    while waiting:
        try:
            raw = raw_object(objects, COMMIT, waiting.pop(), "sessions")
        except StreamDamaged:  # where a shallow clone ends
            continue
        if _time(raw) < oldest:
            continue
        for parent in _parents(raw):
            if parent == ancestor:
                return True
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False


def _parents(raw: bytes) -> Iterator[bytes]:
    for found in _PARENT.finditer(raw.partition(b"\n\n")[0]):
        yield bytes.fromhex(found[1].decode())


def _time(raw: bytes) -> int:
    """Return the date of a commit's committer, in seconds."""
    for line in raw.partition(b"\n\n")[0].split(b"\n"):
        if line.startswith(b"committer "):
            words = line.split(b" ")
            if len(words) > 2 and words[-2].isdigit():
                return min(int(words[-2]), LATEST_TIME)
    return 0
