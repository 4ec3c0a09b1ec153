"""Where git looks for the hooks of a repository, who shares that place, and what the user has set for them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pivcs.errors import StateError
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import Repository

Reach = Literal["repository", "work tree", "outside"]
"""Whose hooks they are: this repository's, with its worktrees; everyone's who has the project's files; those of all
repositories that are set up to look there."""

NOTES: Final = "pivcs.notes"
PUSH_WITH_CODE: Final = "pivcs.pushWithCode"


class HooksOff(StateError):
    """The configuration leads git to a place that can have no hooks."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where hook files of a repository belong. `setting` is the value of core.hooksPath that leads there, `origin`
    where git has it from. With husky git looks in a directory that husky writes anew at times, and scripts there run
    those of `directory` with `sh`, executable or not."""

    directory: Path
    reach: Reach
    husky: bool
    setting: str | None
    origin: str | None


def own_place(repository: Repository) -> Place:
    """Return where a repository has its hooks when nothing else is set."""
    return Place(repository.common_dir / "hooks", "repository", False, None, None)


def hooks_place(repository: Repository, git: Git) -> Place:
    """Return where git looks for hooks now. Raises `HooksOff`, `GitNotFound`, `GitFailed`."""
    told = git.run(
        "config", "-z", "--show-origin", "--path", "--get-all", "core.hooksPath",
        cwd=repository.root or repository.git_dir, git_dir=repository.git_dir, ok=(0, 1),
    )  # fmt: skip
    words = [os.fsdecode(word) for word in told.split(b"\0")]
    # What `Git` itself sets for every run is of the command line.
    found = [
        (value, origin) for origin, value in zip(words[::2], words[1::2], strict=False)
        if not origin.startswith("command line:")
    ]  # fmt: skip
    if not found:
        return _with_reach(own_place(repository), repository)
    value, origin = found[-1]
    directory = Path(os.path.normpath(Path(repository.root or repository.git_dir, value)))
    if not value or (os.path.lexists(directory) and not os.path.isdir(directory)):
        raise HooksOff(
            f"git runs no hooks here: core.hooksPath is '{value}'", hint=f"it is set in {origin.removeprefix('file:')}"
        )
    husky = directory.name == "_" and directory.parent.name == ".husky"
    place = Place(directory.parent if husky else directory, "repository", husky, value, origin.removeprefix("file:"))
    return _with_reach(place, repository)


def _with_reach(place: Place, repository: Repository) -> Place:
    real = Path(os.path.realpath(place.directory))
    reach: Reach = "outside"
    if any(each in (real, *real.parents) for each in _own(repository)):
        reach = "repository"
    elif repository.root is not None and Path(os.path.realpath(repository.root)) in (real, *real.parents):
        reach = "work tree"
    return Place(place.directory, reach, place.husky, place.setting, place.origin)


def _own(repository: Repository) -> tuple[Path, Path]:
    return Path(os.path.realpath(repository.git_dir)), Path(os.path.realpath(repository.common_dir))


def is_set(name: str, repository: Repository, git: Git) -> bool:
    """Whether a setting of git is true; one that is not there is false. Raises `GitFailed` for what is no boolean."""
    out = git.run(
        "config", "--bool", "--get", name,
        cwd=repository.root or repository.git_dir, git_dir=repository.git_dir, ok=(0, 1),
    )  # fmt: skip
    return out.strip() == b"true"
