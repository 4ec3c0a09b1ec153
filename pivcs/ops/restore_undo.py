"""Taking back a restore, and doing it again: every file as it was, byte for byte, with its mode.

Nothing is done unless every file is as the operation left it, or as it was before (of a restore that was stopped some
files never changed). What is overwritten by it is in the store already, so nothing more need be kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.errors import StateError
from pivcs.ops.operations import Undone
from pivcs.ops.restore_apply import carry_out, clean_up, is_at, settle, temporary_name
from pivcs.ops.work_tree import Found, SomebodyWasFaster, WorkTree
from pivcs.store.errors import StoreDamaged
from pivcs.store.kept import CHANGED, DONE, FAILED, KeptFile, KeptStore, KeptTree
from pivcs.store.refs import Operation, RefChange
from pivcs.store.store import Store

_NAMED = 8
"""Files that a message names; the others are counted."""


class FilesChanged(StateError):
    """Files are not as a restore left them. `paths` are all of them, relative to the directory."""

    def __init__(self, message: str, paths: list[str], hint: str) -> None:
        super().__init__(message, hint=hint)
        self.paths = paths


def turn_files(store: Store, operation: Operation, change: RefChange, kind: str, now: int) -> Undone:
    """Put files back as they were before a restore, or with the kind `redo` as it left them.

    Raises `FilesChanged` when some have changed since, `StateError` when not all could be written (what is left can be
    done by saying it again), `NoDirectoryThere`, `TreeInUse`.
    """
    kept, forward = KeptStore(store.database), kind == "redo"
    about = _tree_of(store, kept, operation)
    with WorkTree(about.root) as tree, tree.alone():
        clean_up(store, tree)
        files = [each for each in kept.files(operation.id) if not forward or each.outcome not in (CHANGED, FAILED)]
        todo, moved = _sorted_out(kept, tree, files, forward=forward)
        if moved:
            has = "has" if len(moved) == 1 else "have"
            raise FilesChanged(
                f"cannot {kind} '{operation.command}': {_listed(moved)} {has} changed since, so nothing was done",
                moved,
                f"move what changed away; `pivcs undo {operation.id} --dest DIR` writes the old files elsewhere",
            )
        with store.writing():
            kept.set_busy(operation.id, True)
        outcomes = carry_out(kept, tree, todo, about.token, forward=forward)
        left = [each for each in todo if outcomes.get(each.place, (None,))[0] != DONE]
        if left:
            settle(store, operation.id, {})
            reasons = sorted({outcomes[each.place][1] or "" for each in left if each.place in outcomes})
            paths = [_shown(each) for each in left]
            raise FilesChanged(
                f"cannot {kind} all of '{operation.command}': {_listed(paths)} ({'; '.join(filter(None, reasons))})",
                paths,
                f"`pivcs {kind}` again goes on with what is left",
            )
        with store.writing():
            kept.set_busy(operation.id, False)
            store.refs.add_operation(now, kind, f"{kind} {operation.command}", [change], operation.id)
    return Undone(operation, (change,))


def _tree_of(store: Store, kept: KeptStore, operation: Operation) -> KeptTree:
    about = kept.tree(operation.id)
    if about is None:
        raise StoreDamaged(store.database.where, f"operation {operation.id} has no kept files")
    return about


def _sorted_out(
    kept: KeptStore, tree: WorkTree, files: list[KeptFile], *, forward: bool
) -> tuple[list[KeptFile], list[str]]:
    """Return the steps that are to be done, and the paths of files that are in neither of their two states.

    A file that the restore itself did not touch need be in neither.
    """
    todo: list[KeptFile] = []
    moved: list[str] = []
    for file in files:
        if file.old.is_directory or file.new.is_directory:
            todo.append(file)
            continue
        found = tree.look(file.path)
        if is_at(kept, found, file.old) or is_at(kept, found, file.new):
            todo.append(file)
        elif file.outcome not in (CHANGED, FAILED):
            moved.append(_shown(file))
    return todo, moved


def _shown(file: KeptFile) -> str:
    return file.path.decode("utf-8", "backslashreplace")


def _listed(paths: list[str]) -> str:
    named = ", ".join(f"'{path}'" for path in paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def write_kept(store: Store, operation: int, directory: Path) -> list[str]:
    """Write the files that a restore replaced or deleted into a new or empty directory, as they were.

    Returns their paths. Raises `StateError` when the operation kept no files or the directory is not empty; `OSError`.
    """
    kept = KeptStore(store.database)
    about = kept.tree(operation)
    if about is None:
        raise StateError(f"operation {operation} kept no files", hint="`pivcs op log` shows what was done")
    written: list[str] = []
    make_empty(directory)
    with WorkTree(os.fsencode(directory)) as tree:
        for file in kept.files(operation):
            if file.old.mode is None or file.old.content is None:
                continue
            names = file.path.split(b"/")
            for count in range(1, len(names)):
                tree.make_directory(b"/".join(names[:count]), 0o777)
            name = temporary_name(about.token, file.place)
            try:
                tree.put(file.path, file.old.mode, kept.read(file.old.content), Found("nothing"), name)
            except SomebodyWasFaster as error:
                raise StateError(f"'{directory}' was changed by somebody else meanwhile") from error
            written.append(_shown(file))
    return sorted(written)


def make_empty(directory: Path) -> None:
    """Make a directory unless there is one that is empty. Raises `StateError`."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise StateError(f"cannot use '{directory}': {(error.strerror or str(error)).lower()}") from error
    if taken:
        raise StateError(f"'{directory}' is not empty", hint="name a directory that is new or empty")
