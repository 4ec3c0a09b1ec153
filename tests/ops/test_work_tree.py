from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pivcs.objects.hashing import whole_hash
from pivcs.ops import work_tree
from pivcs.ops.work_tree import NOTHING_THERE, NoDirectoryThere, SomebodyWasFaster, WorkTree
from tests.ops.restoring import image, put


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(work_tree, "_BY_DESCRIPTOR", request.param)
    put(tmp_path / "root", {"a": b"1", "d/b": b"2"})
    return tmp_path / "root"


def test_everything_that_can_be_there_is_told_apart(root: Path) -> None:
    (root / "link").symlink_to("a")
    (root / "dangling").symlink_to("nowhere")
    (root / "into").symlink_to("d")
    os.mkfifo(root / "pipe")
    with WorkTree(str(root)) as tree:
        found = {
            path: tree.look(path).kind
            for path in ("a", "d", "d/b", "link", "dangling", "pipe", "x", "d/x", "x/y/z", "into/b", "a/x", "n" * 300)
        }
        assert tree.look("link").digest == whole_hash([b"a"])
        assert b"".join(tree.read("link")) == b"a"
        assert b"".join(tree.read("d/b")) == b"2"
    assert found == {
        "a": "file", "d": "directory", "d/b": "file", "link": "link", "dangling": "link", "pipe": "other",
        "x": "nothing", "d/x": "nothing", "x/y/z": "nothing", "into/b": "behind-link", "a/x": "behind-file",
        "n" * 300: "unreadable",
    }  # fmt: skip


def test_file_is_replaced_whole_with_its_mode(root: Path) -> None:
    with WorkTree(str(root)) as tree:
        tree.put(b"a", 0o100750, [b"n", b"ew"], tree.look("a"), ".t")
        tree.put(b"d/new", 0o100644, [], NOTHING_THERE, ".t")
        tree.put(b"l", 0o120777, [b"a"], NOTHING_THERE, ".t")
    assert {name: data for name, (_, data) in image(root).items()} == {
        "a": b"new", "d": b"", "d/b": b"2", "d/new": b"", "l": b"a",
    }  # fmt: skip
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o750


def test_nothing_is_written_over_what_was_not_seen(root: Path) -> None:
    with WorkTree(str(root)) as tree:
        seen = tree.look("a")
        put(root, {"a": b"other", "x": b"came"})
        before = image(root)
        with pytest.raises(SomebodyWasFaster):
            tree.put(b"a", 0o100644, [b"new"], seen, ".t")
        with pytest.raises(SomebodyWasFaster):
            tree.put(b"x", 0o100644, [b"new"], NOTHING_THERE, ".t")
        with pytest.raises(SomebodyWasFaster):
            tree.remove(b"a", seen, ".t")
        (root / "a").unlink()
        with pytest.raises(SomebodyWasFaster):
            tree.put(b"a", 0o100644, [b"new"], seen, ".t")
        put(root, {"a": b"other"})
    assert {name: data for name, (_, data) in image(root).items()} == {name: data for name, (_, data) in before.items()}


def test_second_name_that_holds_something_is_not_taken(root: Path) -> None:
    put(root, {".t.old": b"precious", "d/.t.tmp": b"precious"})
    before = image(root)
    with WorkTree(str(root)) as tree:
        with pytest.raises(FileExistsError):
            tree.remove(b"a", tree.look("a"), ".t")
        with pytest.raises(FileExistsError):
            tree.put(b"a", 0o100644, [b"new"], tree.look("a"), ".t")
        with pytest.raises(FileExistsError):
            tree.put(b"d/b", 0o100644, [b"new"], tree.look("d/b"), ".t")
    assert image(root) == before


def test_error_while_reading_the_new_bytes_leaves_nothing_behind(root: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("no more")

    before = image(root)
    with WorkTree(str(root)) as tree, pytest.raises(ValueError, match="no more"):
        tree.put(b"a", 0o100644, broken(), tree.look("a"), ".t")
    assert image(root) == before


def test_link_on_the_way_is_never_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "into").symlink_to(tmp_path / "outside")
    with WorkTree(str(root)) as tree:
        actions: list[Callable[[], None]] = [
            lambda: tree.put(b"into/x", 0o100644, [b"x"], NOTHING_THERE, ".t"),
            lambda: tree.make_directory(b"into/x", 0o755),
            lambda: tree.remove(b"into/x", NOTHING_THERE, ".t"),
        ]
        for action in actions:
            with pytest.raises(SomebodyWasFaster):
                action()
        assert not tree.remove_directory(b"into/x")
    assert list((tmp_path / "outside").iterdir()) == []


def test_directory_goes_only_when_it_is_empty(root: Path) -> None:
    with WorkTree(str(root)) as tree:
        assert not tree.remove_directory(b"d")
        tree.make_directory(b"e", 0o700)
        tree.make_directory(b"e", 0o755)
        assert stat.S_IMODE((root / "e").stat().st_mode) == 0o700
        assert tree.remove_directory(b"e")
        assert tree.remove_directory(b"e")
        with pytest.raises(SomebodyWasFaster):
            tree.make_directory(b"a", 0o755)


def test_what_a_stopped_process_left_is_cleaned_but_no_unknown_bytes(root: Path) -> None:
    put(root, {".t.tmp": b"half", ".t.old": b"1", "d/.t.old": b"unknown", "d/.u.old": b"unknown"})
    (root / "d/b").unlink()
    with WorkTree(str(root)) as tree:
        tree.clean(b"a", ".t", frozenset([whole_hash([b"1"])]))
        tree.clean(b"d/b", ".t", frozenset())  # its name is free: the file comes back
        tree.clean(b"d/b", ".u", frozenset())
        tree.clean(b"x/y", ".t", frozenset())
    assert {name: data for name, (_, data) in image(root).items()} == {
        "a": b"1", "d": b"", "d/b": b"unknown", "d/.u.old": b"unknown",
    }  # fmt: skip


def test_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, {"file": b""})
    for name in ("missing", "file"):
        with pytest.raises(NoDirectoryThere, match=f"'{tmp_path / name}'"):
            WorkTree(str(tmp_path / name))


def test_root_may_be_a_link_and_case_counts_here(root: Path, tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to(root)
    with WorkTree(str(tmp_path / "l")) as tree:
        assert tree.root == os.fsencode(root)
        assert tree.look("a").kind == "file"
        assert tree.folds_case() == (tmp_path / "ROOT").exists()
