"""Where the store is: `--store`, then `PIVCS_DIR`, then a project's own `.pivcs/`, then the user's data directory.

A `.pivcs/` counts only when the user's own configuration names it: one that came with somebody's repository is never
opened. Environment, home and directories are passed in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.errors import DataError, StateError

DIRECTORY_VARIABLE: Final = "PIVCS_DIR"
FILE_NAME: Final = "store.db"
PROJECT_DIRECTORY: Final = ".pivcs"
_REGISTRY: Final = "projects.json"


class NotInitialised(StateError):
    """A project's directory cannot be made a store."""


class BadRegistry(DataError):
    """The list of project stores cannot be read."""


class Places(NamedTuple):
    """What the location depends on: `--store`, environment, current directory, the user's directories."""

    option: str | None
    environ: Mapping[str, str]
    cwd: Path
    data_dir: Path
    config_dir: Path

    def store(self) -> Path:
        """Return the path of the store's file; it need not exist. Raises `BadRegistry`."""
        named = self.option or self.environ.get(DIRECTORY_VARIABLE)
        if named:
            path = Path(os.path.abspath(self.cwd / Path(named).expanduser()))
            return path if path.suffix == ".db" else path / FILE_NAME
        project = self.project_store()
        return project if project is not None else self.data_dir / FILE_NAME

    def project_store(self) -> Path | None:
        """Return the registered store of the current directory or the nearest one above it."""
        registered = self._registered()
        if not registered:
            return None
        cwd = Path(os.path.realpath(self.cwd))
        for directory in (cwd, *cwd.parents):
            candidate = directory / PROJECT_DIRECTORY
            if str(candidate) in registered and candidate.is_dir() and not candidate.is_symlink():
                return candidate / FILE_NAME
        return None

    def unregistered_project(self) -> Path | None:
        """Return a `.pivcs/` at or above the current directory that is not registered, and so not used."""
        cwd = Path(os.path.realpath(self.cwd))
        registered = self._registered()
        for directory in (cwd, *cwd.parents):
            candidate = directory / PROJECT_DIRECTORY
            if candidate.is_dir() and str(candidate) not in registered:
                return candidate
        return None

    def initialise(self, directory: Path) -> Path:
        """Make a project's `.pivcs/` and register it; returns the path of its store. Doing it twice changes nothing.

        Raises `NotInitialised`, `BadRegistry`.
        """
        place = Path(os.path.realpath(directory)) / PROJECT_DIRECTORY
        try:
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                raise NotInitialised(f"'{place}' exists and is no directory")
            if place.is_dir() and str(place) not in self._registered() and (place / FILE_NAME).exists():
                raise NotInitialised(
                    f"'{place}' has a store that somebody else made", hint="move it away first if you trust nobody's"
                )
            place.mkdir(mode=0o700, exist_ok=True)
            place.chmod(0o700)
            ignore = place / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
        except OSError as error:
            raise NotInitialised(f"cannot make '{place}': {(error.strerror or str(error)).lower()}") from error
        self._register(place)
        return place / FILE_NAME

    def _registered(self) -> frozenset[str]:
        path = self.config_dir / _REGISTRY
        try:
            names = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError) as error:
            hint = "mend or delete it; it lists project stores"
            raise BadRegistry(f"cannot read '{path}': {error}", hint=hint) from error
        return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()

    def _register(self, place: Path) -> None:
        names = self._registered() | {str(place)}
        self.config_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.config_dir / _REGISTRY
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(sorted(names), indent=1) + "\n", encoding="utf-8")
        os.replace(temporary, path)
