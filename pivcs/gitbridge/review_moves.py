"""Letting refs name review commits: what may move, and what somebody else has moved."""

from __future__ import annotations

from collections.abc import Sequence

from pivcs.gitbridge.destination import Destination, Moved, RefUpdate
from pivcs.gitbridge.ref_names import LABELS, TAGS
from pivcs.gitbridge.reviewing import Reviewed
from pivcs.ops.merge_base import is_ancestor


def move_refs(
    destination: Destination, reviewed: Reviewed, updates: Sequence[RefUpdate], *, force: bool
) -> list[Moved]:
    """Let refs name the commits of a stream. A branch only goes forward, labels and tags from one of our commits to
    another; what is otherwise is left, and told, unless `force`. Raises `RefsNotWritten`."""

    def may_move(name: str, old: bytes, new: bytes) -> bool:
        if force:
            return True
        before, after = reviewed.commits.row_of(old), reviewed.commits.row_of(new)
        if before is None:
            return False
        is_branch = not name.startswith("refs/tags/") and not any(f"/{folder}/" in name for folder in (LABELS, TAGS))
        return not is_branch or (after is not None and is_ancestor(reviewed.view, before, after))

    return destination.move(updates, may_move)
