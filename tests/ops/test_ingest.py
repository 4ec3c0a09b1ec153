"""How new bytes get into the store, and files that change while they are read: never a mixture of two states."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pivcs.objects.index import index_source
from pivcs.ops import ingest
from pivcs.ops.ingest import SourceChanging
from pivcs.session.source import BytesSource, FileSource, SourceNotReadable
from tests.builders import message_line
from tests.ops.syncing import NOW, Box, facts, many_lines, session
from tests.store.filling import columns
from tests.store.limits import small_limits

DATA = session(60)
MORE = many_lines(12, seed=5)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    with small_limits(in_memory=1000):
        yield Box(tmp_path)


def check(box: Box, allowed: list[bytes]) -> None:
    """What is stored must be one state of the file or its beginning, with the rows of that."""
    for stream in box.store.streams():
        data = facts(box.store, stream)["bytes"]
        assert any(state.startswith(data) for state in allowed)
        assert columns(box.store.table_of(stream)) == columns(index_source(BytesSource(data))[0])


class Meddling:
    """Does something to the file while it is read: when so many bytes of it have been."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, action: Callable[[], object], times: int = 1) -> None:
        self.read, self.at, self.action, self.times, self.done = 0, at, action, times, 0
        self.process = os.getpid()
        self.pread = os.pread
        monkeypatch.setattr(os, "pread", self)

    def __call__(self, descriptor: int, length: int, offset: int) -> bytes:
        data = self.pread(descriptor, min(length, 700), offset)
        self.read += len(data)
        if self.read >= self.at and self.done < self.times and os.getpid() == self.process:
            self.done += 1
            self.read = 0
            self.action()
        return data


def in_place(path: Path, data: bytes) -> None:
    """Rewrite a file in place, with another time."""
    with path.open("r+b") as file:
        file.truncate(len(data))
        file.write(data)
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000))


@pytest.mark.parametrize("at", [1, 1000, 5000, len(DATA) - 1])
def test_file_that_grows_while_it_is_read(box: Box, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    box.write(DATA)
    meddling = Meddling(monkeypatch, at, lambda: box.append(MORE))
    synced = box.sync()
    assert meddling.done == 1
    assert (synced.outcome, synced.bytes) == ("new", len(DATA))
    check(box, [DATA])
    assert box.sync().outcome == "appended"
    check(box, [DATA + MORE])
    assert box.events() == []


@pytest.mark.parametrize("at", [1, 900, 2000])
def test_file_that_grows_while_its_growth_is_read(box: Box, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    box.put(DATA)
    box.append(MORE)
    meddling = Meddling(monkeypatch, at, lambda: box.append(b'{"half'))
    assert box.sync().outcome == "appended"
    assert meddling.done == 1
    check(box, [DATA + MORE])
    assert box.sync().outcome == "appended"
    check(box, [DATA + MORE + b'{"half'])


@pytest.mark.parametrize("at", [1, 1000, 5000, len(DATA) - 1])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"turn", b"TURN"),
        lambda data: data[: len(data) // 2],
        lambda data: b"\n" + data,
        lambda _: b"",
        lambda data: session(80, 7) + data,
    ],
    ids=["edit", "cut", "line in front", "emptied", "another"],
)
@pytest.mark.parametrize("known", [0, 3000])
def test_file_that_is_rewritten_while_it_is_read(
    box: Box, monkeypatch: pytest.MonkeyPatch, at: int, change: Callable[[bytes], bytes], known: int
) -> None:
    states = [DATA[:known], DATA, change(DATA)]
    if known:
        box.put(DATA[:known])
    box.write(DATA)
    meddling = Meddling(monkeypatch, at, lambda: in_place(box.path, states[2]))
    box.sync()
    assert meddling.done <= 1
    check(box, states)
    box.sync()
    check(box, states)
    now = box.path.read_bytes()
    assert now == states[2 if meddling.done else 1]
    assert box.cat(box.path) == now


def test_file_that_never_stops_changing_is_an_error(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.write(DATA)
    states = [DATA.replace(b"turn", b"TURN"), DATA]
    meddling = Meddling(monkeypatch, 2000, lambda: in_place(box.path, states[meddling.done % 2]), times=1000)
    with pytest.raises(SourceChanging, match="changes while it is read"):
        box.sync()
    assert box.store.streams() == []
    monkeypatch.undo()
    with small_limits(in_memory=1000):
        assert box.sync().outcome == "new"
    check(box, states)


def test_file_that_is_replaced_while_it_is_read_is_stored_as_it_was_opened(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor writes another file and renames it: the child must not index that one."""
    other = session(70, 3)
    box.write(DATA)
    fork = os.fork

    def replace_then_fork() -> int:
        box.write(other, "other").replace(box.path)
        return fork()

    monkeypatch.setattr(os, "fork", replace_then_fork)
    box.sync()
    check(box, [DATA])
    monkeypatch.setattr(os, "fork", fork)
    assert box.sync().outcome == "rewritten"
    check(box, [DATA, other])


def test_rows_that_the_child_read_before_a_change_are_not_kept(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child is done before the first byte is stored, and then the file changes."""
    box.write(DATA)
    changed = DATA.replace(b"turn", b"TURN")
    copy = ingest._copy

    def late(*args: object) -> None:
        child = threading.Event()
        child.wait(0.3)
        in_place(box.path, changed)
        copy(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest, "_copy", late)
    box.sync()
    check(box, [DATA, changed])


def test_shrinking_between_two_looks_is_not_a_short_stream(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cut after it was opened, and has its old size again when it is looked at next."""
    box.write(DATA[:900])
    grown = DATA[:500] + b"?" * 400
    steps = iter([DATA[:500], grown])

    def step() -> None:
        data = next(steps, None)
        if data is not None:
            in_place(box.path, data)

    Meddling(monkeypatch, 1, step, times=2)
    box.sync()
    check(box, [DATA[:900], DATA[:500], grown])


@pytest.mark.parametrize("failure", ["child", "fork", "none there"])
def test_without_a_child_the_result_is_the_same(
    box: Box, monkeypatch: pytest.MonkeyPatch, failure: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no memory")

    if failure == "child":
        monkeypatch.setattr(ingest, "_index_to", fail)
    elif failure == "fork":
        monkeypatch.setattr(os, "fork", fail)
    else:
        monkeypatch.delattr(os, "fork")
    box.put(DATA)
    check(box, [DATA])
    assert capfd.readouterr() == ("", "")


def test_failing_disk_under_the_source_is_an_error_with_its_name(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.write(DATA)

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", fail)
        with pytest.raises(SourceNotReadable, match=r"session\.jsonl.*input/output error"):
            box.sync()
    assert box.store.streams() == []
    with FileSource(box.path) as file:
        monkeypatch.setattr(os, "preadv", fail)
        with pytest.raises(SourceNotReadable):
            file.readinto(memoryview(bytearray(9)))


def test_no_child_is_left(box: Box) -> None:
    box.put(DATA)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_large_file_is_read_by_two_processes(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    children = []
    fork = os.fork
    monkeypatch.setattr(os, "fork", lambda: children.append(1) or fork())
    box.put(DATA[:900], "small.jsonl")
    assert children == []
    box.put(DATA, "large.jsonl")
    assert children == [1]
    box.append(MORE, "large.jsonl")
    box.sync(box.directory / "large.jsonl")
    assert children == [1]


def test_pending_line_that_grows_is_not_read_again(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte without a newline: each sync reads what is new."""
    box.put(DATA + b"x" * 5000)
    pread, read = os.pread, []
    box.append(b"y" * 600)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", lambda fd, n, at: read.append((at, n)) or pread(fd, n, at))
        patch.setattr(os, "preadv", None)
        assert box.sync().rows == 0
    assert sum(n for _, n in read) < 600 + 1000
    box.append(b"\n" + message_line("eeeeeeee", ms=NOW))
    assert box.sync().rows == 2
    check(box, [DATA + b"x" * 5000 + b"y" * 600 + b"\n" + message_line("eeeeeeee", ms=NOW)])
