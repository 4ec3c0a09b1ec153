"""Where in a repository the files of a session are.

A session's working directory may be the repository's root, a directory below it, one of another worktree, or a place on
another machine. Where this machine knows the directory, git says it. Else contents decide: the place at which most of
the session's files are, byte for byte, what some commit has; and when there is none, the only place at which commits
have files of these names. Paths that merely end alike decide nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from pivcs.gitbridge.base import encode_path
from pivcs.gitbridge.repository import NoRepository, Repository, find_repository
from pivcs.ops.made import Made, blob_id
from pivcs.ops.view import SessionView
from pivcs.workspace.paths import plain_path
from pivcs.workspace.state import FilePath


class Decided(StrEnum):
    """What told where a session's files are: its directory is in the `repository`; `content`; `paths`; or `unknown`."""

    REPOSITORY = "repository"
    CONTENT = "content"
    PATHS = "paths"
    UNKNOWN = "unknown"


class Place(NamedTuple):
    """Where a session's working directory is in a repository: below its root by `prefix`, with slashes, None when it
    cannot be told. `roots` are the paths that the repository's root has for the session."""

    decided: Decided
    prefix: str | None = None
    roots: tuple[str, ...] = ()

    def path(self, file: FilePath) -> bytes | None:
        """Return the path that a file of the session has in the repository; None when it is not in it."""
        if self.prefix is None:
            return None
        if file.inside:
            return encode_path(f"{self.prefix}/{file.text}" if self.prefix else file.text)
        for root in self.roots:
            if file.text.startswith(root.rstrip("/") + "/"):
                return encode_path(file.text[len(root.rstrip("/")) + 1 :])
        return None


_EMPTY: Final = frozenset((blob_id(b""), blob_id(b"", "sha256")))
"""The content that files of all projects have."""
UNKNOWN: Final = Place(Decided.UNKNOWN)


def place_by_repository(view: SessionView, repository: Repository) -> Place | None:
    """Return where a session is when its directory, or what is left of it, is in the repository; else None."""
    cwd = view.header.cwd
    if not cwd or not os.path.isabs(cwd):
        return None
    try:
        found = find_repository(cwd)
    except (NoRepository, ValueError):
        return None
    if os.path.realpath(found.common_dir) != os.path.realpath(repository.common_dir) or found.root is None:
        return None
    roots = {str(found.root)} | ({root} if (root := _above(cwd, found.prefix)) is not None else set())
    return Place(Decided.REPOSITORY, found.prefix, tuple(sorted(roots)))


def place_by_content(made: Made, commits: Mapping[bytes, Collection[bytes]]) -> Place:
    """Return where a session is by what it left: `commits` has the ids of the contents that files have in commits."""
    cwd = plain_path(made.view.header.cwd or "").rstrip("/")
    parts = [part for part in cwd.split("/") if part]
    prefixes = ["/".join(parts[len(parts) - depth :]) for depth in range(len(parts) + 1)]
    roots = [(prefix, _above(cwd, prefix)) for prefix in prefixes]
    places = [Place(Decided.CONTENT, prefix, (root,)) for prefix, root in roots if root is not None]
    by_content = [(_same(made, place, commits), place) for place in places]
    most = max((count for count, _ in by_content), default=0)
    if most:
        return next(place for count, place in by_content if count == most)
    by_path = [(sum(place.path(path) in commits for path in made.files), place) for place in places]
    most = max((count for count, _ in by_path), default=0)
    best = [place for count, place in by_path if count == most]
    return best[0]._replace(decided=Decided.PATHS) if most and len(best) == 1 else UNKNOWN


def _same(made: Made, place: Place, commits: Mapping[bytes, Collection[bytes]]) -> int:
    """Return how many files of a session are in a commit as some entry left them."""
    count = 0
    for path, file in made.files.items():
        ids = commits.get(place.path(path) or b"", ())
        count += any(ident not in _EMPTY and (ident in file.left or ident in file.left_lf) for ident in ids)
    return count


def _above(cwd: str, prefix: str) -> str | None:
    """Return a directory without the last parts of its path; None when it does not end in them."""
    cwd = cwd.rstrip("/")
    if not prefix:
        return cwd
    return cwd[: -len(prefix)].rstrip("/") if cwd.endswith("/" + prefix) else None
