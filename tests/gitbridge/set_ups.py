"""Repositories of all the kinds that people have, and one function that tells everything in them that must stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.gitbridge.real_git import Project, new_project

HOOK = "#!/bin/sh\necho ran >>\"$HOOK_RAN\"\nexit 1\n"
NAMES_OF_HOOKS = ("pre-commit", "post-commit", "reference-transaction", "post-update", "pre-push", "post-checkout",
                  "commit-msg", "prepare-commit-msg", "update", "pre-receive")  # fmt: skip


@dataclass
class SetUp:
    """A place that a command works in, the directories of everything around it, and the repository with its refs."""

    place: Path
    roots: list[Path]
    refused: str | None = None
    """What the commands say that cannot work in it."""
    environ: dict[str, str] = field(default_factory=dict)


def _plain(root: Path) -> Project:
    """Make a repository with a history, an uncommitted change, a new file, an ignored one, a stash and a tag."""
    project = new_project(root, {"a.txt": "one\r\ntwo\r\n", ".gitignore": "*.log\n", "src/b.py": "b = 1\n"})
    project.git("config", "core.logAllRefUpdates", "always")
    project.git("tag", "-a", "v1", "-m", "one")
    project.git("branch", "other")
    project.write({"a.txt": "stashed"})
    project.git("stash")
    project.write({"a.txt": "staged"})
    project.git("add", "a.txt")
    project.write({"a.txt": "changed", "new.txt": "x", "x.log": "y"})
    return project


def plain(root: Path) -> SetUp:
    return SetUp(_plain(root / "project").root, [root / "project"])


def packed(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.git("gc", "-q")
    return SetUp(project.root, [project.root])


def linked_worktree(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.git("worktree", "add", "-q", "-b", "linked", root / "linked")
    (root / "linked" / "new.txt").write_text("x")
    return SetUp(root / "linked", [project.root, root / "linked"])


def submodule(root: Path) -> SetUp:
    _plain(root / "library")
    project = _plain(root / "project")
    project.git("submodule", "--quiet", "add", root / "library", "library")
    (project.root / "library" / "new.txt").write_text("x")
    return SetUp(project.root / "library", [project.root, root / "library"])


def bare(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.git("clone", "-q", "--bare", ".", root / "bare.git")
    return SetUp(root / "bare.git", [project.root, root / "bare.git"])


def worktree_of_bare(root: Path) -> SetUp:
    set_up = bare(root)
    Project(set_up.place).git("worktree", "add", "-q", root / "linked", "other")
    return SetUp(root / "linked", [*set_up.roots, root / "linked"])


def shallow(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.commit({"c.txt": "c"})
    project.git("clone", "-q", "--depth", "1", f"file://{project.root}", root / "shallow")
    return SetUp(root / "shallow", [project.root, root / "shallow"])


def alternates(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.git("clone", "-q", "--shared", ".", root / "borrower")
    return SetUp(root / "borrower", [project.root, root / "borrower"])


def partial(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.git("config", "uploadpack.allowFilter", "true")
    project.git("clone", "-q", "--filter=blob:none", f"file://{project.root}", root / "partial")
    return SetUp(root / "partial", [project.root, root / "partial"])


def sparse(root: Path) -> SetUp:
    project = _plain(root / "project")
    project.git("clone", "-q", "--sparse", ".", root / "sparse")
    return SetUp(root / "sparse", [project.root, root / "sparse"])


def detached(root: Path) -> SetUp:
    project = new_project(root / "project", {"a": "a"})
    project.git("checkout", "-q", "--detach")
    return SetUp(project.root, [project.root])


def unborn(root: Path) -> SetUp:
    project = new_project(root / "project")
    project.write({"a": "a"})
    return SetUp(project.root, [project.root])


def separate_git_dir(root: Path) -> SetUp:
    root.mkdir(parents=True, exist_ok=True)
    Project(root).git("init", "-q", "--separate-git-dir", root / "elsewhere.git", root / "project")
    Project(root / "project").commit({"a": "a"})
    return SetUp(root / "project", [root / "project", root / "elsewhere.git"])


def sha256(root: Path) -> SetUp:
    root.mkdir(parents=True, exist_ok=True)
    Project(root).git("init", "-q", "--object-format=sha256", root / "project")
    Project(root / "project").commit({"a": "a"})
    return SetUp(root / "project", [root / "project"], refused="SHA-1")


def reftable(root: Path) -> SetUp:
    """A git that knows none of them sees only that it cannot use this repository, as it would a real one."""
    project = new_project(root / "project", {"a": "a"})
    project.git("config", "core.repositoryFormatVersion", "1")
    project.git("config", "extensions.refStorage", "reftable")
    return SetUp(project.root, [project.root], refused="ref(table|storage)")


def hooks(root: Path) -> SetUp:
    set_up = plain(root)
    (root / "hooks").mkdir()
    for directory in (root / "hooks", set_up.place / ".git" / "hooks"):
        for name in NAMES_OF_HOOKS:
            (directory / name).write_text(HOOK)
            (directory / name).chmod(0o755)
    Project(set_up.place).git("config", "core.hooksPath", root / "hooks")
    (root / "ran").mkdir()
    return SetUp(set_up.place, [*set_up.roots, root / "ran"], environ={"HOOK_RAN": str(root / "ran" / "hooks")})


def signing(root: Path) -> SetUp:
    set_up = plain(root)
    for name, value in {"commit.gpgsign": "true", "tag.gpgsign": "true", "user.signingkey": "0123456789ABCDEF",
                        "gpg.program": "/nowhere/gpg", "push.gpgSign": "if-asked"}.items():  # fmt: skip
        Project(set_up.place).git("config", name, value)
    return set_up


def converting(root: Path) -> SetUp:
    set_up = plain(root)
    project = Project(set_up.place)
    project.git("config", "core.autocrlf", "true")
    project.git("config", "core.eol", "crlf")
    project.git("config", "filter.bad.clean", "false")
    project.write({".git/info/attributes": "* text filter=bad ident\n"})
    return set_up


def odd_settings(root: Path) -> SetUp:
    set_up = plain(root)
    for name, value in {"core.fsmonitor": "false", "core.quotePath": "true", "gc.auto": "1", "gc.autoPackLimit": "1",
                        "i18n.commitEncoding": "latin1", "transfer.fsckObjects": "true", "core.ignoreCase": "true",
                        "core.compression": "0", "pack.indexVersion": "1", "core.precomposeUnicode": "true",
                        "user.name": "", "user.useConfigOnly": "true"}.items():  # fmt: skip
        Project(set_up.place).git("config", name, value)
    return set_up


SET_UPS: dict[str, Callable[[Path], SetUp]] = {
    each.__name__.replace("_", " "): each
    for each in (plain, packed, linked_worktree, submodule, bare, worktree_of_bare, shallow, alternates, partial,
                 sparse, detached, unborn, separate_git_dir, sha256, reftable, hooks, signing, converting,
                 odd_settings)
}


def point_to(decoy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every variable of git name another repository, as it is in a hook of that one."""
    git_dir = decoy.root / ".git"
    for name, value in {
        "GIT_DIR": git_dir, "GIT_WORK_TREE": decoy.root, "GIT_INDEX_FILE": git_dir / "index",
        "GIT_OBJECT_DIRECTORY": git_dir / "objects", "GIT_COMMON_DIR": git_dir, "GIT_PREFIX": "x/",
        "GIT_NAMESPACE": "decoy", "GIT_ALTERNATE_OBJECT_DIRECTORIES": git_dir / "objects",
        "GIT_CONFIG": git_dir / "config", "GIT_CEILING_DIRECTORIES": "/", "GIT_TEMPLATE_DIR": decoy.root,
        "GIT_AUTHOR_DATE": "@1 +0000", "GIT_COMMITTER_DATE": "@1 +0000", "GIT_AUTHOR_NAME": "decoy",
        "GIT_QUARANTINE_PATH": git_dir / "objects",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))


def what_must_stay(root: Path, ours: Callable[[str], bool], *, cache: bool) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of everything below a directory but objects and our own refs: work tree, HEAD, index,
    configuration, hooks, logs, other refs, and what git keeps of linked worktrees and submodules. With `cache` also
    without what exports leave for the next one in `pivcs/` of the git directory.

    Of objects there may be more afterwards; `every_object` tells whether all of them are still there.
    """
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        parts = name.split("/")
        if "objects" in parts and (".git" in parts or parts[0] == "objects"):
            continue
        if "pivcs" in parts and "refs" not in parts and cache:
            continue
        if "refs" in parts and "logs" not in parts:
            ref = "/".join(parts[parts.index("refs") :])
            if path.is_dir() or ours(ref.removesuffix(".lock")):
                continue
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[name] = status.st_mode, content
    return found


def every_object(place: Path) -> set[str]:
    """Return the ids of all objects that a repository has, reachable or not."""
    listing = Project(place).git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
    return set(listing.split())

