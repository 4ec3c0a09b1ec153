"""Finds the session file that a command is about: named by a path or an id, or the latest of the current project."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pivcs.errors import InputError
from pivcs.ops.project import project_directories
from pivcs.session.layout import CANNOT_EXIST, Surroundings, read_session_dir_setting

if TYPE_CHECKING:
    from pivcs.session.listitem import NotListed

Warn = Callable[[str], None]
Also = Callable[[Path], bool]


class NoSession(InputError):
    """No session file is where one was looked for."""


def looks_like_path(text: str) -> bool:
    """Whether an argument is a path rather than an id or a revision (pi format 16.3)."""
    return "/" in text or os.sep in text or text.endswith(".jsonl") or os.path.isfile(text)


def locate(text: str | None, surroundings: Surroundings, also: Also | None = None) -> Path:
    """Return the session file for an argument, or for None the latest of the current project (`latest_of_project`).

    Raises `NoSession` when there is none; whether a named path can be read shows when it is opened.
    """
    if text is None:
        return latest_of_project(surroundings, also)
    if looks_like_path(text):
        return Path(surroundings.absolute(text))
    from pivcs.session.listing import find_by_id

    directory = session_directory(surroundings, surroundings.cwd)
    found = find_by_id(text, Path(directory), Path(surroundings.sessions_root))
    if found is None:
        raise NoSession(f"no session '{text}'", hint="`pivcs ls --all` shows the ids; a path names a file")
    return found.path


def latest_of_project(surroundings: Surroundings, also: Also | None = None) -> Path:
    """Return the session file of the current project that was written last. Raises `NoSession`.

    Headers are read from the newest file on, until one names a directory of the project, or `also` says that the file
    belongs to it all the same.
    """
    aged: list[tuple[int, str, Path, str]] = []
    for directory in project_directories(surroundings.cwd):
        for path in files_in(Path(session_directory(surroundings, directory))):
            with suppress(OSError):
                aged.append((path.stat().st_mtime_ns, path.name, path, directory))
    for _, _, path, directory in sorted(aged, reverse=True):
        if _belongs(path, directory) or (also is not None and also(path)):
            return path
    raise NoSession(
        f"no pi session belongs to '{surroundings.cwd}'",
        hint="name a session file, see `pivcs ls --all`, or try `pivcs demo`",
    )


def project_files(surroundings: Surroundings, skipped: list[NotListed] | None = None) -> Iterator[Path]:
    """Yield the session files whose header names a directory of the current project (`project_directories`)."""
    for directory in project_directories(surroundings.cwd):
        for path in files_in(Path(session_directory(surroundings, directory)), skipped):
            if _belongs(path, directory):
                yield path


def _belongs(path: Path, directory: str) -> bool:
    from pivcs.session.listitem import read_header

    header = read_header(path)
    cwd = header.get("cwd") if header is not None else None
    return isinstance(cwd, str) and (cwd.rstrip("/") or "/") == directory


def files_in(directory: Path, skipped: list[NotListed] | None = None) -> list[Path]:
    """Return the `.jsonl` files of a directory by name; one that cannot be read is added to `skipped`."""
    try:
        with os.scandir(directory) as found:
            return [directory / name for name in sorted(item.name for item in found if item.name.endswith(".jsonl"))]
    except OSError as error:
        if skipped is not None and error.errno not in CANNOT_EXIST:
            from pivcs.session.listitem import NotListed

            skipped.append(NotListed(directory, error.strerror or str(error)))
        return []


def all_files(surroundings: Surroundings, skipped: list[NotListed] | None = None) -> list[Path]:
    """Return the session files of all projects: below the sessions root, and in the explicit session directory."""
    root = Path(surroundings.sessions_root)
    directories = {Path(session_directory(surroundings, surroundings.cwd)): None}
    try:
        with os.scandir(root) as found:
            directories |= dict.fromkeys(root / name for name in sorted(item.name for item in found if item.is_dir()))
    except FileNotFoundError:
        pass
    except OSError as error:
        if skipped is not None:
            from pivcs.session.listitem import NotListed

            skipped.append(NotListed(root, error.strerror or str(error)))
    return [path for directory in directories for path in files_in(directory, skipped)]


def session_directory(surroundings: Surroundings, cwd: str) -> str:
    """Return where pi keeps the session files of a working directory."""
    setting = read_session_dir_setting(surroundings.agent_dir)
    return surroundings.session_dir(setting=setting, cwd=cwd).path
