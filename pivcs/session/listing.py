"""pi's lists of sessions, the session to continue, and the search by id (pi format 16).

Nothing is ever written. What pi leaves out of its list without a word is reported beside the list, so that a caller
can say so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pivcs.session.layout import CANNOT_EXIST
from pivcs.session.listitem import Listed, NotListed, list_item, read_header

Progress = Callable[[int, int], None]
"""Told after each file how many were read, and of how many."""


class Listing(NamedTuple):
    """The sessions in pi's order, and the session files and directories that are left out."""

    sessions: tuple[Listed, ...]
    skipped: tuple[NotListed, ...]


class Found(NamedTuple):
    """A session found by id: in the project's own directory or elsewhere, by the whole id or by a prefix."""

    path: Path
    here: bool
    exact: bool


def list_directory(directory: Path, *, cwd: str | None = None, on_progress: Progress | None = None) -> Listing:
    """Return the sessions of one directory, latest activity first; ties by file name, the last name first.

    With `cwd` only those whose header names this working directory (for explicit session directories). A directory
    that does not exist has no sessions.
    """
    paths, unreadable = _session_files(directory)
    listed, skipped = _items(paths, on_progress)
    if cwd is not None:
        listed = [item for item in listed if item.cwd == cwd]
    listed.sort(key=lambda item: (item.modified, item.path.name), reverse=True)
    return Listing(tuple(listed), (*unreadable, *skipped))


def list_all(root: Path, *, on_progress: Progress | None = None) -> Listing:
    """Return the sessions of all directories below the sessions root, latest activity first; ties by file time."""
    paths: list[Path] = []
    skipped: list[NotListed] = []
    for directory in _directories(root, skipped):
        found, unreadable = _session_files(directory)
        paths += found
        skipped += unreadable
    times = {path: _file_time(path) for path in paths}
    listed, left_out = _items(paths, on_progress)
    listed.sort(key=lambda item: (item.modified, times[item.path], item.path.name), reverse=True)
    return Listing(tuple(listed), (*skipped, *left_out))


def most_recent(directory: Path, *, cwd: str | None = None) -> Path | None:
    """Return the file that "continue" opens: the newest by file time among those with a readable header (16.2)."""
    paths, _ = _session_files(directory)
    paths.sort(key=lambda path: (_file_time(path), path.name), reverse=True)
    for path in paths:
        header = read_header(path)
        if header is not None and (cwd is None or header.get("cwd") == cwd):
            return path
    return None


def find_by_id(text: str, directory: Path, root: Path | None = None, *, cwd: str | None = None) -> Found | None:
    """Return the session that an id, or the beginning of one, names for pi (16.3).

    First the project's directory is asked, for the whole id and then in its list for a prefix; then, if `root` is
    given, all directories below it. Among several with the same beginning the first of the list is taken, as in pi.
    """
    if not text:
        return None
    paths, _ = _session_files(directory)
    for path in paths:
        header = read_header(path)
        if header is not None and header["id"] == text and (cwd is None or header.get("cwd") == cwd):
            return Found(path, here=True, exact=True)
    here = list_directory(directory, cwd=cwd)
    if (item := _first(here, lambda ident: ident.startswith(text))) is not None:
        return Found(item.path, here=True, exact=False)
    if root is None:
        return None
    everywhere = list_all(root)
    for exact in (True, False):
        item = _first(everywhere, text.__eq__ if exact else lambda ident: ident.startswith(text))
        if item is not None:
            return Found(item.path, here=False, exact=exact)
    return None


def _items(paths: list[Path], on_progress: Progress | None) -> tuple[list[Listed], list[NotListed]]:
    listed: list[Listed] = []
    skipped: list[NotListed] = []
    for done, path in enumerate(paths, 1):
        try:
            listed.append(list_item(path))
        except NotListed as left_out:
            skipped.append(left_out)
        if on_progress is not None:
            on_progress(done, len(paths))
    return listed, skipped


def _session_files(directory: Path) -> tuple[list[Path], list[NotListed]]:
    """Return the files of a directory that end in `.jsonl`, by name."""
    try:
        with os.scandir(directory) as found:
            names = sorted(item.name for item in found if item.name.endswith(".jsonl"))
    except OSError as error:
        if error.errno in CANNOT_EXIST:
            return [], []
        return [], [NotListed(directory, error.strerror or str(error))]
    return [directory / name for name in names], []


def _directories(root: Path, skipped: list[NotListed]) -> list[Path]:
    try:
        with os.scandir(root) as found:
            return sorted(root / item.name for item in found if item.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        skipped.append(NotListed(root, error.strerror or str(error)))
        return []


def _file_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _first(listing: Listing, matches: Callable[[str], bool]) -> Listed | None:
    return next((item for item in listing.sessions if item.id is not None and matches(item.id)), None)
