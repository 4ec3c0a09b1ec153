"""A repository that somebody names: a directory, or an address from which git can fetch what belongs to sessions."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from pivcs.errors import InputError
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import Repository, find_repository

_WANTED: Final = ("+refs/pivcs/*:refs/pivcs/*", "+refs/heads/session*:refs/heads/session*")
"""Streams and names, and the branch of the start page; a pattern, as a ref that is not there would be an error."""
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/:]+:(?!//)")


class NoSuchRepository(InputError):
    """What was named is neither a directory nor an address."""


@contextmanager
def repository_at(place: str, environ: Mapping[str, str]) -> Iterator[Repository]:
    """Give the repository in or above a directory, of a `file://` address, or a temporary one with what was fetched.

    Raises `NoSuchRepository`, `NoRepository`, `GitNotFound`, `GitFailed`, `GitRemoteFailed`.
    """
    url = urlsplit(place) if place.startswith("file://") else None
    path = unquote(url.path) if url is not None and url.netloc in ("", "localhost") else place
    if os.path.isdir(path):
        yield find_repository(path)
        return
    if (url is None and _ADDRESS.match(place) is None) or place.startswith("-"):
        raise NoSuchRepository(f"there is no directory '{place}', and it is no address that git knows")
    git = Git.find(environ)
    with tempfile.TemporaryDirectory(prefix="pivcs-") as directory:
        bare = Path(directory)
        git.run("init", "--quiet", "--bare", "--object-format=sha1", ".", cwd=bare, user_config=False)
        git.run("fetch", "--quiet", "--no-tags", "--", place, *_WANTED, cwd=bare, git_dir=bare, transport=True)
        yield find_repository(directory)
