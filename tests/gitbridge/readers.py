"""Three programs that read git repositories, each with code of its own: C git, dulwich and libgit2."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from dulwich.repo import Repo

from tests.gitbridge.git import git

KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}


def find_libgit2() -> ModuleType:
    """Return pygit2; without it the test is skipped, or fails with PIVCS_REQUIRE_INTEROP=1."""
    try:
        return importlib.import_module("pygit2")
    except ImportError:
        if os.environ.get("PIVCS_REQUIRE_INTEROP") == "1":
            pytest.fail("pygit2 is not installed")
        pytest.skip("pygit2 is not installed")


class Object(NamedTuple):
    """Kind and bytes of an object."""

    kind: str
    data: bytes


def by_git(repository: Path) -> Iterator[tuple[str, Object]]:
    """Yield every object as C git reads it."""
    out = git(repository, "cat-file", "--batch-all-objects", "--batch")
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        ident, kind, size = out[at:end].decode().split()
        at = end + 1 + int(size)
        yield ident, Object(kind, out[end + 1 : at])
        at += 1


def walked_by_git(repository: Path) -> set[str]:
    """Return every object that a ref reaches."""
    return set(git(repository, "rev-list", "--objects", "--no-object-names", "--all").decode().split())


def by_dulwich(repository: Path, idents: set[str]) -> dict[str, Object]:
    """Return objects as dulwich reads them; each is checked."""
    found = {}
    with Repo(str(repository)) as repo:
        for ident in idents:
            each = repo[ident.encode()]
            each.check()
            found[ident] = Object(each.type_name.decode(), each.as_raw_string())
    return found


def walked_by_dulwich(repository: Path) -> set[str]:
    """Return every object that a ref reaches."""
    found: set[str] = set()
    with Repo(str(repository)) as repo:
        waiting = [repo.refs[name] for name in repo.refs.allkeys() if name != b"HEAD"]
        while waiting:
            ident = waiting.pop()
            if ident.decode() in found:
                continue
            found.add(ident.decode())
            each = repo[ident]
            if each.type_name == b"commit":
                waiting += [each.tree, *each.parents]  # type: ignore[attr-defined]
            elif each.type_name == b"tree":
                waiting += [entry.sha for entry in each.items()]  # type: ignore[attr-defined]
    return found


def by_libgit2(pygit2: ModuleType, repository: Path, idents: set[str]) -> dict[str, Object]:
    """Return objects as libgit2 reads them."""
    repo = pygit2.Repository(str(repository))
    found = {}
    for ident in idents:
        kind, data = repo.read(ident)
        found[ident] = Object(KINDS[int(kind)], data)
    repo.free()
    return found


def walked_by_libgit2(pygit2: ModuleType, repository: Path) -> set[str]:
    """Return every object that a ref reaches."""
    repo = pygit2.Repository(str(repository))
    found: set[str] = set()
    waiting: list[Any] = [repo[repo.references[name].resolve().target] for name in repo.references]
    while waiting:
        each = waiting.pop()
        if str(each.id) in found:
            continue
        found.add(str(each.id))
        if each.type_str == "commit":
            waiting += [each.tree, *each.parents]
        elif each.type_str == "tree":
            waiting += list(each)
    repo.free()
    return found


def all_agree(repository: Path, pygit2: ModuleType) -> int:
    """Let all three read every object and walk from every ref; returns how many objects there are."""
    said = dict(by_git(repository))
    idents = set(said)
    assert by_dulwich(repository, idents) == said
    assert by_libgit2(pygit2, repository, idents) == said
    reached = walked_by_git(repository)
    assert walked_by_dulwich(repository) == reached
    assert walked_by_libgit2(pygit2, repository) == reached
    assert reached <= idents
    return len(idents)
