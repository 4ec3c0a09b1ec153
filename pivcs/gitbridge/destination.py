"""The repository that sessions are exported to: made where there is none, and its refs moved with care."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import StateError
from pivcs.gitbridge.repository import find_repository

if TYPE_CHECKING:
    from dulwich.refs import DiskRefsContainer

DEFAULT_BRANCH: Final = "refs/heads/sessions"


class NotADestination(StateError):
    """A place that no repository can be made at."""


class RefUpdate(NamedTuple):
    """A ref, and the commit that it is to name (20 bytes)."""

    name: str
    commit: bytes


class Moved(NamedTuple):
    """What became of a ref: `outcome` is `new`, `moved`, `same`, or `refused` because somebody else has moved it."""

    name: str
    outcome: str
    old: bytes | None
    new: bytes


class Destination:
    """A git repository to write to. `objects` is its directory of objects."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self.objects = git_dir / "objects"

    @classmethod
    def open(cls, path: Path) -> Destination:
        """Open the repository at a path, or make a bare one there when nothing or an empty directory is.

        Raises `NotADestination`, `OtherHash`.
        """
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            from dulwich.repo import Repo

            try:
                path.mkdir(parents=True, exist_ok=True)
                with closing(Repo.init_bare(path, default_branch=b"sessions")):
                    pass
            except OSError as error:
                raise NotADestination(f"cannot make '{path}': {(error.strerror or str(error)).lower()}") from error
            return cls(path)
        for place in (path / ".git", path):
            if (place / "HEAD").is_file() and (place / "objects").is_dir():
                repository = find_repository(str(path))
                with closing(repository.open_objects()):  # refuses other hashes
                    return cls(repository.common_dir)
        raise NotADestination(
            f"'{path}' is there and is no git repository", hint="name one, or a path at which nothing is yet"
        )

    def refs(self) -> dict[str, bytes]:
        """Return all refs and the ids that they name."""
        found = {}
        container = self._container()
        for name in container.allkeys():
            value = container.get_peeled(name) or container.read_ref(name)
            if name.startswith(b"refs/") and value is not None and not value.startswith(b"ref:"):
                found[name.decode("utf-8", "surrogateescape")] = bytes.fromhex(value.decode())
        return found

    def checked_out(self) -> str | None:
        """Return the ref that HEAD of a work tree is on; None in a bare repository."""
        if not (self.git_dir.name == ".git" and self.git_dir.parent.is_dir()):
            return None
        head = (self.git_dir / "HEAD").read_text(encoding="utf-8", errors="surrogateescape").strip()
        return head.removeprefix("ref: ") if head.startswith("ref: ") else None

    def move(self, updates: Iterable[RefUpdate], may_move: Callable[[str, bytes, bytes], bool]) -> list[Moved]:
        """Let refs name commits that are in the repository; `may_move` is asked for those that name another one.

        Each is compared and set: one that somebody moves meanwhile is `refused`.
        """
        container = self._container()
        known = self.refs()
        done = []
        for name, commit in updates:
            old = known.get(name)
            if old == commit:
                done.append(Moved(name, "same", old, commit))
            elif old is not None and not may_move(name, old, commit):
                done.append(Moved(name, "refused", old, commit))
            else:
                before = old.hex().encode() if old is not None else b"0" * 40
                is_set = container.set_if_equals(name.encode(), before, commit.hex().encode())  # type: ignore[arg-type]
                outcome = ("moved" if old is not None else "new") if is_set else "refused"
                done.append(Moved(name, outcome, old, commit))
        return done

    def _container(self) -> DiskRefsContainer:
        from dulwich.refs import DiskRefsContainer

        return DiskRefsContainer(os.fsencode(self.git_dir))

