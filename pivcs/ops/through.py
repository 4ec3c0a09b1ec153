"""Sessions that came through a project's repository: they belong to the project, whatever their header calls the
working directory, which is a path of another machine."""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.ops.project import common_directory
from pivcs.store.store import Store


def keys_through(store: Store | None, cwd: str) -> frozenset[bytes]:
    """Return the keys of the sessions that came through the repository that a directory is in."""
    common = common_directory(cwd) if store is not None else None
    if store is None or common is None:
        return frozenset()
    return frozenset(store.remote.came_through(os.fsencode(common)))


def files_through(store: Store | None, cwd: str) -> list[Path]:
    """Return the session files, known to the store and still there, that have these sessions."""
    keys = keys_through(store, cwd)
    if store is None or not keys:
        return []
    wanted = {stream.source for stream in store.current_streams() if stream.session in keys}
    return [
        Path(os.fsdecode(source.path))
        for source in store.sources()
        if source.id in wanted and source.is_file and os.path.isfile(source.path)
    ]


def merged(files: list[Path], others: list[Path]) -> list[Path]:
    """Return files, and those of others that are none of them."""
    known = {os.path.realpath(path) for path in files} if others else set()
    return files + [path for path in others if str(path) not in known]
