"""What the entries of a log did to files: `log -p`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from pivcs.ops.changes_at import changes_at
from pivcs.ops.view import SessionView
from pivcs.render.diff_text import change_lines, diff_lines
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.workspace.base import Base
from pivcs.workspace.state import Change, FilePath

Patches = Mapping[int, list[str]]
"""The lines to be shown under an entry, by its row."""


class Chosen(NamedTuple):
    """Which changes are shown: under which row those of each row are, and of which files."""

    owners: Mapping[int, int]
    wants: Callable[[FilePath], bool]


def patches_of(view: SessionView, chosen: Chosen, base: Base | None, looks: Looks) -> Patches:
    """Return the lines of the diffs of entries. Only the text is held, no content of a file."""
    found: dict[int, list[str]] = {}
    for owner, change in _changes(view, chosen, base):
        lines = list(change_lines(change, looks))
        if lines:
            found.setdefault(owner, []).extend(lines)
    return found


def _changes(view: SessionView, chosen: Chosen, base: Base | None) -> Iterator[tuple[int, Change]]:
    for change in changes_at(view, chosen.owners.keys(), base):
        if chosen.wants(change.path):
            yield chosen.owners[change.row], change


def under(block: Iterable[str], rows: Iterable[int], patches: Patches) -> list[str]:
    """Return the lines of an entry or a turn with the diffs of its rows below it."""
    lines = list(block)
    for row in rows:
        if row in patches:
            lines += ["", *patches[row]]
    return lines


def change_documents(view: SessionView, chosen: Chosen, base: Base | None) -> dict[int, list[Document]]:
    """Return what entries did to files as documents, by row."""
    found: dict[int, list[Document]] = {}
    for owner, change in _changes(view, chosen, base):
        if change.kind in ("write", "edit", "unseen"):
            found.setdefault(owner, []).append(_document(change))
    return found


def _document(change: Change) -> Document:
    before, after = change.before, change.after
    known = after.is_exact
    patch: str | None = None
    if known:
        old = before.content if before is not None else None
        text = b"".join(line.text + b"\n" for line in diff_lines(change.path, old, after.content))
        patch = text.decode("utf-8", "replace")
    elif after.patches:
        patch = after.patches[-1]
    return {
        "path": change.path.text,
        "inside": change.path.inside,
        "kind": change.kind,
        "exact": known,
        "before_known": before is not None and before.is_exact,
        "patch": patch,
    }
