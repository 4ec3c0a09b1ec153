"""Installing the hooks of pivcs beside those that are there, taking them out again, and saying how things stand.

Nothing is written before all hooks have been looked at, each file is replaced in one step, and what is taken out leaves
the bytes and the mode that were there before.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pivcs.errors import StateError
from pivcs.gitbridge.hook_files import (
    ASIDE,
    FIRST_LINE,
    NAMES,
    Block,
    Kind,
    find_block,
    hook_block,
    hook_script,
    takes_block,
    tool_of,
    with_block,
)
from pivcs.gitbridge.hooks_place import Place
from pivcs.gitbridge.hooks_writing import Writing, unwritable

State = Literal["absent", "foreign", "installed", "outdated", "edited"]
Outcome = Literal["installed", "chained", "updated", "unchanged", "removed", "restored", "none"]


class HookEdited(StateError):
    """Somebody has changed the lines of pivcs in a hook, so that they cannot be told from the rest."""


class HookInTheWay(StateError):
    """What stands at a hook's place can neither be added to nor moved away."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook as it is on disk. `kind` is None without lines of pivcs. `tool` is what another hook in or behind the
    file is of, as far as can be told; `aside` is where a hook was moved to; `active` is whether git runs the file."""

    name: str
    path: Path
    state: State
    kind: Kind | None
    tool: str | None
    aside: Path | None
    program: str | None
    active: bool


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one hook."""

    name: str
    path: Path
    outcome: Outcome
    tool: str | None


@dataclass(frozen=True, slots=True)
class _File:
    """What is at a path. Of a symbolic link `content` is empty: its target is not ours to change."""

    path: Path
    mode: int | None
    content: bytes
    block: Block | None

    @property
    def is_link(self) -> bool:
        return self.mode is not None and stat.S_ISLNK(self.mode)

    @property
    def aside(self) -> Path:
        return self.path.parent / ASIDE / self.path.name

    @property
    def rest(self) -> bytes:
        return self.block.taken_out(self.content) if self.block is not None else self.content


def hooks_in(place: Place) -> list[Hook]:
    """Return how each hook of pivcs stands. Raises `CannotWriteHooks` for what cannot be read."""
    return [_hook(_look(place.directory / name), place) for name in NAMES]


def _hook(file: _File, place: Place) -> Hook:
    name, block = file.path.name, file.block
    if file.mode is None:
        state: State = "absent"
    elif block is None:
        state = "installed" if file.content == hook_script(name) else "foreign"
    elif not _is_whole(file):
        state = "edited"
    else:
        state = "installed" if block.is_current(name) else "outdated"
    aside = file.aside if os.path.lexists(file.aside) else None
    other = _read(aside) if aside is not None else file.rest
    active = file.mode is not None and (place.husky or os.access(file.path, os.X_OK))
    kind = block.kind if block is not None else "alone" if state == "installed" else None
    return Hook(name, file.path, state, kind, tool_of(other), aside, block.program if block else None, active)


def install_hooks(place: Place, program: str | None) -> list[Done]:
    """Install all hooks; `program` is what they run where PATH names no pivcs.

    Raises `HookEdited` and `HookInTheWay` before anything is written, and `CannotWriteHooks`.
    """
    files = [_look(place.directory / name) for name in NAMES]
    for file in files:
        _check_install(file, place)
    with Writing(place.directory) as writing:
        plans = [_prepared(file, place, program, writing) for file in files]
        return [_place(file, plan, writing) for file, plan in zip(files, plans, strict=True)]


def _check_install(file: _File, place: Place) -> None:
    if file.block is not None:
        _check_whole(file)
    elif file.mode is not None and _kind_for(file, place) == "moved":
        if place.husky:
            raise HookInTheWay(f"'{file.path}' is a link, which no lines can be added to")
        if os.path.lexists(file.aside):
            raise HookInTheWay(
                f"cannot move '{file.path}' out of the way: '{file.aside}' is there already",
                hint="delete the one that is not needed",
            )


def _kind_for(file: _File, place: Place) -> Kind:
    """Return how to install where no lines of pivcs are."""
    if file.mode is None or (not file.is_link and file.content == hook_script(file.path.name)):
        return "alone"
    if file.is_link:
        return "moved"
    # Git passes over a hook that is not executable: it must not begin to run because of us.
    runs = place.husky or (os.access(file.path, os.X_OK) and takes_block(file.content))
    return "before" if runs else "moved"


def _prepared(
    file: _File, place: Place, program: str | None, writing: Writing
) -> tuple[Path | None, Outcome, Kind]:
    """Write a hook's new content beside it; None when it is as it should be."""
    name, old = file.path.name, file.block
    kind = old.kind if old is not None else _kind_for(file, place)
    block = hook_block(name, kind, program)
    mode = 0o755
    if old is not None:
        content = file.content[: old.start] + block + file.content[old.end :]
        if content == file.content:
            return None, "unchanged", kind
        outcome: Outcome = "updated"
    elif kind == "before":
        content, outcome = with_block(file.content, block), "chained"
    else:
        content, outcome = FIRST_LINE + block, "chained" if kind == "moved" else "installed"
    if file.mode is not None and kind != "moved":
        mode = stat.S_IMODE(file.mode)
    return writing.write(content, mode), outcome, kind


def _place(file: _File, plan: tuple[Path | None, Outcome, Kind], writing: Writing) -> Done:
    prepared, outcome, kind = plan
    tool = tool_of(file.rest)
    if prepared is not None:
        if kind == "moved" and file.block is None:
            writing.move(file.path, file.aside)
        writing.replace(prepared, file.path)
    return Done(file.path.name, file.path, outcome, tool)


def uninstall_hooks(place: Place) -> list[Done]:
    """Take the lines of pivcs out, and put back what was moved. Raises as `install_hooks` does."""
    files = [_look(place.directory / name) for name in NAMES]
    if all(file.block is None for file in files):
        return [Done(file.path.name, file.path, "none", None) for file in files]
    for file in files:
        if file.block is not None:
            _check_whole(file)
    with Writing(place.directory) as writing:
        done = [_taken_out(file, writing) for file in files]
        with suppress(OSError):
            (place.directory / ASIDE).rmdir()  # others may have put something there
    return done


def _taken_out(file: _File, writing: Writing) -> Done:
    outcome: Outcome = "restored"
    tool = None
    if file.block is None or file.mode is None:
        outcome = "none"
    elif file.block.kind == "moved" and os.path.lexists(file.aside):
        tool = tool_of(_read(file.aside))
        writing.move(file.aside, file.path)
    elif file.block.kind != "before" and file.rest == FIRST_LINE:
        outcome = "removed"
        writing.remove(file.path)
    else:
        tool = tool_of(file.rest)
        writing.replace(writing.write(file.rest, stat.S_IMODE(file.mode)), file.path)
    return Done(file.path.name, file.path, outcome, tool)


def _is_whole(file: _File) -> bool:
    """Whether lines of pivcs are as they were written. Below those that run a hook elsewhere nothing may stand: it is
    not run, and there would be two hooks to put back."""
    block = file.block
    return block is not None and block.intact and (block.kind != "moved" or file.rest == FIRST_LINE)


def _check_whole(file: _File) -> None:
    if _is_whole(file) or file.block is None:
        return
    first = file.content.count(b"\n", 0, file.block.start) + 1
    last = max(first, file.content.count(b"\n", 0, file.block.end))
    hint = f"take them out yourself, lines {first} to {last}, with the marks"
    if file.block.intact:
        hint = f"put what was added into '{file.aside}', which is run by it"
    raise HookEdited(f"the lines of pivcs in '{file.path}' were changed by somebody", hint=hint)


def _look(path: Path) -> _File:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _File(path, None, b"", None)
    except OSError as error:
        raise unwritable(path, error) from error
    if stat.S_ISLNK(mode):
        return _File(path, mode, b"", None)
    if not stat.S_ISREG(mode):
        raise HookInTheWay(f"'{path}' is no file", hint="move it away; git takes only a file for a hook")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unwritable(path, error) from error
    return _File(path, mode, content, find_block(content))


def _read(path: Path) -> bytes:
    """Return what a hook that was moved away has, for its tool's name only."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
