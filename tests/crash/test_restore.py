"""Restoring files while the process is killed, at every single step, and on a full disk: no byte is lost."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pivcs.ops import restore_apply, work_tree
from pivcs.ops.operations import NothingToUndo
from pivcs.ops.work_tree import NoDirectoryThere
from pivcs.store.store import Store
from pivcs.workspace.base import MappingBase
from tests.crash.writing import start
from tests.ops.restoring import Image, Project, image, knowledge, project
from tests.store.limits import small_limits

DISK = {"a": b"new", "d/b": b"2" * 9000, "made/deep/x": b"mine", "untracked": b"u"}
KNOWN = knowledge(
    {"a": b"old" * 5000, "d/b": b"1", "made/deep/x": None, "gone/far/y": b"back"},
    {"a": b"new", "d/b": b"2" * 9000, "made/deep/x": b"mine"},
    created=("made/deep/x",),
    base=MappingBase({"a": b"old"}),
)
CALLS = ("open", "link", "replace", "rename", "unlink", "mkdir", "rmdir", "fsync")


class Counting:
    """Stands for the module `os` where files are written: something happens before the call of a given number."""

    def __init__(self, number: int, happens: Callable[[str], None]) -> None:
        self.calls = 0
        self._number = number
        self._happens = happens

    def __getattr__(self, name: str) -> object:
        if name not in CALLS:
            return getattr(os, name)

        def call(*arguments: object, **options: object) -> object:
            self.calls += 1
            if self.calls == self._number:
                self._happens(name)
            return getattr(os, name)(*arguments, **options)

        return call


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def opened(directory: Path, store: Store) -> Project:
    """Return a project that was made before."""
    (stream,) = store.streams()
    assert stream.session is not None
    return Project(directory / "project", store, stream.session, stream.id)


def killed_at(directory: Path, number: int, action: Callable[[Project], object]) -> bool:
    """Do something in a child that is killed before its call of a given number; returns whether it came so far."""

    def act() -> None:
        with Store.open(directory / "store.db") as store:
            here = opened(directory, store)
            setattr(work_tree, "os", Counting(number, die))  # noqa: B010 - the name is not for others
            action(here)

    _, status = os.waitpid(start(act), 0)
    assert status in (0, signal.SIGKILL), "the child process failed, see its output"
    return status == signal.SIGKILL


def made(directory: Path) -> Image:
    with Store.open(directory / "store.db", create=True) as store:
        return image(project(directory, DISK, store).root)


def undo_all(directory: Path) -> None:
    with Store.open(directory / "store.db") as store:
        here = opened(directory, store)
        for _ in range(3):
            try:
                here.undo()
            except NothingToUndo:
                return
    raise AssertionError("there is no end to it")


def without_directories(found: Image) -> Image:
    """An emptied directory stays when the process was killed right before it would have gone: it may be anybody's."""
    return {name: value for name, value in found.items() if not stat.S_ISDIR(value[0])}


def test_killed_before_any_call_undo_brings_all_back_and_a_new_restore_goes_on(tmp_path: Path) -> None:
    with small_limits():
        whole = tmp_path / "whole"
        before = made(whole)
        with Store.open(whole / "store.db") as store:
            opened(whole, store).restore(KNOWN)
        after = image(whole / "project")
        number, killed = 0, True
        while killed:
            number += 1
            undone, again = tmp_path / f"{number}", tmp_path / f"{number}-again"
            made(undone)
            killed = killed_at(undone, number, lambda here: here.restore(KNOWN))
            shutil.copytree(undone, again)
            undo_all(undone)
            assert image(undone / "project") == before, number
            with Store.open(again / "store.db") as store:
                # The copy's root is another one: so is its operation's.
                with store.writing() as connection:
                    connection.execute("UPDATE kept_tree SET root = ?", (os.fsencode(again / "project"),))
                opened(again, store).restore(KNOWN)
            assert without_directories(image(again / "project")) == without_directories(after), number
            undo_all(again)
            assert image(again / "project") == before, number
            shutil.rmtree(undone)
            shutil.rmtree(again)
        assert number > 40


def test_undo_that_is_killed_before_any_call_can_be_said_again(tmp_path: Path) -> None:
    number, killed = 0, True
    while killed:
        number += 1
        directory = tmp_path / f"{number}"
        before = made(directory)
        with Store.open(directory / "store.db") as store:
            opened(directory, store).restore(KNOWN)
        killed = killed_at(directory, number, lambda here: here.undo())
        undo_all(directory)
        assert image(directory / "project") == before, number
        shutil.rmtree(directory)
    assert number > 30


def no_space(_: str) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_full_disk_at_any_call_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number, reached = 0, True
    while reached:
        number += 1
        directory = tmp_path / f"{number}"
        before = made(directory)
        counting = Counting(number, no_space)
        with Store.open(directory / "store.db") as store:
            here = opened(directory, store)
            with monkeypatch.context() as patch:
                patch.setattr(work_tree, "os", counting)
                try:
                    applied = here.restore(KNOWN)
                except NoDirectoryThere:  # where the directory was opened for the plan, or for the writing
                    applied = None
            assert image(here.root)["untracked"] == before["untracked"]
            if applied is not None and applied.operation is not None:
                here.undo()
            assert image(here.root) == before, number
        reached = counting.calls >= number
        shutil.rmtree(directory)
    assert number > 40


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB; only root can make one."""
    place = tmp_path / "small"
    place.mkdir()
    try:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no mount program")
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_small_disk_that_is_full_keeps_every_file(small_disk: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db", create=True) as store:
        here = project(small_disk, {"a": b"x" * 20_000, "b": b"small", "untracked": b"u"}, store)
        before = image(here.root)
        known = knowledge({"a": b"y" * 60_000, "b": b"y", "c": b"z"}, {"a": b"x" * 20_000, "b": b"small"})
        applied = here.restore(known)
        outcomes = {each.file.path.text: (each.outcome, each.reason) for each in applied.files}
        assert outcomes["a"] == ("failed", "no space left on device")
        assert outcomes["b"][0] == outcomes["c"][0] == "planned"
        assert image(here.root) == before
        here.undo()
        assert image(here.root) == before


def test_full_store_touches_no_file(tmp_path: Path) -> None:
    from pivcs.store.errors import StoreFull

    with Store.open(tmp_path / "store.db", create=True) as store:
        here = project(tmp_path, {"a": os.urandom(50_000)}, store)
        before = image(here.root)
        (pages,) = store.database.connection.execute("PRAGMA page_count").fetchone()
        store.database.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        known = knowledge({"a": b"old"}, {"a": (here.root / "a").read_bytes()})
        with pytest.raises(StoreFull):
            here.restore(known)
        assert image(here.root) == before


def test_outcomes_that_cannot_be_noted_leave_an_operation_that_can_be_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "store.db", create=True) as store:
        here = project(tmp_path, DISK, store)
        before = image(here.root)
        monkeypatch.setattr(restore_apply, "settle", lambda *_: None)
        here.restore(KNOWN)
        monkeypatch.undo()
        here.undo()
        assert image(here.root) == before


def test_writer_that_writes_up_to_the_last_moment_keeps_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever call it is before which somebody writes to the file, what they wrote is there at the end."""
    number, reached = 0, True
    while reached:
        number += 1
        with Store.open(tmp_path / f"{number}.db", create=True) as store:
            here = project(tmp_path / f"{number}", {"a": b"new"}, store)
            plan = here.plan(knowledge({"a": b"old"}, {"a": b"new"}))
            writing = (here.root / "a").open("r+b", buffering=0)
            counting = Counting(number, partial(_write, writing))
            with monkeypatch.context() as patch:
                patch.setattr(work_tree, "os", counting)
                (restored,) = here.apply(plan).files
            reached = counting.calls >= number
            writing.close()
            if restored.outcome != "done":
                assert (here.root / "a").read_bytes() == b"newer"
            elif reached:  # it was in place by then: the old file has no name any more
                assert (here.root / "a").read_bytes() == b"old"
                assert number >= counting.calls - 3
    assert number > 8


def _write(file: object, _: str) -> None:
    file.write(b"newer")  # type: ignore[attr-defined]
