"""Letting refs name review commits: what may move, and what somebody else has moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pivcs.gitbridge.destination import Destination, Moved, RefUpdate
from pivcs.gitbridge.objects import COMMIT
from pivcs.gitbridge.ref_names import LABELS, TAGS
from pivcs.gitbridge.review_targets import Tip
from pivcs.gitbridge.reviewing import Reviewed
from pivcs.gitbridge.stored_objects import ObjectMissing, StoredObjects
from pivcs.ops.merge_base import is_ancestor

_OURS = b"Pivcs-Node: "


def move_refs(
    destination: Destination, streams: Sequence[Reviewed], reviewed: Reviewed, updates: Sequence[RefUpdate],
    parted: Mapping[str, Sequence[Tip]], stored: StoredObjects, *, force: bool,
) -> list[Moved]:  # fmt: skip
    """Let refs name the commits of one of a session's streams. A branch only goes forward, labels and tags from one of
    our commits to another; what is otherwise is left, and told, unless `force`. A branch that has `parted` stays where
    it is on the path to any of its ends. Raises `RefsNotWritten`."""

    def row_of(commit: bytes) -> int | None:
        return reviewed.commits.row_of(commit)

    def may_move(name: str, old: bytes, new: bytes) -> bool:
        if force:
            return True
        if name.startswith("refs/tags/") or any(f"/{folder}/" in name for folder in (LABELS, TAGS)):
            return any(each.commits.row_of(old) is not None for each in streams)
        before, after = row_of(old), row_of(new)
        return before is not None and after is not None and is_ancestor(reviewed.view, before, after)

    known = destination.refs()
    stay = [each for each in updates if _is_on(known.get(each.name), streams, parted.get(each.name, ()))]
    done = destination.move([each for each in updates if each not in stay], may_move)
    moved = [_explained(each, stored) for each in done]
    return [*moved, *(Moved(each.name, "same", known[each.name], known[each.name]) for each in stay)]


def _explained(moved: Moved, stored: StoredObjects) -> Moved:
    """Return what became of a ref, told apart where it names a commit of an export that was made in another way."""
    if moved.reason != "moved" or moved.old is None:
        return moved
    try:
        message = stored.read(COMMIT, moved.old)
    except ObjectMissing:
        return moved
    return moved._replace(reason="other export") if message.rsplit(b"\n\n", 1)[-1].startswith(_OURS) else moved


def _is_on(commit: bytes | None, streams: Sequence[Reviewed], ends: Sequence[Tip]) -> bool:
    """Whether a commit is on the path to one of some ends."""
    if commit is None:
        return False
    for stream in streams:
        row = stream.commits.row_of(commit)
        if row is not None and any(
            end.view is stream.view and is_ancestor(stream.view, row, end.row) for end in ends
        ):
            return True
    return False
