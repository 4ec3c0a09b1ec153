"""An export is killed before each of its calls of the system, or git packs and prunes beside it: what refs name is
there, and the next export completes it.

`PIVCS_CRASH_ROUNDS` over 50 (as `.ci/soak` sets it) also kills at that many random moments, and packs for as long.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copytree

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import Export, ExportOptions, export
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.refs_update import RefsNotWritten
from tests.builders import message_line
from tests.crash.writing import dies_before, kill_after, start
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, environment, git, needs_git, new_repository
from tests.ops.views import view_of
from tests.talks import Talk

ROUNDS = int(os.environ.get("PIVCS_CRASH_ROUNDS", "50"))
MOST = 400
"""Calls that no export of a small session comes near to."""
GC = "git -c gc.writeCommitGraph=false gc -q --prune=now"
"""A graph of commits would name those that the next command takes away, and `git fsck` complain of it."""
PACKING = f"until [ -e stop ]; do {GC}; git repack -adq; git pack-refs --all; done"

pytestmark = [needs_git, pytest.mark.skipif(not hasattr(os, "fork"), reason="no child can be made to be killed")]


def _session(turns: int) -> bytes:
    talk = Talk()
    for number in range(turns):
        talk.prompt(f"Question {number}")
        talk.write("src/a.py", f"a = {number}\n")
        talk.say("Done.")
    return talk.data


BEFORE, AFTER = _session(3), _session(5)


def _export(place: Path, *sessions: bytes, force: bool = False) -> Export:
    return export([view_of(data) for data in sessions], Destination.open(place), ExportOptions(force=force))


def _refs(place: Path) -> dict[str, str]:
    lines = git(place, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    return dict(line.split(" ", 1) for line in lines)


def _reviewed(place: Path) -> dict[str, str]:
    """Return the refs that are functions of the sessions; the start page has a history of its own."""
    return {ref: ident for ref, ident in _refs(place).items() if ref != "refs/heads/sessions"} | {
        "page": git(place, "rev-parse", "sessions^{tree}").decode()
    }


def _sound(place: Path) -> None:
    """Let git look at everything, after its locks were removed as it says when it meets one."""
    for lock in place.rglob("*.lock"):
        lock.unlink()
    check(place)


@pytest.mark.parametrize("packs", [1, 8])
def test_a_killed_export_is_completed_by_the_next(packs: int, tmp_path: Path) -> None:
    """With eight packs they are joined into one at the end, which is killed at every point, too."""
    _export(tmp_path / "once", AFTER)
    expected = _reviewed(tmp_path / "once")
    lines = BEFORE.splitlines(keepends=True)
    for left in range(packs, 0, -1):
        _export(tmp_path / "before", b"".join(lines[: len(lines) - left + 1]))
    before = _refs(tmp_path / "before")
    killed = 0
    for number in range(1, MOST):
        place = tmp_path / str(number)
        copytree(tmp_path / "before", place)

        def act(number: int = number, place: Path = place) -> None:
            dies_before(number)
            _export(place, AFTER)

        _, status = os.waitpid(start(act), 0)
        _sound(place)
        assert set(before) <= set(_refs(place))
        done = _export(place, AFTER)
        assert all(moved.outcome != "refused" for session in done.sessions for moved in session.moved)
        assert _reviewed(place) == expected
        _sound(place)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            break
        killed += 1
    assert 10 < killed < MOST - 1


@contextmanager
def _packed_all_the_time(place: Path) -> Iterator[None]:
    stop = place / "stop"
    loop = subprocess.Popen(["/bin/sh", "-c", PACKING], cwd=place, stderr=subprocess.DEVNULL, env=environment())
    try:
        yield
    finally:
        stop.touch()
        loop.wait()
        stop.unlink()


def test_exports_and_archives_beside_a_gc_miss_no_object(tmp_path: Path) -> None:
    turns = max(6, ROUNDS // 8)
    lines = _session(turns).splitlines(keepends=True)
    place = new_repository(tmp_path / "place", "--bare")
    with Machine(tmp_path / "sessions") as here, _packed_all_the_time(place):
        for count in range(3, len(lines) + 1):
            _until_done(lambda count=count: _export(place, b"".join(lines[:count])))  # type: ignore[misc]
            here.save("s", b"".join(lines[:count]))
            _until_done(lambda: here.archive(place))
            if count % 4 == 0:  # nothing reaches what was written; the next one must not rely on it
                for ref in git(place, "for-each-ref", "--format=%(refname)").decode().split():
                    subprocess.run(["git", "-C", place, "update-ref", "-d", ref], check=False, capture_output=True)
        expected = here.kept()
    check(place)
    _export(tmp_path / "once", b"".join(lines))
    refs = {ref: ident for ref, ident in _reviewed(place).items() if not ref.startswith("refs/pivcs/")}
    assert refs == _reviewed(tmp_path / "once")
    with Machine(tmp_path / "there", 2) as there:
        there.take(place)
        assert there.kept() == expected


def _until_done(act: Callable[[], object]) -> None:
    """Do something that may be told to wait for a lock of git's, and nothing else."""
    for _ in range(20):
        with suppress(RefsNotWritten):
            act()
            return
    pytest.fail("a lock stays for a minute")


@pytest.mark.parametrize("moment", ["finish", "release"])
def test_what_a_gc_takes_meanwhile_is_written_again(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects of an earlier export that no ref reaches are there when they are looked for, and go before refs do."""
    place = tmp_path / "review"
    _export(place, BEFORE)
    for ref in _refs(place):
        git(place, "update-ref", "-d", ref)
    original = getattr(PackWriter, moment)

    def pruned_first(writer: PackWriter) -> object:
        patch.undo()
        git(place, "gc", "-q", "--prune=now")
        return original(writer)

    with monkeypatch.context() as patch:
        patch.setattr(PackWriter, moment, pruned_first)
        _export(place, AFTER)
    check(place)
    _export(tmp_path / "once", AFTER)
    assert _reviewed(place) == _reviewed(tmp_path / "once")


@pytest.mark.skipif(ROUNDS <= 50, reason="by hand: .ci/soak")
def test_an_export_that_is_killed_at_any_moment_is_completed_by_the_next(tmp_path: Path) -> None:
    moments = random.Random(9)
    place = tmp_path / "review"
    data = BEFORE
    at = data.splitlines()[-1].split(b'"id":"')[1][:8].decode()
    for number in range(ROUNDS // 5):
        ident = f"{number + 1:04x}ffff"
        data += message_line(ident, at, "user" if number % 2 else "assistant", f"More {number}")
        at = ident

        def act(data: bytes = data) -> None:
            _export(place, data)

        kill_after(start(act), moments.uniform(0, 0.15))
        if place.exists() and (place / "HEAD").exists():
            _sound(place)
        if number % 5 == 4:
            _export(place, data)
            _sound(place)
    _export(place, data)
    _export(tmp_path / "once", data)
    assert _reviewed(place) == _reviewed(tmp_path / "once")
