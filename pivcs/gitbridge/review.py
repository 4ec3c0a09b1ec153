"""Review commits: of each node of a session, made of the node and its parent's commit alone, so that all sessions that
share a node share its commit.

A commit's tree has the project's files as they are known there, and the page of the turn with what was said; so `git
show` of it is a piece of conversation beside the change that it made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import compress
from typing import Final, NamedTuple

from pivcs.gitbridge.deltas import splice_delta
from pivcs.gitbridge.objects import BLOB, COMMIT, FILE_MODE, TREE, Identity, ObjectSink, commit_bytes, seconds
from pivcs.gitbridge.review_images import images_of
from pivcs.gitbridge.review_options import DOMAIN, PLAIN, TOOLS, Granularity, ReviewOptions
from pivcs.gitbridge.review_page import page_piece
from pivcs.gitbridge.review_path import Blob, Draft, ReviewPath
from pivcs.gitbridge.review_paths import file_place, image_place, page_place, state_place
from pivcs.gitbridge.review_text import message_of, plain, said_of, turn_message
from pivcs.gitbridge.trees import Change, changed
from pivcs.ops.log import ends_turn
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.session.blocks import ToolCall
from pivcs.session.codes import ASSISTANT, TOOL_RESULT
from pivcs.session.entries import Entry
from pivcs.workspace import state as files
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import FilePath, FileState

PAGE_ENTRIES: Final = 50
PAGE_BYTES: Final = 64 << 10
"""A turn goes on with the next page after so many entries or bytes."""


class Written(NamedTuple):
    """The commit that stands for a node, and the files that the node changed or told of. `commit` is None before the
    first turn has ended, where only turns have commits. `path` is what is known there, until the next one is asked
    for."""

    row: int
    commit: bytes | None
    files: tuple[FilePath, ...]
    path: ReviewPath


Root = Callable[[], ReviewPath]
"""Makes what is known before the first entry of a path."""


def write_review(
    view: SessionView,
    writer: ObjectSink,
    tips: Collection[int] | None = None,
    options: ReviewOptions = PLAIN,
    root: Root | None = None,
    start: Mapping[int, ReviewPath] | None = None,
) -> Iterator[Written]:
    """Add the commits of a session's nodes to a pack, and yield them in file order.

    With `tips` those of the paths to these nodes alone. As many trees and files live as there are paths that may still
    go on. `root` is where paths begin when there is a base; `start` has what is known at nodes that have their commits
    already, and what is above these is not looked at. Raises `NotWritten`.
    """
    reviewer = Reviewer(view, writer, options)
    above = None if tips is None else rows_above(view, tips, start if start is not None else ())
    rows = None if above is None else list(compress(range(len(above)), above))
    for row, path in walk_tree(view, root or reviewer.root, ReviewPath.fork, rows, start):
        yield reviewer.advance(row, path)


def rows_above(view: SessionView, tips: Collection[int], known: Collection[int] = ()) -> bytearray:
    """Return for each row whether it is on the path to one of some nodes, below all nodes that are `known`."""
    found = bytearray(len(view.table))
    for tip in tips:
        at: int | None = tip
        while at is not None and not found[at] and at not in known:
            found[at] = 1
            at = view.table.parent_of(at)
    return found


class Reviewer:
    """Makes the review commits of one session."""

    def __init__(self, view: SessionView, writer: ObjectSink, options: ReviewOptions = PLAIN) -> None:
        self._view = view
        self._writer = writer
        self._options = options
        self._prefix = tuple(part.encode("utf-8", "surrogateescape") for part in options.prefix.split("/") if part)

    def root(self) -> ReviewPath:
        """Return what is known before the first entry of a path, without a base. Merges of prompts need something that
        the first one goes on from: an empty commit, the same for all sessions."""
        path = ReviewPath(Replay(self._view.header.cwd))
        if self._options.granularity is Granularity.PROMPTS:
            who = Identity(TOOLS, TOOLS + b"@" + DOMAIN, 0)
            tree = self._writer.add(TREE, b"")
            path.commit = self._writer.add(COMMIT, commit_bytes(tree, [], who, who, b"before the first prompt\n"))
        return path

    def advance(self, row: int, path: ReviewPath) -> Written:
        """Bring a path up to a node, and add its commits to the pack."""
        view, table = self._view, self._view.table
        granularity = self._options.granularity
        value = view.value(row)
        entry = Entry(value)
        call = view.call_of(row) if table.code[row] == TOOL_RESULT else None
        told = path.replay.apply(row, entry)
        for done in told:
            self._draft_file(path, done.path, done.after)
        images = tuple(images_of(value))
        for image in images:
            if image is not None:
                path.drafts[image_place(image.name)] = Draft(image.data)
        _draft_page(path, page_piece(value, call, table.name(row), images))
        time = table.time_of(row)
        path.time = path.time if time is None else seconds(time)
        ends = ends_turn(view, row)
        if granularity is not Granularity.ENTRIES:
            path.said = (*path.said, said_of(value, call))
        if granularity is not Granularity.TURNS or ends:
            self._write_drafts(path)
        if granularity is not Granularity.TURNS:
            self._commit_entry(row, path, value, entry, call)
        if ends:
            if granularity is not Granularity.ENTRIES:
                self._commit_turn(row, path, value, entry)
            path.turn += 1
            path.part, path.entries, path.page, path.said = 0, 0, None, ()
        return Written(row, path.latest, tuple(done.path for done in told), path)

    def _commit_entry(self, row: int, path: ReviewPath, value: object, entry: Entry, call: ToolCall | None) -> None:
        table = self._view.table
        message = message_of(value, call, table.object_id(row), table.name(row), self._options.base)
        commit = self._commit(row, path, [path.latest], entry, message)
        if self._options.granularity is Granularity.PROMPTS:
            path.step = commit
        else:
            path.commit = commit

    def _commit_turn(self, row: int, path: ReviewPath, value: object, entry: Entry) -> None:
        table = self._view.table
        message = turn_message(path.said, value, table.object_id(row), table.name(row), self._options.base)
        path.commit, path.step = self._commit(row, path, [path.commit, path.step], entry, message), None

    def _commit(
        self, row: int, path: ReviewPath, parents: list[bytes | None], entry: Entry, message: bytes
    ) -> bytes:
        path.committed = max(path.committed, path.time)
        author = self._author(entry, self._view.table.code[row], path.time)
        committer = Identity(TOOLS, TOOLS + b"@" + DOMAIN, path.committed)
        known = [parent for parent in parents if parent is not None]
        return self._writer.add(COMMIT, commit_bytes(path.tree.ident, known, author, committer, message))

    def _author(self, entry: Entry, code: int, time: int) -> Identity:
        """Return who made an entry: a fixed identity for people and programs, the model for answers."""
        message = entry.message
        if code == ASSISTANT and message is not None:
            model, provider = plain(message.model or "model"), plain(message.provider or "provider")
            return Identity(model.encode(), f"{model}@{provider}.".encode() + DOMAIN, time)
        if message is not None and message.role in ("user", "bashExecution"):
            return Identity(*self._options.person, time)
        return Identity(TOOLS, TOOLS + b"@" + DOMAIN, time)

    def _draft_file(self, path: ReviewPath, file: FilePath, state: FileState) -> None:
        """Note what a change of a file is in the tree: the content that is known, and how it is known."""
        place = file_place(file, self._prefix)
        known = path.blobs.get(file)
        draft = path.drafts.get(place)
        before = draft.content if draft is not None else known.content if known is not None else None
        if state.content is not None and before != state.content:
            path.drafts[place] = Draft(state.content, known, file)
        elif state.content is None and state.is_exact and (before is not None or self._options.base is not None):
            path.drafts[place] = Draft(None, known, file)
        path.drafts[state_place(file)] = Draft(_state_text(self._view, state))

    def _write_drafts(self, path: ReviewPath) -> None:
        """Add what was noted to the pack, and make the tree that has it."""
        changes: list[Change] = []
        for place, draft in path.drafts.items():
            if draft.content is None:
                changes.append((place, None))
            else:
                blob = _added(self._writer, draft.content, draft.before)
                changes.append((place, (FILE_MODE, blob.ident)))
                if draft.file is not None:
                    path.blobs[draft.file] = blob
                elif place == page_place(path.turn, path.part):
                    path.page = blob
            if draft.content is None and draft.file is not None:
                path.blobs.pop(draft.file, None)
        path.tree = changed(self._writer, path.tree, changes)
        path.drafts = {}


def _draft_page(path: ReviewPath, piece: str) -> None:
    """Add an entry's piece to the page of its turn, or begin the next page."""
    place = page_place(path.turn, path.part)
    draft = path.drafts.get(place)
    text = draft.content if draft is not None else path.page.content if path.page is not None else None
    if text is not None and (path.entries >= PAGE_ENTRIES or len(text) >= PAGE_BYTES):
        path.part += 1
        path.entries, path.page, text = 0, None, None
        place = page_place(path.turn, path.part)
    path.drafts[place] = Draft((text or b"") + piece.encode(), path.page)
    path.entries += 1


def _added(writer: ObjectSink, content: bytes, old: Blob | None) -> Blob:
    if old is None:
        return Blob(writer.add(BLOB, content), content)
    if content.startswith(old.content):
        front, back = len(old.content), 0
    else:
        front, back = _common(old.content, content)
    delta = splice_delta(len(old.content), front, len(old.content) - back, content[front : len(content) - back])
    return Blob(writer.add(BLOB, content, old.ident, delta), content)


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
