from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pivcs.gitbridge.base import GitBase, MissingObject
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import UnknownCommit, find_repository
from pivcs.workspace.base import Base, BaseFile
from tests.gitbridge.real_git import Content, Project, new_project

pytestmark = pytest.mark.interop


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def opened(project: Project, commit: str, inside: str = "") -> GitBase:
    repository = find_repository(str(project.root / inside))
    return GitBase(repository, commit, repository.prefix)


def test_files_modes_and_links_of_a_commit(project: Project) -> None:
    project.write({"run.sh": "#!/bin/sh\n", "a/b/c": b"\0\xff\r\n", "empty": ""})
    (project.root / "run.sh").chmod(0o755)
    (project.root / "a" / "link").symlink_to("b/c")
    commit = project.commit({})
    with opened(project, commit) as base:
        assert base.label == f"commit {commit[:8]}"
        assert base.paths() == ["a/b/c", "a/link", "empty", "run.sh"]
        assert base.read("run.sh") == BaseFile(b"#!/bin/sh\n", executable=True)
        assert base.read("a/b/c") == BaseFile(b"\0\xff\r\n")
        assert base.read("a/link") == BaseFile(b"b/c", symlink=True)
        assert base.read("empty") == BaseFile(b"")
        for path in ("a", "a/b", "", "b", "a/b/c/d", "run.sh/x", "a/link/x", "../a", "\0", "\ud800"):
            assert base.read(path) is None
    with opened(project, commit, "a/b") as below:
        assert below.paths() == ["c"]
        assert below.read("c") == BaseFile(b"\0\xff\r\n")
        assert below.read("a/b/c") is None


def test_place_that_the_commit_does_not_have_is_empty(project: Project) -> None:
    commit = project.commit({"a": "1"})
    (project.root / "new").mkdir()
    (project.root / "a.d").mkdir()
    for inside in ("new", "a.d"):
        with opened(project, commit, inside) as base:
            assert base.paths() == []
            assert base.read("a") is None


def test_submodule_has_no_files(project: Project, tmp_path: Path) -> None:
    inner = new_project(tmp_path / "inner", {"x": "x"})
    project.git("submodule", "--quiet", "add", inner.root, "lib")
    with opened(project, project.commit({"a": "1"})) as base:
        assert base.paths() == [".gitmodules", "a"]
        assert base.read("lib") is None
        assert base.read("lib/x") is None


def test_bytes_are_those_of_the_repository_whatever_a_checkout_does(project: Project) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    commit = project.commit({"text": "a\nb\n", "crlf": "a\r\nb\r\n", "big.bin": pointer})
    project.git("config", "core.autocrlf", "true")
    project.git("config", "filter.lfs.smudge", "exit 1")
    project.write({".git/info/attributes": "text eol=crlf\nbig.bin filter=lfs\n"})
    with opened(project, commit) as base:
        assert base.read("text") == BaseFile(b"a\nb\n")
        assert base.read("crlf") == BaseFile(b"a\r\nb\r\n")
        assert base.read("big.bin") == BaseFile(pointer.encode())


def test_names_that_are_not_utf8_come_back_as_the_file_system_has_them(project: Project) -> None:
    (project.root / os.fsdecode(b"caf\xe9")).write_bytes(b"1")
    with opened(project, project.commit({"é": "2"})) as base:
        assert base.paths() == sorted([os.fsdecode(b"caf\xe9"), "é"])
        assert [file and file.content for file in map(base.read, base.paths())] == [
            {os.fsdecode(b"caf\xe9"): b"1", "é": b"2"}[path] for path in base.paths()
        ]


def test_deep_and_wide_trees_are_read(project: Project) -> None:
    files: dict[str, Content] = {"/".join(["d"] * 300) + "/f": "deep"}
    files |= {f"w{number}/f": str(number) for number in range(400)}
    with opened(project, project.commit(files)) as base:
        assert base.paths() == sorted(files)
        assert all(base.read(path) == BaseFile(str(text).encode()) for path, text in files.items())


def test_missing_and_damaged_objects_are_told(project: Project) -> None:
    commit = project.commit({"a": "1", "b/c": "2"})
    blob, tree = project.git("rev-parse", "HEAD:a"), project.git("rev-parse", "HEAD:b")
    (project.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    broken = project.root / ".git" / "objects" / tree[:2] / tree[2:]
    broken.chmod(0o644)
    broken.write_bytes(b"no zlib")
    with opened(project, commit) as base:
        for path in ("a", "b/c"):
            with pytest.raises(MissingObject, match=rf"commit {commit[:8]}: object [0-9a-f]+ is missing or damaged"):
                base.read(path)
        with pytest.raises(MissingObject):
            base.paths()
    with pytest.raises(UnknownCommit):
        opened(project, "0" * 40)
    with pytest.raises(UnknownCommit):
        opened(project, project.git("rev-parse", "HEAD^{tree}"))


def test_shallow_clone_has_its_last_commit(project: Project, tmp_path: Path) -> None:
    project.commit({"a": "1"})
    last = project.commit({"a": "2"})
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", tmp_path / "shallow")
    with opened(Project(tmp_path / "shallow"), last) as base:
        assert base.read("a") == BaseFile(b"2")


_NAMES = st.text("ab.é", min_size=1, max_size=3).filter(lambda name: name.strip("."))
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)


@given(st.dictionaries(_PATHS, st.binary(max_size=20), max_size=8), st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_base_has_what_was_committed(
    git: Git, tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], packed: bool
) -> None:
    project = new_project(tmp_path_factory.mktemp("p"))
    kept: dict[str, bytes] = {}
    for path, content in files.items():
        if not any(path.startswith(other + "/") or other.startswith(path + "/") for other in kept):
            kept[path] = content
    commit = project.commit(dict(kept))
    if packed:
        project.git("gc", "-q")
    base: Base
    with opened(project, commit) as base:
        assert list(base.paths()) == sorted(kept)
        assert {path: base.read(path) for path in base.paths()} == {path: BaseFile(kept[path]) for path in kept}
