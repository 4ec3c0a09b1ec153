"""The store's own bare git repository, which has the files of snapshots. Nothing in it is ever shared with a project.

It is made by hand, so that it is the same whatever git is installed and however it is configured. `info/attributes`
stands above every `.gitattributes` of a work tree: line ends and encodings are not converted, and no filter is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from pivcs.errors import StateError
from pivcs.gitbridge.process import Git
from pivcs.store.errors import StoreReadOnly
from pivcs.store.snapshots import locked, snapshot_repository
from pivcs.store.store import Store

SETTINGS: Final = (
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.compression=1",
    "core.fsync=loose-object,reference",
    "core.fsyncMethod=batch",
    "core.splitIndex=false",
    "core.untrackedCache=false",
)
_FILES: Final = {
    "config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tsymlinks = true\n\tbare = true\n",
    "info/attributes": "* -text -eol -crlf -ident -filter -working-tree-encoding\n",
    "HEAD": "ref: refs/heads/none\n",
}


class NoSnapshotStore(StateError):
    """There is no place for snapshots."""


class SnapshotRepository:
    """The repository beside a store. Raises `NoSnapshotStore` for a store that is in no file."""

    def __init__(self, store: Store) -> None:
        if store.database.path is None:
            raise NoSnapshotStore("snapshots are kept beside a store, and this one is in no file")
        self.store = store
        self.path = snapshot_repository(store.database.path)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes out while the block runs; makes the repository if it is not there.

        Raises `SnapshotsBusy`, `StoreReadOnly`.
        """
        if self.store.read_only:
            raise StoreReadOnly(self.store.database.where, "it was opened for reading only")
        with ExitStack() as stack:
            try:
                self.path.mkdir(mode=0o700, exist_ok=True)
                stack.enter_context(locked(self.path))
                self._complete()
            except OSError as error:
                raise StoreReadOnly(str(self.path), (error.strerror or str(error)).lower()) from error
            yield

    def index_of(self, root: bytes) -> Path:
        """Return the index file that remembers what was last taken of a directory: a cache, which may be deleted. Also
        clears away what git leaves there when it is killed."""
        folder = self.path / "indexes"
        folder.mkdir(mode=0o700, exist_ok=True)
        index = folder / sha256(root).hexdigest()[:32]
        index.with_name(index.name + ".lock").unlink(missing_ok=True)
        return index

    def run(self, git: Git, *arguments: str) -> bytes:
        """Run git in this repository, without anybody's configuration. Raises `GitFailed`."""
        return git.run(*arguments, cwd=self.path, git_dir=self.path, settings=SETTINGS, user_config=False)

    def run_on(self, root: Path, git: Git, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git in this repository with a directory as its work tree, and with the index of that directory."""
        return git.run(
            *arguments, cwd=root, stdin=stdin, git_dir=self.path, work_tree=root,
            index=self.index_of(os.fsencode(root)), settings=SETTINGS, user_config=False,
        )  # fmt: skip

    def _complete(self) -> None:
        """Make what is missing, the file that makes it a repository last."""
        for name in ("objects/info", "objects/pack", "refs", "info"):
            (self.path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in _FILES.items():
            file = self.path / name
            if not file.exists():
                temporary = file.with_name(file.name + ".new")
                temporary.write_text(text, encoding="ascii", newline="\n")
                os.replace(temporary, file)
