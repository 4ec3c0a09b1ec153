"""How the files of two entries differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pivcs.ops.replaying import Snapshots, replay_path
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base
from pivcs.workspace.state import Change, FilePath, FileState, Provenance

States = dict[FilePath, FileState]


class FileDiff(NamedTuple):
    """A file that differs, or may differ, between two entries.

    `status` is `added`, `deleted`, `modified`, or `unknown` where it cannot be told. `before` and `after` are what is
    known best, None where the file did not exist or nothing is known; `notes` say what is not exact, if anything.
    """

    path: FilePath
    status: str
    before: bytes | None
    after: bytes | None
    notes: tuple[str, ...]
    before_state: FileState | None
    after_state: FileState | None


def file_diffs(
    first: tuple[SessionView, int],
    second: tuple[SessionView, int],
    bases: tuple[Base | None, Base | None] = (None, None),
    names: tuple[str, str] = ("A", "B"),
    snapshots: tuple[Snapshots, Snapshots] = ({}, {}),
) -> list[FileDiff]:
    """Return the files that differ between two entries, which may be of two sessions, sorted by path.

    A file that only one side has met yet is taken, on the other side, as it was when it was first met. `names` are
    what notes call the two sides, `snapshots` those on the way to each.
    """
    before, met_before = _known(*first, bases[0], snapshots[0])
    after, met_after = _known(*second, bases[1], snapshots[1])
    paths = sorted({*before, *after}, key=lambda path: (not path.inside, path.text))
    found = []
    for path in paths:
        one = before.get(path) or met_after.get(path)
        two = after.get(path) or met_before.get(path)
        diff = _compared(path, one, two, names)
        if diff is not None:
            found.append(diff)
    return found


def _known(view: SessionView, row: int, base: Base | None, snapshots: Snapshots) -> tuple[States, States]:
    """Return what is known of files at an entry, and what they were when the path to it first met them."""
    met: States = {}

    def note(change: Change) -> None:
        told = change.before if change.kind in ("write", "edit") else change.after
        if told is not None:
            met.setdefault(change.path, told)

    return replay_path(view, row, base, met=note, snapshots=snapshots), met


def _compared(path: FilePath, one: FileState | None, two: FileState | None, names: tuple[str, str]) -> FileDiff | None:
    notes = tuple(note for state, name in ((one, names[0]), (two, names[1])) for note in _notes(state, name))
    before = None if one is None else one.content
    after = None if two is None else two.content
    if one is not None and two is not None and one == two:
        return None
    if one is not None and two is not None and one.is_exact and two.is_exact:
        if before == after:
            return None
        status = "added" if before is None else "deleted" if after is None else "modified"
        return FileDiff(path, status, before, after, (), one, two)
    if one is None and two is not None and two.is_exact and after is not None:
        return FileDiff(path, "added", None, after, (f"what it was at {names[0]} is not known",), None, two)
    if before is not None and before == after:
        # The same text was last known on both sides: what may have happened since is no difference that can be shown.
        return None
    return FileDiff(path, "unknown", before, after, notes, one, two)


def _notes(state: FileState | None, name: str) -> Iterable[str]:
    if state is None:
        yield f"nothing is known of it at {name}"
    elif state.provenance is Provenance.PATCH:
        yield f"only its changes are known at {name}"
    elif state.provenance is Provenance.UNKNOWN:
        yield f"something may have changed it before {name}; what was last known is shown"
