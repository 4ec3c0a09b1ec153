from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from pivcs.session.wholefile import SessionFileExists, SessionNotWritable, replace_file, write_new


def test_a_new_file_has_all_bytes_and_the_permissions_that_pi_gives(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deeper" / "s.jsonl"
    old = os.umask(0o027)
    try:
        write_new(path, (b"one\n", b"two\n"))
    finally:
        os.umask(old)
    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(path.parent.iterdir()) == [path]


def test_a_new_file_replaces_nothing(tmp_path: Path) -> None:
    path, link = tmp_path / "s.jsonl", tmp_path / "dangling.jsonl"
    path.write_bytes(b"old")
    link.symlink_to(tmp_path / "nowhere")
    for taken in (path, link):
        with pytest.raises(SessionFileExists, match="it exists"):
            write_new(taken, (b"new",))
    assert path.read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_of_two_writers_of_a_new_file_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"

    def pieces() -> Iterator[bytes]:
        yield b"mine"
        write_new(path, (b"theirs",))

    with pytest.raises(SessionFileExists):
        write_new(path, pieces())
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_without_links_the_name_is_taken_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "s.jsonl"
    write_new(path, (b"new",))
    assert path.read_bytes() == b"new"
    with pytest.raises(SessionFileExists):
        write_new(path, (b"other",))
    assert list(tmp_path.iterdir()) == [path]


def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "s.jsonl", tmp_path / "link.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o604)
    link.symlink_to(path)
    replace_file(link, (b"new", b"er"))
    assert path.read_bytes() == b"newer"
    assert path.stat().st_mode & 0o777 == 0o604
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [link, path]


@pytest.mark.parametrize("write", [write_new, replace_file])
def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path, write: object) -> None:
    assert callable(write)
    path = tmp_path / "s.jsonl"
    if write is replace_file:
        path.write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(SessionNotWritable, match="no space left on device"):
        write(path, pieces())
    assert [found.read_bytes() for found in tmp_path.iterdir()] == ([b"old"] if write is replace_file else [])


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SessionNotWritable, match="file exists"):
        write_new(tmp_path / "file" / "s.jsonl", (b"x",))
    with pytest.raises(SessionNotWritable, match="no such file"):
        replace_file(tmp_path / "gone.jsonl", (b"x",))


KILLED = """
import os, signal, sys
from pathlib import Path
from pivcs.session.wholefile import replace_file, write_new

# The process ends at the n-th call that changes something, before it is done.
left = int(sys.argv[3])
def count(name, module):
    call = getattr(module, name)
    def counted(*args, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **more)
    setattr(module, name, counted)
for name in ("open", "fsync", "link", "replace", "unlink", "chmod"):
    count(name, os)
path = Path(sys.argv[2])
(replace_file if sys.argv[1] == "replace" else write_new)(path, [b"new" * 100_000] * 5)
"""


@pytest.mark.parametrize("what", ["replace", "create"])
def test_killed_at_any_call_the_file_is_the_old_or_the_new_one(tmp_path: Path, what: str) -> None:
    new = b"new" * 500_000
    states = []
    for calls in range(1, 20):
        folder = tmp_path / str(calls)
        folder.mkdir()
        path = folder / "s.jsonl"
        if what == "replace":
            path.write_bytes(b"old")
        done = subprocess.run([sys.executable, "-c", KILLED, what, path, str(calls)], check=False)
        state = path.read_bytes() if path.exists() else None
        assert state in ((b"old", new) if what == "replace" else (None, new))
        assert all(found.suffix in (".jsonl", ".tmp") for found in folder.iterdir())
        states.append(state == new)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert done.returncode == 0
    assert states == sorted(states)
    assert len(states) > 4
    assert list(folder.iterdir()) == [path]


def test_killed_at_a_random_moment_the_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    random = Random(9)
    path = tmp_path / "s.jsonl"
    program = (
        "import sys; from pathlib import Path; from pivcs.session.wholefile import replace_file\n"
        "for n in range(10**9):\n"
        "    replace_file(Path(sys.argv[1]), [bytes([97 + n % 26]) * 100_000] * 10)\n"
        "    if n == 0: print(flush=True)\n"
    )
    for _ in range(8):
        path.write_bytes(b"a" * 1_000_000)
        child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
        assert child.stdout is not None
        with child, child.stdout:
            child.stdout.readline()
            try:
                child.wait(random.random() / 20)
            except subprocess.TimeoutExpired:
                child.kill()
        data = path.read_bytes()
        assert data == data[:1] * 1_000_000
