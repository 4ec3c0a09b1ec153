"""What is in a work tree: the files that git would track, as it lists them itself, and what cannot be taken of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pivcs.errors import StateError
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import NoRepository, Repository, find_repository

NESTED: Final = "another repository"
UNREADABLE: Final = "not readable"
SPECIAL: Final = "no file"
REFUSED: Final = "a name that git refuses"


class NoWorkTree(StateError):
    """There is nothing that could be taken."""


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A directory to take: `repository` is the one that it is the work tree of, None outside of any. `prefix` is where
    the directory that was asked for is below `root`."""

    root: Path
    prefix: str
    repository: Repository | None


@dataclass(frozen=True, slots=True)
class Listed:
    """The paths, below the root, of files and symbolic links, sorted, and of what is left out, with the reason."""

    paths: tuple[bytes, ...]
    left_out: tuple[tuple[bytes, str], ...]


def work_tree_of(directory: str, home: Path) -> WorkTree:
    """Return the work tree that a directory is in: that of its repository, or outside of one the directory itself.

    Raises `NoWorkTree` for a directory that is not there, a bare repository, and outside of a repository for the home
    directory and what is above it.
    """
    real = Path(os.path.realpath(directory))
    if not real.is_dir():
        raise NoWorkTree(f"'{directory}' is no directory any more")
    try:
        repository = find_repository(directory)
    except NoRepository:
        if os.path.lexists(real / ".git"):
            raise
        home = Path(os.path.realpath(home))
        if real == home or real in home.parents:
            raise NoWorkTree(
                f"'{real}' is in no git repository, and too much to be taken whole",
                hint="run pi in a directory of the project, or `git init` there and say in .gitignore what not to take",
            ) from None
        return WorkTree(real, "", None)
    if repository.root is None:
        raise NoWorkTree(f"'{real}' is in a repository without a work tree")
    return WorkTree(repository.root, repository.prefix, repository)


def list_files(tree: WorkTree, git: Git, empty: Path, own: Iterable[Path]) -> Listed:
    """Return what git tracks in a work tree and what it does not ignore. Nothing is written.

    The project's own git configuration says what is ignored, with `.git/info/exclude` and the user's excludes. Outside
    of a repository `empty`, a bare one, stands for it, and `.gitignore` files count as well. `own` are files and
    directories of the store, which are never taken. Raises `GitFailed`.
    """
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    settings = ("core.splitIndex=false", "core.untrackedCache=false")
    if tree.repository is not None:
        out = git.run(*asked, cwd=tree.root, settings=settings)
    else:
        # An index that is not there: everything is untracked.
        out = git.run(*asked, cwd=tree.root, git_dir=empty, work_tree=tree.root, index=empty / "no-index")
    root = os.fsencode(tree.root)
    kept_out = [os.fsencode(os.path.realpath(each)) for each in own]
    directories: dict[bytes, bool] = {b"": True}
    paths: list[bytes] = []
    left_out: list[tuple[bytes, str]] = []
    for path in sorted(set(out.split(b"\0")) - {b""}):
        full = os.path.join(root, path)
        if any(full == each or full.startswith(each + b"/") for each in kept_out):
            continue
        if not _is_below(path.rstrip(b"/"), root, directories):
            continue  # it was tracked, and a symbolic link or a file stands where its directory was
        try:
            mode = os.lstat(full).st_mode
        except OSError:
            continue  # it was tracked, and is deleted
        if stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and os.access(full, os.R_OK)):
            paths.append(path)
        else:
            reason = NESTED if stat.S_ISDIR(mode) else UNREADABLE if stat.S_ISREG(mode) else SPECIAL
            left_out.append((path.rstrip(b"/"), reason))
    return Listed(tuple(paths), tuple(left_out))


def _is_below(path: bytes, root: bytes, directories: dict[bytes, bool]) -> bool:
    """Whether all directories on the way to a path are real ones."""
    above: list[bytes] = []
    parent = path.rpartition(b"/")[0]
    while parent not in directories:
        above.append(parent)
        parent = parent.rpartition(b"/")[0]
    real = directories[parent]
    for each in reversed(above):
        try:
            real = real and stat.S_ISDIR(os.lstat(os.path.join(root, each)).st_mode)
        except OSError:
            real = False
        directories[each] = real
    return real
