"""Trees that are changed a little at a time are those that git would write."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pivcs.gitbridge.objects import BLOB, COMMIT, EXECUTABLE_MODE, FILE_MODE, Identity, commit_bytes, object_id
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.trees import EMPTY, Change, Tree, changed
from tests.gitbridge.git import check, git, needs_git, new_repository

NAMES = st.sampled_from([b"a", b"a.b", b"a0", b"a-", b"b", "é".encode(), b"foo 100644 a", b"100644 a", b"40000 b"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
MODES = st.sampled_from([FILE_MODE, EXECUTABLE_MODE, b"120000"])
CONTENTS = st.binary(max_size=3)
STEPS = st.lists(st.lists(st.tuples(PATHS, MODES, st.none() | CONTENTS), max_size=4), max_size=6)


def put(files: dict[tuple[bytes, ...], tuple[bytes, bytes]], path: tuple[bytes, ...], file: object) -> None:
    """Do to a dictionary what a change does to a tree."""
    for other in list(files):
        if other[: len(path)] == path or (file is not None and path[: len(other)] == other):
            del files[other]
    if file is not None:
        files[path] = file  # type: ignore[assignment]


def by_git(repository: Path, files: dict[tuple[bytes, ...], tuple[bytes, bytes]]) -> str:
    """Let git make the tree of some files through an index of its own."""
    git(repository, "read-tree", "--empty")
    lines = b"".join(
        b"%s %s\t%s\0" % (mode, ident.hex().encode(), b"/".join(path)) for path, (mode, ident) in files.items()
    )
    git(repository, "update-index", "-z", "--index-info", stdin=lines)
    return git(repository, "write-tree", "--missing-ok").decode().strip()


@needs_git
@settings(max_examples=40)
@given(STEPS)
def test_each_tree_is_the_one_that_git_makes_of_the_same_files(steps: list) -> None:  # type: ignore[type-arg]
    with tempfile.TemporaryDirectory() as place:
        repository = new_repository(Path(place))
        tree, files = EMPTY, {}
        trees = []
        with PackWriter(repository / ".git" / "objects") as writer:
            writer.add(2, b"")
            for step in steps:
                changes: dict[tuple[bytes, ...], tuple[bytes, bytes] | None] = {}
                for path, mode, content in step:
                    if any(path[: len(other)] == other or other[: len(path)] == path for other in changes):
                        continue  # one step names a path once
                    changes[path] = (mode, writer.add(BLOB, content)) if content is not None else None
                for path, file in changes.items():
                    if file is not None or path in files or any(other[: len(path)] == path for other in files):
                        put(files, path, file)
                tree = changed(writer, tree, changes.items())
                trees.append((tree.raw and tree.ident.hex(), dict(files)))
            writer.finish()
        for ident, expected in trees:
            if expected:
                assert ident == by_git(repository, expected)
            else:
                assert ident == b""


@needs_git
def test_a_long_history_is_clean_and_a_branch_goes_on_from_an_old_tree(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    with PackWriter(repository / "objects") as writer:
        tree, kept, parents = EMPTY, [], []
        for number in range(300):
            blob = writer.add(BLOB, b"%d" % number)
            path = (b"d%d" % (number // 90), b"f%02d" % (number % 90))
            tree = changed(writer, tree, [(path, (FILE_MODE, blob)), ((b"same",), (FILE_MODE, blob))])
            kept.append(tree)
            parents = [commit(writer, tree, parents)]
        side = changed(writer, kept[100], [((b"side",), (FILE_MODE, writer.add(BLOB, b"side")))])
        branch = commit(writer, side, [])
        writer.finish()
    git(repository, "update-ref", "refs/heads/main", parents[0].hex())
    git(repository, "update-ref", "refs/heads/side", branch.hex())
    check(repository)
    assert len(git(repository, "ls-tree", "-r", "--name-only", "main").splitlines()) == 301
    assert git(repository, "show", "side:same") == b"100"
    assert git(repository, "show", "side:d1/f10") == b"100"


def commit(writer: PackWriter, tree: Tree, parents: list[bytes]) -> bytes:
    who = Identity(b"A", b"a@example.org", 1)
    return writer.add(COMMIT, commit_bytes(tree.ident, parents, who, who, b"x\n"))


def test_nothing_changed_is_the_same_tree(tmp_path: Path) -> None:
    with PackWriter(tmp_path) as writer:
        ident = object_id(BLOB, b"x")
        change: list[Change] = [((b"a", b"b"), (FILE_MODE, ident))]
        tree = changed(writer, EMPTY, change)
        assert changed(writer, tree, change).ident == tree.ident
        assert changed(writer, tree, []).ident == tree.ident
        assert tree.directories[b"a"].entry(b"b") == (FILE_MODE, ident)
        assert tree.entry(b"b") is None
        assert tree.names() == [b"a"]
