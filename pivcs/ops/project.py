"""Which directories belong to the project that a directory is in: those above it up to the repository's root, and the
same places in the repository's other worktrees. Only files of `.git` are read; git itself is not asked."""

from __future__ import annotations

import os
from pathlib import Path


def project_directories(cwd: str) -> list[str]:
    """Return the directory and those above it up to the repository's root, nearest first, then the other worktrees.

    Outside of a repository it is the directory alone. A submodule is a repository of its own.
    """
    found: list[str] = []
    for directory in (Path(cwd), *Path(cwd).parents):
        found.append(str(directory))
        git = directory / ".git"
        if os.path.exists(git):  # no error for a directory that cannot be entered, or cannot exist
            inside = Path(cwd).relative_to(directory)
            places = [Path(), *reversed(list(inside.parents)[:-1]), inside] if inside.parts else [Path()]
            for root in _other_worktrees(git, directory):
                found += [str(root / place) for place in reversed(places)]
            return list(dict.fromkeys(found))
    return found[:1]


def common_directory(cwd: str) -> str | None:
    """Return the real path of the directory that all worktrees of the repository share in which a directory is."""
    for directory in (Path(cwd), *Path(cwd).parents):
        git = directory / ".git"
        if os.path.exists(git):
            common = _common_directory(git)
            return os.path.realpath(common) if common is not None else None
    return None


def _common_directory(git: Path) -> Path | None:
    """Return what all worktrees share: the `.git` of the first, found from that of any."""
    private = git if git.is_dir() else _linked(git, "gitdir: ")
    return (_linked(private / "commondir", "") or private) if private is not None else None


def _other_worktrees(git: Path, root: Path) -> list[Path]:
    """Return the roots of the repository's worktrees but for `root`, whose `.git` this is."""
    common = _common_directory(git)
    if common is None:
        return []
    roots = [common.parent] if common.name == ".git" else []
    try:
        names = sorted(entry for entry in (common / "worktrees").iterdir() if entry.is_dir())
    except OSError:
        names = []
    for entry in names:
        link = _linked(entry / "gitdir", "")
        if link is not None:
            roots.append(link.parent)
    return [each for each in roots if each != root]


def _linked(file: Path, prefix: str) -> Path | None:
    """Return the path that a small file of git holds behind `prefix`, relative to where it stands."""
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    if not text.startswith(prefix):
        return None
    target = text.removeprefix(prefix).strip("\n")
    return Path(file.parent, target).resolve() if target else None
