from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pivcs.session import appending as module
from pivcs.session.appending import SessionFileChanged, SessionFileGone, SessionLocked, appending, read_file
from pivcs.session.manager import Session
from pivcs.session.source import SourceNotReadable
from pivcs.session.wholefile import SessionNotWritable
from tests.builders import build_session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "s.jsonl"
    found.write_bytes(b"one\ntwo\n")
    return found


def test_a_line_goes_to_the_end_of_what_was_seen(path: Path) -> None:
    data, seen = read_file(path)
    assert data == b"one\ntwo\n"
    with appending(path, seen) as appender:
        assert appender.others == b""
        assert appender.append(b"three\n") == (b"", b"")
        seen = appender.seen
    with appending(path, seen) as appender:
        assert appender.others == b""
        appender.append(b"four\n")
    assert path.read_bytes() == b"one\ntwo\nthree\nfour\n"


def test_an_unterminated_line_is_ended_first(path: Path) -> None:
    path.write_bytes(b"one\ntorn")
    with appending(path, read_file(path)[1]) as appender:
        appender.append(b"next\n")
        appender.append(b"more\n")
    assert path.read_bytes() == b"one\ntorn\nnext\nmore\n"


def test_lines_of_others_are_given_first(path: Path) -> None:
    seen = read_file(path)[1]
    with path.open("ab") as other:
        other.write(b"theirs\n" * 2)
    with appending(path, seen) as appender:
        assert appender.others == b"theirs\n" * 2
        appender.append(b"ours\n")
    assert path.read_bytes().endswith(b"theirs\nours\n")


def test_a_line_that_is_being_written_is_waited_for(path: Path) -> None:
    seen = read_file(path)[1]
    with path.open("ab", buffering=0) as other:
        other.write(b"the")

        def rest() -> None:
            time.sleep(0.02)
            other.write(b"irs\n")

        thread = threading.Thread(target=rest)
        thread.start()
        with appending(path, seen) as appender:
            assert appender.others == b"theirs\n"
        thread.join()


def test_a_line_that_was_being_written_when_the_file_was_read_is_taken_in_when_it_is_whole(path: Path) -> None:
    path.write_bytes(b'1\n{"a":')
    data, seen = read_file(path)
    assert data == b'1\n{"a":'
    assert seen.size == 2
    with path.open("ab") as other:
        other.write(b"1}\n")
    with appending(path, seen) as appender:
        assert appender.others == b'{"a":1}\n'


def test_half_a_line_that_follows_ours_is_taken_in_when_it_is_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def with_half_a_line(fd: int, data: bytes) -> int:
        count = write(fd, data)
        write(fd, b'[1]\n{"a":')
        return count

    with appending(path, read_file(path)[1]) as appender:
        monkeypatch.setattr(os, "write", with_half_a_line)
        assert appender.append(b"ours\n") == (b"", b"[1]\n")
        seen = appender.seen
    monkeypatch.undo()
    with path.open("ab") as other:
        other.write(b"1}\n")
    with appending(path, seen) as appender:
        assert appender.others == b'{"a":1}\n'


def test_a_torn_line_of_others_is_ended_and_nothing_of_it_is_taken_in(path: Path) -> None:
    seen = read_file(path)[1]
    with path.open("ab") as other:
        other.write(b'[1]\n{"a":')
    with appending(path, seen) as appender:
        assert appender.others == b"[1]\n"
        appender.append(b"ours\n")
    assert path.read_bytes() == b'one\ntwo\n[1]\n{"a":\nours\n'


def rewritten(path: Path) -> None:
    path.write_bytes(b"1ne\ntwo\n")


def shortened(path: Path) -> None:
    path.write_bytes(b"one\n")


def replaced(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def rewritten_and_longer(path: Path) -> None:
    path.write_bytes(b"one\ntw0\nthree\n")


@pytest.mark.parametrize("change", [rewritten, shortened, replaced, rewritten_and_longer])
def test_a_file_that_is_not_the_one_that_was_read_is_refused(path: Path, change: object) -> None:
    assert callable(change)
    seen = read_file(path)[1]
    change(path)
    after = path.read_bytes()
    with pytest.raises(SessionFileChanged, match="rewritten since"), appending(path, seen):
        raise AssertionError("it was opened")
    assert path.read_bytes() == after


def test_a_last_line_that_others_went_on_with_is_refused(path: Path) -> None:
    path.write_bytes(b'one\n{"a":1}')
    seen = read_file(path)[1]
    with path.open("ab") as other:
        other.write(b'{"b":2}\n')
    with pytest.raises(SessionFileChanged), appending(path, seen):
        raise AssertionError("it was opened")


def test_a_file_that_is_gone_is_not_made_again(path: Path) -> None:
    seen = read_file(path)[1]
    path.unlink()
    with pytest.raises(SessionFileGone, match="is gone"), appending(path, seen):
        raise AssertionError("it was opened")
    assert not path.exists()
    path.mkdir()
    with pytest.raises(SessionNotWritable), appending(path, seen):
        raise AssertionError("it was opened")


def test_a_pipe_in_its_place_is_refused_without_waiting(path: Path) -> None:
    seen = read_file(path)[1]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SessionFileChanged), appending(path, seen):
        raise AssertionError("it was opened")
    with pytest.raises(SourceNotReadable):
        read_file(path)


def test_a_write_that_was_cut_short_is_taken_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with appending(path, read_file(path)[1]) as appender:
        monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))
        with pytest.raises(SessionNotWritable, match="only a part"):
            appender.append(b"three\n")
        monkeypatch.undo()
        assert path.read_bytes() == b"one\ntwo\n"
        appender.append(b"again\n")
    assert path.read_bytes() == b"one\ntwo\nagain\n"


def test_a_full_disk_is_an_error_with_its_reason(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with appending(path, read_file(path)[1]) as appender:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(SessionNotWritable, match="no space left"):
            appender.append(b"three\n")


def test_what_others_write_in_the_same_moment_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def with_neighbours(fd: int, data: bytes) -> int:
        write(fd, b"before\n")
        count = write(fd, data)
        write(fd, b"after\n")
        return count

    with appending(path, read_file(path)[1]) as appender:
        monkeypatch.setattr(os, "write", with_neighbours)
        assert appender.append(b"ours\n") == (b"before\n", b"after\n")
        monkeypatch.undo()
        assert appender.append(b"next\n") == (b"", b"")


def test_a_lock_that_stays_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAIT", 0.02)
    seen = read_file(path)[1]
    with path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(SessionLocked, match="locked by another process"), appending(path, seen):
            raise AssertionError("it was opened")
    with appending(path, seen):
        pass


def test_a_file_that_is_replaced_while_waiting_for_its_lock_is_noticed(path: Path) -> None:
    seen = read_file(path)[1]
    with path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        timer = threading.Timer(0.05, lambda: (replaced(path), fcntl.flock(holder, fcntl.LOCK_UN)))
        timer.start()
        with pytest.raises(SessionFileChanged), appending(path, seen):
            raise AssertionError("the old file was taken")
        timer.join()


def test_a_file_system_without_locks_is_written_without(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with appending(path, read_file(path)[1]) as appender:
        appender.append(b"three\n")
    assert path.read_bytes() == b"one\ntwo\nthree\n"


WRITER = """
import sys
from pivcs.session.manager import Session
session = Session.open(sys.argv[1])
print(flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    session.append_custom(sys.argv[2], {"number": number, "text": "x" * (number % 50) ** 2})
    if number % 100 == 99:
        session.reload()
"""


def test_processes_that_append_at_once_tear_and_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b"))
    writers, count = ("one", "two", "three"), 1_000
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in writers
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    for child in children:
        child.communicate(b"\n")
        assert child.returncode == 0
    session = Session.open(path)
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 1 + 2 + count * len(writers) + 1
    assert all(line.startswith(b'{"type":') and line.endswith(b"}") for line in lines[:-1])
    assert session.entry_count == 2 + count * len(writers)
    for name in writers:
        own = [
            entry for entry in session.entries if isinstance(entry, dict) and entry.get("customType") == name
        ]
        assert [entry["data"]["number"] for entry in own] == list(range(count))
        parents = [entry["parentId"] for entry in own]
        assert parents[1:] == [entry["id"] for entry in own[:-1]]
        assert set(parents) <= set(session.tree().ids)
