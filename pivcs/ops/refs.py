"""All names of a session as commands see them: branches, tags, labels, HEAD, and those of other streams."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from pivcs.objects.oid import ObjectId
from pivcs.ops.cat import sources_of
from pivcs.ops.labels import Labels
from pivcs.ops.view import SessionView
from pivcs.store.records import Stream
from pivcs.store.refs import Branch

HEAD: Final = "HEAD"


class Elsewhere(NamedTuple):
    """A name for a node of another stream: `2/b-1a2b3c4d` of the second source, `g1/main` of the first generation; or
    one that another store gave, `e244dbb7/try`, also to a node of this stream.

    `row` is its row in that stream. `store` is the id of the other store, None for names of this one; `is_tag` says
    that it is a tag there.
    """

    name: str
    stream: Stream
    row: int
    store: bytes | None = None
    is_tag: bool = False


class Refs:
    """The names of a session. Rows are rows of the view; `tags` name object ids, which another stream may have.

    `head` is the row of the last record, `head_branch` the branch that it is on, None when it is detached.
    """

    def __init__(self, view: SessionView, branches: tuple[Branch, ...], tags: dict[str, ObjectId]) -> None:
        self._view = view
        self.branches = branches
        self.tags = tags
        self.head = view.head
        self.head_branch = _head_branch(view, branches)

    @property
    def labels(self) -> Labels:
        """Labelled rows and their labels."""
        return self._view.labels

    @cached_property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        """Names for what is only in older generations and other sources; looking for them reads all of these."""
        if self._view.store is None or self._view.stream is None:
            return ()
        return tuple(_elsewhere(self._view, {branch.name for branch in self.branches}))

    @property
    def branches_elsewhere(self) -> tuple[Elsewhere, ...]:
        """Those of `elsewhere` that are branches."""
        return tuple(each for each in self.elsewhere if not each.is_tag)

    @property
    def tags_elsewhere(self) -> tuple[Elsewhere, ...]:
        """Tags that other stores have set; nothing is read where these gave no name to the session."""
        store, stream = self._view.store, self._view.stream
        if store is None or stream is None or stream.session is None or not any(store.remote.names(stream.session)):
            return ()
        return tuple(each for each in self.elsewhere if each.is_tag)

    @cached_property
    def _names_at(self) -> dict[int, list[str]]:
        names: dict[int, list[str]] = {}
        for branch in self.branches:
            names.setdefault(branch.row, []).append(branch.name)
        return names

    @cached_property
    def _tags_at(self) -> dict[bytes, list[str]]:
        names: dict[bytes, list[str]] = {}
        for name, oid in self.tags.items():
            names.setdefault(oid.digest, []).append(name)
        return names

    def branch(self, name: str) -> Branch | None:
        """Return a branch by name."""
        return next((branch for branch in self.branches if branch.name == name), None)

    def branches_at(self, row: int) -> list[str]:
        """Return the names of the branches whose tip is a row."""
        return self._names_at.get(row, [])

    def tags_at(self, row: int) -> list[str]:
        """Return the names of the tags of a row's node."""
        return self._tags_at.get(self._view.table.digest(row), []) if self.tags else []


def refs_of(view: SessionView) -> Refs:
    """Return the names of a session: from the store, or without one what its lines say."""
    if view.store is None or view.stream is None:
        from pivcs.ops.branch_sync import follow_new

        moves, _ = follow_new(view.table)
        branches = sorted(moves.tips.values(), key=lambda branch: branch.name)
        tags: dict[str, ObjectId] = {}
    else:
        branches = [branch for branch in view.store.refs.branches(view.stream) if not branch.deleted]
        key = view.stream.session
        tags = {} if key is None else {name: ObjectId(oid) for name, oid in view.store.refs.tags(key).items()}
    return Refs(view, tuple(branches), tags)


def _head_branch(view: SessionView, branches: Sequence[Branch]) -> str | None:
    """Return the branch whose tip is HEAD's nearest conversation entry; automatic ones first, then by name."""
    at = view.table.conversation_ancestor(view.head) if view.head is not None else None
    found = [branch for branch in branches if branch.row == at]
    return min(found, key=lambda branch: (not branch.automatic, branch.name)).name if found else None


def _elsewhere(view: SessionView, taken: set[str]) -> list[Elsewhere]:
    """Return the names of older generations and other sources whose tips are not in this stream."""
    assert view.store is not None
    assert view.stream is not None
    found: list[Elsewhere] = []
    for stream in reversed(view.store.streams_of_source(view.stream.source)):
        if stream.generation < view.stream.generation:
            found += _parting(view, stream, f"g{stream.generation}/", taken)
    for number, stream in enumerate(sources_of(view.store, view.stream), 1):
        if stream.source != view.stream.source:
            found += _parting(view, stream, f"{number}/", set())
    from pivcs.ops.remote_names import names_of_others

    taken |= {each.name for each in found} | set(view.store.refs.tags(view.stream.session or b""))
    found += [Elsewhere(*each) for each in names_of_others(view, taken)]
    return found


def _parting(view: SessionView, stream: Stream, prefix: str, taken: set[str]) -> list[Elsewhere]:
    """Return the branches of another stream that have no relative in this one.

    Names that the user made keep their name where it is free; others get the prefix.
    """
    from pivcs.ops.relatives import find_relative

    assert view.store is not None
    stored = [branch for branch in view.store.refs.branches(stream) if not branch.deleted]
    if not stored:
        return []
    other = SessionView(view.store.table_of(stream), view.store.bytes_of(stream), "", stream.version1)
    found = []
    for branch in stored:
        if find_relative(other, branch.row, view) is not None:
            continue
        bare = not branch.automatic and prefix.startswith("g") and branch.name not in taken
        found.append(Elsewhere(branch.name if bare else prefix + branch.name, stream, branch.row))
        taken.add(found[-1].name)
    return found
