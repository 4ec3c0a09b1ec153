"""Exporting sessions to a repository of their own: review commits, branches, labels and tags, and the start page.

Objects come first, in one pack; refs last, so that whatever is cut short leaves a repository that git finds clean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit, ObjectID, Tree

from pivcs.gitbridge.destination import DEFAULT_BRANCH, Destination, Moved, RefUpdate
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.objects import (
    BLOB,
    COMMIT,
    FILE_MODE,
    TREE,
    TREE_MODE,
    Identity,
    commit_bytes,
    seconds,
    tree_bytes,
)
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.ref_names import branch_ref, label_ref, session_folder, tag_ref
from pivcs.gitbridge.review import write_review
from pivcs.gitbridge.review_options import TOOLS
from pivcs.gitbridge.start_page import (
    SUMMARY,
    SessionSummary,
    decode_summary,
    encode_summary,
    page,
    summary_of,
)
from pivcs.ops.merge_base import is_ancestor
from pivcs.ops.view import SessionView
from pivcs.workspace.state import FilePath

_README = b"README.md"


class Exported(NamedTuple):
    """A session in the repository: its folder, how many commits it has, and what became of its refs."""

    view: SessionView
    folder: str
    commits: int
    moved: tuple[Moved, ...]


class Export(NamedTuple):
    """What an export did: `objects` is how many were written, `page` what became of the branch `sessions`."""

    sessions: tuple[Exported, ...]
    objects: int
    page: Moved | None


def export(views: Sequence[SessionView], destination: Destination, *, force: bool = False) -> Export:
    """Export sessions. A ref that somebody else has moved is left and told, unless `force`.

    Raises `NotWritten`, `OtherHash`.
    """
    summaries = _known_sessions(destination)
    taken = {folder: bytes.fromhex(each.key) for folder, each in summaries.items()}
    planned: list[tuple[SessionView, str, dict[int, bytes], list[RefUpdate]]] = []
    with Existing(destination.objects) as existing, PackWriter(destination.objects, existing) as writer:
        for view in views:
            if view.key is None:
                continue
            folder = session_folder(view.header.timestamp, view.key.digest, taken)
            taken[folder] = view.key.digest
            touched: set[FilePath] = set()
            commits: dict[int, bytes] = {}
            targets = dict(_targets(view, folder))
            for written in write_review(view, writer, set(targets.values())):
                assert written.commit is not None
                commits[written.row] = written.commit
                touched.update(written.files)
            updates = [RefUpdate(name, commits[row]) for name, row in targets.items()]
            names = {
                branch.name: branch_ref(folder, branch.name).removeprefix(f"refs/heads/{folder}/")
                for branch in view.refs.branches
            }
            summaries[folder] = summary_of(view, folder, names, touched)
            planned.append((view, folder, commits, updates))
        start = _start_commit(destination, writer, summaries)
        count = len(writer)
        writer.finish()
        done = tuple(
            Exported(view, folder, len(commits), tuple(_move(destination, view, commits, updates, force=force)))
            for view, folder, commits, updates in planned
        )
        moved = _move_page(destination, start) if start is not None else None
        writer.release()
    return Export(done, count, moved)


def _targets(view: SessionView, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the refs of a session and the nodes that they name; of a label that several have, the last counts."""
    refs = view.refs
    for branch in refs.branches:
        yield branch_ref(folder, branch.name), branch.row
    for row, label in sorted(refs.labels.items()):
        yield label_ref(folder, label), row
    for name, oid in refs.tags.items():
        rows = view.table.rows_with_digest_prefix(oid.digest)
        if rows:
            yield tag_ref(folder, name), rows[0]


def _move(
    destination: Destination, view: SessionView, commits: dict[int, bytes], updates: list[RefUpdate], *, force: bool
) -> list[Moved]:
    rows = {commit: row for row, commit in commits.items()}

    def may_move(name: str, old: bytes, new: bytes) -> bool:
        """Branches go forward only; labels and tags may go from one of our commits to another."""
        if force:
            return True
        if old not in rows:
            return False
        is_branch = name.startswith("refs/heads/") and "/label/" not in name
        return not is_branch or is_ancestor(view, rows[old], rows[new])

    return destination.move(updates, may_move)


def _start_commit(
    destination: Destination, writer: PackWriter, summaries: dict[str, SessionSummary]
) -> bytes | None:
    """Add the commit of the start page; None when the page is as it was."""
    entries = [(FILE_MODE, _README, writer.add(BLOB, page(summaries)))]
    for folder, summary in summaries.items():
        blob = writer.add(BLOB, encode_summary(summary))
        tree = writer.add(TREE, tree_bytes([(FILE_MODE, SUMMARY.encode(), blob)]))
        entries.append((TREE_MODE, folder.encode(), tree))
    tree = writer.add(TREE, tree_bytes(entries))
    old = destination.refs().get(DEFAULT_BRANCH)
    before = _commit(destination, old) if old is not None else None
    if before is not None and before[0] == tree:
        return None
    time = max([seconds(each.time) for each in summaries.values()] + ([before[1]] if before is not None else []) + [0])
    who = Identity(TOOLS, TOOLS + b"@pivcs.invalid", time)
    count = len(summaries)
    message = f"sessions: {count} session{'s' * (count != 1)}\n".encode()
    return writer.add(COMMIT, commit_bytes(tree, [old] if old is not None else [], who, who, message))


def _move_page(destination: Destination, commit: bytes) -> Moved:
    return destination.move([RefUpdate(DEFAULT_BRANCH, commit)], lambda *_: True)[0]


def _commit(destination: Destination, ident: bytes) -> tuple[bytes, int] | None:
    """Return the tree and the time of a commit; None when it is not there."""
    with closing(DiskObjectStore(destination.objects)) as objects:
        try:
            found = objects[ObjectID(ident.hex().encode())]
        except KeyError:
            return None
        return (bytes.fromhex(found.tree.decode()), found.commit_time) if isinstance(found, Commit) else None


def _known_sessions(destination: Destination) -> dict[str, SessionSummary]:
    """Return the summaries of the sessions that the start page has, by their folders."""
    tip = destination.refs().get(DEFAULT_BRANCH)
    if tip is None:
        return {}
    found = {}
    with closing(DiskObjectStore(destination.objects)) as objects:
        commit = objects[ObjectID(tip.hex().encode())]
        tree = objects[commit.tree] if isinstance(commit, Commit) else None
        for entry in tree.items() if isinstance(tree, Tree) else ():
            inner = objects[entry.sha] if entry.sha is not None else None
            if isinstance(inner, Tree) and SUMMARY.encode() in inner and entry.path is not None:
                summary = decode_summary(objects[inner[SUMMARY.encode()][1]].as_raw_string())
                if summary is not None:
                    found[entry.path.decode()] = summary
    return found
