"""Finds the session file that a command is about: named by a path or an id, or the latest of the current project."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pivcs.errors import InputError
from pivcs.session.layout import Surroundings, read_session_dir_setting
from pivcs.session.listing import find_by_id
from pivcs.session.listitem import NotListed, read_header

Warn = Callable[[str], None]


class NoSession(InputError):
    """No session file is where one was looked for."""


def looks_like_path(text: str) -> bool:
    """Whether an argument is a path rather than an id or a revision (pi format 16.3)."""
    return "/" in text or os.sep in text or text.endswith(".jsonl") or os.path.isfile(text)


def locate(text: str | None, surroundings: Surroundings) -> Path:
    """Return the session file for an argument, or for None the latest of the current project.

    Raises `NoSession` when there is none; whether a named path can be read shows when it is opened.
    """
    if text is None:
        return latest_of_project(surroundings)
    if looks_like_path(text):
        return Path(surroundings.absolute(text))
    directory = _session_dir(surroundings, surroundings.cwd)
    found = find_by_id(text, Path(directory), Path(surroundings.sessions_root))
    if found is None:
        raise NoSession(f"no session '{text}'", hint="`pivcs ls --all` shows the ids; a path names a file")
    return found.path


def latest_of_project(surroundings: Surroundings) -> Path:
    """Return the session file of the current project that was written last. Raises `NoSession`."""
    best: tuple[int, str, Path] | None = None
    for path in project_files(surroundings):
        try:
            age = (path.stat().st_mtime_ns, path.name, path)
        except OSError:
            continue
        if best is None or age > best:
            best = age
    if best is None:
        raise NoSession(
            f"no pi session belongs to '{surroundings.cwd}'",
            hint="name a session file, see `pivcs ls --all`, or try `pivcs demo`",
        )
    return best[2]


def project_files(surroundings: Surroundings, skipped: list[NotListed] | None = None) -> Iterator[Path]:
    """Yield the session files whose header names the current directory or one above it in the same repository."""
    for directory in project_directories(surroundings.cwd):
        for path in files_in(Path(_session_dir(surroundings, directory)), skipped):
            header = read_header(path)
            if header is not None and header.get("cwd") == directory:
                yield path


def project_directories(cwd: str) -> list[str]:
    """Return the directory and those above it up to the repository's root, nearest first; alone outside of one."""
    found: list[str] = []
    for directory in (Path(cwd), *Path(cwd).parents):
        found.append(str(directory))
        if (directory / ".git").exists():
            return found
    return found[:1]


def files_in(directory: Path, skipped: list[NotListed] | None = None) -> list[Path]:
    """Return the `.jsonl` files of a directory by name; one that cannot be read is added to `skipped`."""
    try:
        with os.scandir(directory) as found:
            return [directory / name for name in sorted(item.name for item in found if item.name.endswith(".jsonl"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        if skipped is not None:
            skipped.append(NotListed(directory, error.strerror or str(error)))
        return []


def all_files(surroundings: Surroundings, skipped: list[NotListed] | None = None) -> list[Path]:
    """Return the session files of all projects: below the sessions root, and in the explicit session directory."""
    root = Path(surroundings.sessions_root)
    directories = {Path(_session_dir(surroundings, surroundings.cwd)): None}
    try:
        with os.scandir(root) as found:
            directories |= dict.fromkeys(root / name for name in sorted(item.name for item in found if item.is_dir()))
    except FileNotFoundError:
        pass
    except OSError as error:
        if skipped is not None:
            skipped.append(NotListed(root, error.strerror or str(error)))
    return [path for directory in directories for path in files_in(directory, skipped)]


def _session_dir(surroundings: Surroundings, cwd: str) -> str:
    setting = read_session_dir_setting(surroundings.agent_dir)
    return surroundings.session_dir(setting=setting, cwd=cwd).path
