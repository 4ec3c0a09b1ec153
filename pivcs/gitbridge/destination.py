"""The repository that sessions are exported to: made where there is none, and its refs moved with care."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.errors import StateError
from pivcs.gitbridge import refs_update
from pivcs.gitbridge.refs_update import OtherRefs, read_ref, read_refs, update_refs
from pivcs.gitbridge.repository import Repository, find_repository, is_bare, uses_reftable

DEFAULT_BRANCH: Final = "refs/heads/sessions"


class NotADestination(StateError):
    """A place that no repository can be made at."""


class RefUpdate(NamedTuple):
    """A ref, and the commit that it is to name (20 bytes)."""

    name: str
    commit: bytes


class Moved(NamedTuple):
    """What became of a ref: `outcome` is `new`, `moved`, `same`, or `refused`, and then `reason` is `moved` (somebody
    else has moved it), `other export` (it is of an export that was made in another way), `checked out`, `in the way`
    (another ref, or a directory of refs, has its name) or `no page` (the branch of the start page is none)."""

    name: str
    outcome: str
    old: bytes | None
    new: bytes
    reason: str | None = None


class Destination:
    """A git repository to write to. `objects` is its directory of objects."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.git_dir = repository.common_dir
        self.objects = self.git_dir / "objects"
        self._refs: dict[str, bytes] | None = None

    @classmethod
    def open(cls, path: Path) -> Destination:
        """Open the repository whose work tree or directory a path is, or make a bare one there when nothing or an empty
        directory is.

        Raises `NotADestination`, `NoRepository`, `OtherHash`, `OtherRefs`.
        """
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            from dulwich.repo import Repo

            try:
                path.mkdir(parents=True, exist_ok=True)
                with closing(Repo.init_bare(path, default_branch=b"sessions")):
                    pass
            except OSError as error:
                raise NotADestination(f"cannot make '{path}': {(error.strerror or str(error)).lower()}") from error
        elif not (path / ".git").exists() and not ((path / "HEAD").is_file() and (path / "objects").is_dir()):
            # Not a directory inside of a work tree: what is named by mistake would end in the project's repository.
            raise NotADestination(
                f"'{path}' is there and is no git repository", hint="name one, or a path at which nothing is yet"
            )
        repository = find_repository(str(path))
        with closing(repository.open_objects()):  # refuses other hashes
            if uses_reftable(repository):
                raise OtherRefs(repository)
            return cls(repository)

    def refs(self) -> dict[str, bytes]:
        """Return all refs and the ids that they named when they were first asked for; symbolic ones are left out."""
        if self._refs is None:
            self._refs = read_refs(self.repository, "refs/")
        return self._refs

    def _refused(self, name: str, commit: bytes) -> Moved:
        """Return what became of a ref that somebody else has changed meanwhile, maybe as it was to be."""
        with suppress(OSError):
            now = read_ref(self.repository, name)
            if now == commit:
                return Moved(name, "same", commit, commit)
            if now is not None:
                return Moved(name, "refused", now, commit, "moved")
        return Moved(name, "refused", None, commit, "in the way")

    def checked_out(self) -> frozenset[str]:
        """Return the refs that the HEADs of work trees are on: of the repository's own, and of linked ones."""
        heads = [] if is_bare(self.repository) else [self.git_dir / "HEAD"]
        with suppress(OSError):
            heads += [entry / "HEAD" for entry in (self.git_dir / "worktrees").iterdir()]
        found = set()
        for head in heads:
            with suppress(OSError):
                text = head.read_text(encoding="utf-8", errors="surrogateescape").strip()
                if text.startswith("ref:"):
                    found.add(text.removeprefix("ref:").strip())
        return frozenset(found)

    def move(self, updates: Iterable[RefUpdate], may_move: Callable[[str, bytes, bytes], bool]) -> list[Moved]:
        """Let refs name commits that are in the repository; `may_move` is asked for those that name another one.

        Each is compared and set: one that somebody moves meanwhile is `refused`, and so is one that is checked out,
        whose work tree would seem to be changed. Raises `RefsNotWritten`.
        """
        known = self.refs()
        out = self.checked_out()
        done = []
        for name, commit in updates:
            old = known.get(name)
            if old == commit:
                done.append(Moved(name, "same", old, commit))
            elif name in out:
                done.append(Moved(name, "refused", old, commit, "checked out"))
            elif old is not None and not may_move(name, old, commit):
                done.append(Moved(name, "refused", old, commit, "moved"))
            else:
                (told,) = update_refs(self.repository, [refs_update.RefUpdate(name, old, commit)])
                if told.outcome == "refused":
                    done.append(self._refused(name, commit))
                else:
                    known[name] = commit
                    done.append(Moved(name, told.outcome, old, commit))
        return done
