"""Taking snapshots of a project in tests, and what the real git says of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pivcs.gitbridge.process import Git
from pivcs.gitbridge.snapshots import Taken, snapshot_base, take_snapshot
from pivcs.ops.access import view_of
from pivcs.ops.sync import sync_file
from pivcs.ops.view import SessionView
from pivcs.store.snapshots import SnapshotRecord
from pivcs.store.store import Store
from pivcs.workspace.base import BaseFile
from tests.builders import CLOCK, build_session, header_line
from tests.gitbridge.real_git import Project


@contextmanager
def session_of(directory: Path, store: Store, file: Path) -> Iterator[SessionView]:
    """Give a session whose working directory is the one named."""
    file.write_bytes(build_session("a-b", header=header_line(cwd=str(directory))))
    stream = sync_file(store, file, CLOCK).stream
    assert stream is not None
    with view_of(store, stream) as view:
        yield view


class Taker:
    """Takes snapshots of one directory."""

    def __init__(self, view: SessionView, directory: Path, home: Path) -> None:
        self.view = view
        self.directory = directory
        self.home = home

    @property
    def store(self) -> Store:
        assert self.view.store is not None
        return self.view.store

    @property
    def repository(self) -> Path:
        path = self.store.database.path
        assert path is not None
        return path.with_name("snapshots.git")

    def take(self, message: str = "", directory: Path | None = None) -> Taken:
        return take_snapshot(
            self.view, str(directory or self.directory), message,
            git=Git.find(os.environ), home=self.home, now=CLOCK, command="pivcs snapshot",
        )  # fmt: skip

    def files(self, record: SnapshotRecord) -> dict[str, BaseFile]:
        """Return what is in a snapshot, after the real git has found its repository clean."""
        self.check()
        with snapshot_base(self.store, record) as base:
            found = {path: base.read(path) for path in base.paths()}
        return {path: file for path, file in found.items() if file is not None}

    def check(self) -> None:
        assert "missing" not in Project(self.repository).git("fsck", "--strict", "--full")
