"""Which git repository a directory is in, and its objects. `GIT_*` variables have no say in it.

Finding it reads a few small files and imports nothing; dulwich is imported when objects are read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pivcs.errors import InputError, StateError, UnsupportedFormat
from pivcs.gitbridge.process import Git, GitFailed

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_SECTION: Final = re.compile(r"\[\s*([A-Za-z0-9.-]+)\s*(?:\"[^\"]*\")?\s*\]")


class NoRepository(StateError):
    """A directory is in no git repository, or in one that is not whole."""


class UnknownCommit(InputError):
    """A text names no commit."""


class OtherHash(UnsupportedFormat):
    """A repository whose object ids are not SHA-1."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository as seen from a directory.

    `root` is the top of the work tree; None for a bare repository, and inside of `.git`. `git_dir` has HEAD and its
    log, `common_dir` objects and refs: they differ in a linked worktree. `prefix` is where the directory is below
    `root`, with slashes; empty at the root itself. The directory, and `root`, may be deleted.
    """

    root: Path | None
    git_dir: Path
    common_dir: Path
    prefix: str

    @contextmanager
    def objects(self) -> Iterator[DiskObjectStore]:
        """Give the repository's objects, those of its alternates too. Raises `OtherHash`."""
        store = self.open_objects()
        try:
            yield store
        finally:
            store.close()

    def open_objects(self) -> DiskObjectStore:
        """Return the repository's objects, to be closed by the caller. Raises `OtherHash`."""
        if setting(self.common_dir, "extensions", "objectformat") not in (None, "sha1"):
            raise OtherHash(
                f"the repository in '{self.common_dir}' does not use SHA-1", hint="only SHA-1 repositories can be read"
            )
        from dulwich.object_store import DiskObjectStore

        return DiskObjectStore(self.common_dir / "objects")


def find_repository(directory: str) -> Repository:
    """Return the repository that a directory is in, as git finds it: linked worktrees, submodules and bare ones too.

    The directory may have been deleted: then what is left of it above counts, and what git still knows of a deleted
    worktree or submodule. Raises `NoRepository`, with the reason.
    """
    real = Path(os.path.realpath(directory))
    for place in (real, *real.parents):
        dot = place / ".git"
        if os.path.isfile(dot):
            git_dir = _linked(dot, "gitdir: ")
            if git_dir is None or not _is_git_dir(git_dir):
                where = f"points to '{git_dir}', where no repository is" if git_dir is not None else "says nothing"
                raise NoRepository(f"'{dot}' {where}")
            return _repository(place, git_dir, real)
        if _is_git_dir(dot):
            found = _repository(place, dot, real)
            return found if os.path.exists(real) else _deleted(found, place, real)
        if _is_git_dir(place):
            return Repository(None, place, _common_dir(place), "")
    gone = "" if os.path.exists(real) else " is not there any more, and"
    raise NoRepository(f"'{real}'{gone} is in no git repository")


def _deleted(found: Repository, place: Path, real: Path) -> Repository:
    """Return the repository of a deleted directory below `place`: it may have been a worktree or a submodule."""
    missing = [each for each in (real, *real.parents) if place in each.parents and not os.path.exists(each)]
    try:
        entries = sorted((found.common_dir / "worktrees").iterdir())
    except OSError:
        entries = []
    for entry in entries:
        link = _linked(entry / "gitdir", "")
        if link is not None and link.parent in missing and _is_git_dir(entry):
            return _repository(link.parent, entry, real)
    for each in missing:
        module = found.common_dir / "modules" / each.relative_to(place)
        if _is_git_dir(module):
            return _repository(each, module, real)
    return found


def _repository(root: Path, git_dir: Path, real: Path) -> Repository:
    inside = real.relative_to(root).as_posix()
    return Repository(root, git_dir, _common_dir(git_dir), "" if inside == "." else inside)


def _is_git_dir(place: Path) -> bool:
    common = _common_dir(place)
    return os.path.lexists(place / "HEAD") and os.path.isdir(common / "objects") and os.path.isdir(common / "refs")


def _common_dir(git_dir: Path) -> Path:
    return _linked(git_dir / "commondir", "") or git_dir


def _linked(file: Path, prefix: str) -> Path | None:
    """Return the path that a small file of git holds behind `prefix`, relative to where it stands."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            return None
        text = os.fsdecode(file.read_bytes()[: 1 << 16])
    except (OSError, ValueError):
        return None
    target = text.removeprefix(prefix).rstrip("\r\n")
    if not text.startswith(prefix) or not target or "\0" in target:
        return None
    return Path(os.path.realpath(file.parent / target))


def setting(common_dir: Path, wanted: str, name: str) -> str | None:
    """Return the value that a repository's own configuration has for a name in a section, in lower case."""
    try:
        text = (common_dir / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    section = value = None
    for line in map(str.strip, text.splitlines()):
        header = _SECTION.match(line)
        if header is not None:
            section = header[1].lower()
            line = line[header.end() :].strip()
        key, equals, given = line.partition("=")
        if section == wanted and key.strip().lower() == name:
            value = given.strip().strip('"').lower() if equals else "true"
    return value


def uses_reftable(repository: Repository) -> bool:
    """Whether refs and their logs are not in files that can be read here."""
    return setting(repository.common_dir, "extensions", "refstorage") not in (None, "files")


def is_bare(repository: Repository) -> bool:
    """Whether a repository has no work tree beside it; there may be linked ones all the same."""
    return setting(repository.common_dir, "core", "bare") in ("true", "yes", "on", "1")


def resolve_commit(repository: Repository, text: str, git: Git | None) -> str:
    """Return the id of the commit that a text names as git understands it: a branch, a tag, an id, `HEAD~2`.

    Without a `git` program only names of refs and ids are understood. Raises `UnknownCommit`, `OtherHash`, `GitFailed`.
    """
    unknown = UnknownCommit(f"'{text}' names no commit in '{repository.root or repository.git_dir}'")
    if not text or text.startswith("-") or "\0" in text or "\n" in text:
        raise unknown
    if git is None:
        return _resolved_by_dulwich(repository, text, unknown)
    try:
        out = git.run(
            "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}", cwd=repository.git_dir, git_dir=repository.git_dir
        )
    except GitFailed as error:
        if error.code == 1 or "bad revision" in error.said or "Needed a single revision" in error.said:
            raise unknown from error
        raise
    return out.decode("ascii").strip()


def _resolved_by_dulwich(repository: Repository, text: str, unknown: UnknownCommit) -> str:
    from dulwich.errors import NotGitRepository
    from dulwich.objectspec import parse_commit
    from dulwich.repo import Repo

    repository.open_objects().close()  # refuses what cannot be read
    try:
        with Repo(str(repository.root or repository.git_dir)) as opened:
            return parse_commit(opened, text.encode("utf-8", "surrogateescape")).id.decode("ascii")
    except (KeyError, ValueError, NotGitRepository, OSError) as error:
        raise unknown from error
