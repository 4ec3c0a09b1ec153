"""Restoring files as a plan says, so that every byte that goes can be brought back.

What will be overwritten or deleted is kept in the store first, in one transaction that is on the disk before any file
is touched. Then file after file is done. One that is not what the plan saw any more is left alone, as is one that the
system refuses; the rest goes on, but for errors that the next file would meet as well, like a full disk. A process that
is killed in the middle leaves an operation that says what it was about to do: `undo` compares every file with what it
was and what it was to be, and another restore goes on with what is left.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pivcs.errors import PivcsError, StateError
from pivcs.ops.access import CannotWrite
from pivcs.ops.restore_plan import PlannedFile, RestorePlan
from pivcs.ops.work_tree import Found, SomebodyWasFaster, WorkTree
from pivcs.store.kept import CHANGED, DONE, FAILED, NOTHING, PLANNED, Kept, KeptFile, KeptStore
from pivcs.store.refs import RefChange
from pivcs.store.store import Store

FILES: Final = "files"
"""What an operation of this kind says that it changed (`RefChange.ref`)."""
_HOPELESS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""Errors that the next file would meet, too."""


class NotRestored(StateError):
    """Some files could not be restored."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one file: `outcome` is `done`, `changed` (it was another one by then, and was left alone),
    `failed`, or `planned` (not tried any more); `reason` says why it is not done."""

    file: PlannedFile
    outcome: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What restoring has done, in the order of the plan. `operation` is None when there was nothing to do."""

    operation: int | None
    files: tuple[Restored, ...]

    @property
    def undone(self) -> int:
        """How many files were to be restored and are not."""
        return sum(restored.outcome != DONE for restored in self.files)


@dataclass(frozen=True, slots=True)
class Recording:
    """What an operation is recorded with: the session's key and stream, time, command, and a random token."""

    key: bytes
    stream: int
    now: int
    command: str
    token: str


def apply_restore(store: Store, plan: RestorePlan, tree: WorkTree, recording: Recording, umask: int) -> Applied:
    """Do what a plan says. Raises `TreeInUse`, `StoreBusy`, `StoreFull`, `StoreReadOnly`: then no file was touched."""
    kept = KeptStore(store.database)
    to_do = plan.to_do()
    with tree.alone():
        clean_up(store, tree)
        if not to_do:
            return Applied(None, ())
        lost: dict[str, Restored] = {}
        with store.writing():
            files, planned = _keep(kept, plan, to_do, tree, umask, lost)
            operation = None
            if files:
                change = RefChange(
                    recording.key, recording.stream, FILES, tree.root.decode("utf-8", "backslashreplace"),
                    None, _counts(planned.values()).encode(),
                )  # fmt: skip
                operation = store.refs.add_operation(recording.now, "user", recording.command, [change])
                kept.add_tree(operation, tree.root, recording.token, files)
        outcomes: dict[int, tuple[str, str | None]] = {}
        if operation is not None:
            outcomes = carry_out(kept, tree, files, recording.token, forward=True)
            settle(store, operation, outcomes)
    for place, file in planned.items():
        outcome, reason = outcomes.get(place, (PLANNED, None))
        lost[file.path.text] = Restored(file, outcome, reason)
    return Applied(operation, tuple(lost[file.path.text] for file in to_do))


def _keep(
    kept: KeptStore,
    plan: RestorePlan,
    to_do: Sequence[PlannedFile],
    tree: WorkTree,
    umask: int,
    lost: dict[str, Restored],
) -> tuple[list[KeptFile], dict[int, PlannedFile]]:
    """Keep what is there and what is to be there; returns the steps in their order, and the files that they are about.

    A file that is not what the plan saw is put into `lost` and gets no step.
    """
    steps: list[tuple[bytes, Kept, Kept, PlannedFile | None]] = []
    ready: list[tuple[PlannedFile, Kept]] = []
    for file in to_do:
        try:
            ready.append((file, _keep_old(kept, tree, file)))
        except SomebodyWasFaster:
            lost[file.path.text] = Restored(file, CHANGED, "it was changed after the plan was made")
        except OSError as error:
            lost[file.path.text] = Restored(file, FAILED, _words(error))
    for directory in _missing_directories(tree, (file.path.text for file, _ in ready if file.action != "delete")):
        steps.append((os.fsencode(directory), NOTHING, Kept(stat.S_IFDIR | 0o777 & ~umask), None))
    for file, old in sorted(ready, key=lambda pair: pair[0].action != "delete"):
        new = NOTHING
        assert file.wanted is not None
        assert file.found is not None
        if file.wanted.content is not None:
            content, _ = kept.add_content([file.wanted.content])
            new = Kept(file.wanted.mode(file.found, umask), content)
        steps.append((os.fsencode(file.path.text), old, new, file))
    for directory in plan.emptied:
        found = tree.look(directory)
        if found.kind == "directory":
            steps.append((os.fsencode(directory), Kept(found.mode), NOTHING, None))
    files = [KeptFile(place, path, old, new) for place, (path, old, new, _) in enumerate(steps)]
    return files, {place: file for place, (_, _, _, file) in enumerate(steps) if file is not None}


def _keep_old(kept: KeptStore, tree: WorkTree, file: PlannedFile) -> Kept:
    """Keep what is at a path now. Raises `SomebodyWasFaster` when it is not what the plan saw."""
    assert file.found is not None
    if file.found.kind == "nothing":
        return NOTHING
    content, digest = kept.add_content(tree.read(file.path.text))
    if digest != file.found.digest:
        raise SomebodyWasFaster
    return Kept(file.found.mode, content)


def _missing_directories(tree: WorkTree, paths: Iterable[str]) -> list[str]:
    """Return the directories that paths need and that are not there, the highest first."""
    missing: set[str] = set()
    looked: set[str] = set()
    for path in paths:
        at = path.rfind("/")
        while at > 0 and path[:at] not in looked:
            looked.add(path[:at])
            if tree.look(path[:at]).kind == "nothing":
                missing.add(path[:at])
            at = path.rfind("/", 0, at)
    return sorted(missing, key=lambda each: (each.count("/"), each))


def carry_out(
    kept: KeptStore, tree: WorkTree, files: Sequence[KeptFile], token: str, *, forward: bool
) -> dict[int, tuple[str, str | None]]:
    """Bring files from what they were to what they were to be, or back; returns outcome and reason by place.

    What is done already is left as it is, so that it can be called again after it was stopped anywhere.
    """
    outcomes: dict[int, tuple[str, str | None]] = {}
    for file in files if forward else reversed(files):
        before, after = (file.old, file.new) if forward else (file.new, file.old)
        try:
            _step(kept, tree, file.path, before, after, temporary_name(token, file.place))
            outcomes[file.place] = (DONE, None)
        except SomebodyWasFaster:
            outcomes[file.place] = (CHANGED, "it has been changed by somebody else")
        except PivcsError as error:
            outcomes[file.place] = (FAILED, error.message)
        except OSError as error:
            outcomes[file.place] = (FAILED, _words(error))
            if error.errno in _HOPELESS:
                break
    return outcomes


def _step(kept: KeptStore, tree: WorkTree, path: bytes, before: Kept, after: Kept, name: str) -> None:
    if before.is_directory or after.is_directory:
        if after.mode is None:
            tree.remove_directory(path)
        else:
            tree.make_directory(path, after.mode, exactly=True)
        return
    found = tree.look(path)
    if is_at(kept, found, after) and not (before.content == after.content and found.mode != after.mode):
        return
    if found.kind == "unreadable":
        raise OSError(errno.EACCES, found.reason)
    if not is_at(kept, found, before):
        raise SomebodyWasFaster
    if after.mode is None:
        tree.remove(path, found, name)
    else:
        assert after.content is not None
        tree.put(path, after.mode, kept.read(after.content), found, name)


def is_at(kept: KeptStore, found: Found, state: Kept) -> bool:
    """Whether what was found has the bytes, and is of the kind, of a kept state."""
    digest = kept.digest_of(state.content) if state.content is not None else None
    if found.kind == "behind-file":  # then nothing can be there
        return state.mode is None
    return found.is_like(state.mode, digest)


def settle(store: Store, operation: int, outcomes: dict[int, tuple[str, str | None]]) -> None:
    """Note what became of files. If the store cannot be written now, the operation stays one that was stopped, which
    says less but loses nothing."""
    kept = KeptStore(store.database)
    with suppress(*CannotWrite), store.writing():
        kept.set_outcomes(operation, ((place, outcome) for place, (outcome, _) in outcomes.items()))
        # What failed may have left a temporary file.
        kept.set_busy(operation, any(outcome == FAILED for outcome, _ in outcomes.values()))


def clean_up(store: Store, tree: WorkTree) -> None:
    """Remove temporary files of operations that were stopped in this directory. The caller is `alone` in it."""
    kept = KeptStore(store.database)
    stopped = kept.busy_trees(tree.root)
    for each in stopped:
        for file in kept.files(each.operation):
            states = (file.old.content, file.new.content)
            known = frozenset(kept.digest_of(content) for content in states if content is not None)
            tree.clean(file.path, temporary_name(each.token, file.place), known)
    if stopped:
        with suppress(*CannotWrite), store.writing():
            for each in stopped:
                kept.set_busy(each.operation, False)


def temporary_name(token: str, place: int) -> str:
    """Return how the temporary files of a step begin."""
    return f".pivcs-{token}-{place}"


def write_elsewhere(plan: RestorePlan, tree: WorkTree, umask: int, token: str) -> Applied:
    """Write the files of a plan into an empty directory. Nothing is kept, as nothing is replaced."""
    done: list[Restored] = []
    for place, file in enumerate(plan.to_do()):
        assert file.wanted is not None
        assert file.found is not None
        if file.wanted.content is None:
            continue
        mode = file.wanted.mode(file.found, umask)
        assert mode is not None
        path = os.fsencode(file.path.text)
        try:
            for directory in _missing_directories(tree, [file.path.text]):
                tree.make_directory(os.fsencode(directory), 0o777 & ~umask)
            tree.put(path, mode, [file.wanted.content], file.found, temporary_name(token, place))
            done.append(Restored(file, DONE))
        except SomebodyWasFaster:
            done.append(Restored(file, CHANGED, "something came there meanwhile"))
        except OSError as error:
            done.append(Restored(file, FAILED, _words(error)))
    return Applied(None, tuple(done))


def _counts(files: Iterable[PlannedFile]) -> str:
    return count_text(Counter(file.action for file in files))


def count_text(counts: Counter[str]) -> str:
    """Return how many files were changed in which way, for people: what the log of operations says."""
    words = {"create": "created", "change": "changed", "mode": "with another mode", "delete": "deleted"}
    return ", ".join(f"{counts[action]:,} {word}" for action, word in words.items() if counts[action])


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
