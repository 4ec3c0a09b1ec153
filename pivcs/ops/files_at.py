"""The files that are known at an entry, and one file at an entry: `REV:PATH`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from pivcs.errors import InputError
from pivcs.ops.replaying import replay_path
from pivcs.ops.revision import Resolver, Target, UnknownRevision
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base
from pivcs.workspace.paths import file_path
from pivcs.workspace.state import FilePath, FileState, Provenance


class NoFileThere(InputError):
    """A file does not exist at an entry, or nothing is known of it there."""


class FileRevision(NamedTuple):
    """`REV:PATH`: an entry, and the path behind the colon as it was typed."""

    target: Target
    path: str


def files_at(
    view: SessionView,
    row: int,
    base: Base | None,
    paths: Sequence[FilePath] = (),
    *,
    snapshots: Mapping[int, Base] | None = None,
) -> list[FileState]:
    """Return what is known of the files at an entry, those outside of the working directory last.

    Files that are only in the nearest snapshot on the way to the entry are among them.

    With `paths` only of these: a file, a directory, or a pattern as in a shell. Raises `NoFileThere` for one that names
    nothing known.
    """
    met = replay_path(view, row, base, snapshots=snapshots)
    states = sorted(_with_snapshot(met, snapshots or {}).values(), key=lambda each: (not each.path.inside, each.path))
    if not paths:
        return states
    for path in paths:
        if not any(names(path, state.path) for state in states):
            raise NoFileThere(
                f"nothing is known of '{path.text}' at '{view.table.name(row)}'",
                hint="`pivcs files` without a path lists all that is known",
            )
    return [state for state in states if any(names(path, state.path) for path in paths)]


def _with_snapshot(met: dict[FilePath, FileState], snapshots: Mapping[int, Base]) -> dict[FilePath, FileState]:
    """Return states with those of files that no entry met, but that are in the last of some snapshots."""
    if not snapshots:
        return met
    row = max(snapshots)
    base = snapshots[row]
    found = dict(met)
    for text in base.paths():
        path = FilePath(text, inside=True)
        if path not in met and (file := base.read(text)) is not None and not file.symlink:
            found[path] = FileState(path, Provenance.SNAPSHOT, file.content, row, base=base.label)
    return found


def names(wanted: FilePath, path: FilePath) -> bool:
    """Whether a path that was typed names a file: it is the file, a directory above it, or a pattern that fits."""
    if wanted.inside != path.inside:
        return False
    return (
        wanted.text in (".", path.text)
        or path.text.startswith(wanted.text.rstrip("/") + "/")
        or fnmatchcase(path.text, wanted.text)
    )


def file_at(
    view: SessionView,
    row: int,
    path: FilePath,
    base: Base | None,
    *,
    snapshots: Mapping[int, Base] | None = None,
) -> FileState:
    """Return what is known of one file at an entry; one that the session never met comes from snapshot or base.

    Raises `NoFileThere` when it is known not to exist, and when nothing is known of it.
    """
    state = _with_snapshot(replay_path(view, row, base, snapshots=snapshots), snapshots or {}).get(path)
    name = view.table.name(row)
    if state is None:
        found = base.read(path.text) if base is not None and path.inside else None
        if found is None or base is None:
            raise NoFileThere(
                f"nothing is known of '{path.text}' at '{name}'", hint=f"`pivcs files {name}` lists what is known"
            )
        return FileState(path, Provenance.WHOLE, found.content, row, base=base.label)
    if state.is_exact and state.content is None:
        raise NoFileThere(f"'{path.text}' does not exist at '{name}'")
    return state


def file_revision(view: SessionView, text: str) -> FileRevision | None:
    """Return what `REV:PATH` names, None for a text that is no such thing.

    A text that is a revision as a whole, as labels with colons and `:/text` are, is no file. Else the first colon with
    a revision before it counts; nothing before it is HEAD.
    """
    if ":" not in text or text.startswith(":/"):
        return None
    resolver = Resolver(view)
    if _target(resolver, text) is not None:
        return None
    for at, sign in enumerate(text):
        if sign != ":":
            continue
        target = _target(resolver, text[:at] or "HEAD")
        if target is not None:
            return FileRevision(target, text[at + 1 :])
    return None


def _target(resolver: Resolver, text: str) -> Target | None:
    try:
        return resolver.node(text)
    except UnknownRevision:
        return None


def paths_below(states: Iterable[FileState], path: FilePath) -> list[FileState]:
    """Return the states of the files that are in a directory."""
    return [state for state in states if state.path != path and names(path, state.path)]


def path_in(view: SessionView, typed: str) -> FilePath:
    """Return the file of a session that the path of `REV:PATH` means: it starts at the session's working directory."""
    return file_path(typed or ".", view.header.cwd)
