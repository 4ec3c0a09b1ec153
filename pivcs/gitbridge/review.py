"""Review commits: one for each node of a session, made of the node and its parent's commit alone, so that all sessions
that share a node share its commit.

A commit's tree has the project's files as they are known there, and the page of the turn with what was said; so `git
show` of it is a piece of conversation beside the change that it made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple

from pivcs.gitbridge.deltas import splice_delta
from pivcs.gitbridge.objects import BLOB, COMMIT, FILE_MODE, Identity, commit_bytes, seconds
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.review_page import page_piece
from pivcs.gitbridge.review_paths import file_place, page_place, state_place
from pivcs.gitbridge.review_text import message_of, plain
from pivcs.gitbridge.trees import EMPTY, Change, Tree, changed
from pivcs.ops.log import ends_turn
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT
from pivcs.session.entries import Entry
from pivcs.workspace import state as files
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import FilePath, FileState

PAGE_ENTRIES: Final = 50
PAGE_BYTES: Final = 64 << 10
"""A turn goes on with the next page after so many entries or bytes."""

USER: Final = b"user"
TOOLS: Final = b"pivcs"
_DOMAIN: Final = b"pivcs.invalid"


class Written(NamedTuple):
    """The commit of a node, and the files that the node changed or told of."""

    row: int
    commit: bytes
    files: tuple[FilePath, ...]


class _Blob(NamedTuple):
    """What is in the tree of a file, kept so that the next version can be a delta."""

    ident: bytes
    content: bytes


class _Path:
    """What is known at one node of a path: the commit, its tree, the files, and the page that the turn is at."""

    __slots__ = ("blobs", "commit", "committed", "entries", "page", "part", "replay", "time", "tree", "turn")

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.commit: bytes | None = None
        self.tree: Tree = EMPTY
        self.blobs: dict[FilePath, _Blob] = {}
        self.time = 0
        self.committed = 0
        self.turn = 0
        self.part = 0
        self.entries = 0
        self.page: _Blob | None = None

    def fork(self) -> _Path:
        """Return a copy for another child."""
        copy = _Path(self.replay.fork())
        for name in self.__slots__:
            if name not in ("replay", "blobs"):
                setattr(copy, name, getattr(self, name))
        copy.blobs = self.blobs.copy()
        return copy


def write_review(view: SessionView, writer: PackWriter, tips: Collection[int] | None = None) -> Iterator[Written]:
    """Add the commits of a session's nodes to a pack, and yield them in file order.

    With `tips` those of the paths to these nodes alone. As many trees and files live as there are paths that may still
    go on. Raises `NotWritten`.
    """
    wanted = None if tips is None else _above(view, tips)
    for row, path in walk_tree(view, lambda: _Path(Replay(view.header.cwd)), _Path.fork):
        if wanted is not None and not wanted[row]:
            continue
        touched = _advance(view, writer, row, path)
        assert path.commit is not None
        yield Written(row, path.commit, touched)


def _above(view: SessionView, tips: Collection[int]) -> bytearray:
    """Return for each row whether it is on the path to one of some nodes."""
    found = bytearray(len(view.table))
    for tip in tips:
        at: int | None = tip
        while at is not None and not found[at]:
            found[at] = 1
            at = view.table.parent_of(at)
    return found


def _advance(view: SessionView, writer: PackWriter, row: int, path: _Path) -> tuple[FilePath, ...]:
    """Bring a path up to a node, whose commit is then `path.commit`; return the files that the node is about."""
    table = view.table
    value = view.value(row)
    entry = Entry(value)
    call = view.call_of(row) if table.code[row] == TOOL_RESULT else None
    told = path.replay.apply(row, entry)
    changes = [
        change
        for done in told
        for change in _file_changes(view, writer, path, done.path, done.after)
    ]
    changes.append(_page_change(writer, path, page_piece(value, call, table.name(row))))
    path.tree = changed(writer, path.tree, changes)
    time = table.time_of(row)
    path.time = path.time if time is None else seconds(time)
    path.committed = max(path.committed, path.time)
    message = message_of(value, call, table.object_id(row), table.name(row), None)
    author = _author(entry, table.code[row], path.time)
    committer = Identity(TOOLS, TOOLS + b"@" + _DOMAIN, path.committed)
    parents = [] if path.commit is None else [path.commit]
    path.commit = writer.add(COMMIT, commit_bytes(path.tree.ident, parents, author, committer, message))
    if ends_turn(view, row):
        path.turn += 1
        path.part, path.entries, path.page = 0, 0, None
    return tuple(done.path for done in told)


def _file_changes(
    view: SessionView, writer: PackWriter, path: _Path, file: FilePath, state: FileState
) -> Iterator[Change]:
    """Yield what a change of a file is in the tree: the content that is known, and how it is known."""
    known = path.blobs.get(file)
    if state.content is not None and (known is None or known.content != state.content):
        blob = _added(writer, state.content, known)
        path.blobs[file] = blob
        yield file_place(file), (FILE_MODE, blob.ident)
    elif state.content is None and state.is_exact and known is not None:
        del path.blobs[file]
        yield file_place(file), None
    told = _state_text(view, state)
    yield state_place(file), (FILE_MODE, writer.add(BLOB, told))


def _added(writer: PackWriter, content: bytes, old: _Blob | None) -> _Blob:
    if old is None:
        return _Blob(writer.add(BLOB, content), content)
    front, back = _common(old.content, content)
    delta = splice_delta(len(old.content), front, len(old.content) - back, content[front : len(content) - back])
    return _Blob(writer.add(BLOB, content, old.ident, delta), content)


def _common(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes two contents have in common at their beginning, and behind that at their end."""
    shortest = min(len(old), len(new))
    front = _matching(lambda size: old[:size] == new[:size], shortest)
    rest = shortest - front
    back = _matching(lambda size: old[len(old) - size :] == new[len(new) - size :], rest)
    return front, back


def _matching(holds: Callable[[int], bool], most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _state_text(view: SessionView, state: FileState) -> bytes:
    """Return how a file is known, as lines of text."""
    lines = [f"path: {plain(state.path.text)}".replace("\n", " ")]
    absent = state.is_exact and state.content is None
    lines.append(f"known: {state.provenance.value}" + (" (it does not exist)" if absent else ""))
    if state.changed_at is not None:
        lines.append(f"changed by: {plain(view.table.name(state.changed_at))}")
    if state.provenance is files.Provenance.UNKNOWN and state.unknown_since is not None:
        lines.append(f"may have changed since: {plain(view.table.name(state.unknown_since))}")
    if state.patches:
        lines.append(f"changes of which the whole file is not known: {len(state.patches)}")
    return ("\n".join(lines) + "\n").encode()


def _page_change(writer: PackWriter, path: _Path, piece: str) -> Change:
    """Add an entry's piece to the page of its turn, or begin the next page."""
    data = piece.encode()
    if path.page is not None and (path.entries >= PAGE_ENTRIES or len(path.page.content) >= PAGE_BYTES):
        path.part += 1
        path.entries, path.page = 0, None
    if path.page is None:
        path.page = _Blob(writer.add(BLOB, data), data)
    else:
        old = path.page
        delta = splice_delta(len(old.content), len(old.content), len(old.content), data)
        content = old.content + data
        path.page = _Blob(writer.add(BLOB, content, old.ident, delta), content)
    path.entries += 1
    return page_place(path.turn, path.part), (FILE_MODE, path.page.ident)


def _author(entry: Entry, code: int, time: int) -> Identity:
    """Return who made an entry: a fixed identity for people and programs, the model for answers."""
    message = entry.message
    if code == ASSISTANT and message is not None:
        model, provider = plain(message.model or "model"), plain(message.provider or "provider")
        return Identity(model.encode(), f"{model}@{provider}.".encode() + _DOMAIN, time)
    name = USER if message is not None and message.role in ("user", "bashExecution") else TOOLS
    return Identity(name, name + b"@" + _DOMAIN, time)
