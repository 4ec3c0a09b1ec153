"""Histories that outlive their files, many writers, many sessions. The numbers are those of the list of faults."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pivcs.ops.gc import collect_garbage
from pivcs.ops.sync import sync_file
from pivcs.session.layout import Surroundings
from pivcs.store.store import Store
from tests.builders import build_session, entry_id, header_line, iso, label_line, line, message_line
from tests.cases.files import E, H
from tests.cli.conftest import Program, child_environment, process
from tests.crash.writing import check, start, write_for_ever
from tests.ops.syncing import NOW, Box, many_lines, session
from tests.store.filling import bytes_of
from tests.store.limits import small_limits


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def session_place(cwd: Path) -> Path:
    """Return pi's directory for the sessions of a working directory, made."""
    place = Path(Surroundings(os.environ, str(Path.home()), str(cwd)).project_dir(str(cwd)))
    place.mkdir(parents=True, exist_ok=True)
    return place


def test_migration_leaves_both_versions(tmp_path: Path, pivcs: Program) -> None:
    """case 17"""
    path = tmp_path / "s.jsonl"
    old = header_line(version=1) + b"".join(
        line({"type": "message", "timestamp": iso(NOW + number), "message": {"role": "user", "content": str(number)}})
        for number in range(4)
    )
    path.write_bytes(old)
    assert pivcs("sync", path).code == 0
    new = build_session("x1-x2-x3-x4")
    path.write_bytes(new)
    result = pivcs("sync", "--json", path).json
    assert [(file["outcome"], file["generation"]) for file in result["files"]] == [("rewritten", 2)]
    assert pivcs("cat", path, "--generation", 1).out == old
    assert pivcs("cat", path).out == new
    assert "rewritten" in pivcs("status", path).text
    assert pivcs("sync", "--json", path).json["files"][0]["outcome"] == "unchanged"


def test_file_that_a_bad_header_made_somebody_empty_is_kept(tmp_path: Path, pivcs: Program) -> None:
    """case 18"""
    path = tmp_path / "s.jsonl"
    data = b"not json\n" + E("a") + E("b", "a")
    path.write_bytes(data)
    key = pivcs("sync", "--json", path).json["files"][0]["key"]
    path.write_bytes(b"")
    assert pivcs("sync", path).code == 0
    assert pivcs("cat", path).out == b""
    assert pivcs("cat", path, "--generation", 1).out == data
    assert pivcs("cat", key).out == data
    assert path.read_bytes() == b""


def test_moved_session_root_with_a_link_in_the_old_place(tmp_path: Path, box: Box) -> None:
    """case 24"""
    old, new = tmp_path / "old", tmp_path / "new"
    files = [box.write(session(3, number, session_id=str(number)), f"old/p/{number}.jsonl") for number in range(3)]
    for file in files:
        box.sync(file)
    old.rename(new)
    old.symlink_to(new)
    for number, file in enumerate(files):
        box.append(E("a"), f"new/p/{number}.jsonl")
        synced = box.sync(file)
        assert (synced.outcome, synced.moved_from) == ("appended", str(file))
    assert [source.path for source in box.store.sources()] == [os.fsencode(new / "p" / f"{n}.jsonl") for n in range(3)]
    assert len(box.store.streams()) == len(box.store.session_keys()) == 3
    assert box.events() == ["moved"] * 3
    assert box.cat(files[0]) == box.cat(new / "p" / "0.jsonl") == files[0].read_bytes()


def test_stale_process_that_rewrites_the_file_takes_nothing_away(box: Box) -> None:
    """case 28"""
    lines = [H, *(E(letter, above) for letter, above in zip("abcdef123", [None, *"abcdef12"], strict=True))]
    before = b"".join(lines)
    box.put(before)
    after = b"".join(lines[:6]) + E("4", "e")
    box.put(after)
    assert box.events() == ["rewritten"]
    assert box.cat(box.path, generation=1) == before
    assert box.cat(box.path) == after


def test_file_that_jumps_from_2_to_900_lines(box: Box) -> None:
    """case 30"""
    data = session(899)
    box.put(b"".join(data.splitlines(keepends=True)[:2]))
    box.write(data)
    synced = box.sync()
    assert (synced.outcome, synced.rows) == ("appended", 898)
    assert box.cat(box.path) == data


def test_packing_in_the_background_takes_nothing_from_writers_and_readers(tmp_path: Path) -> None:
    """case 33"""
    store, reports = tmp_path / "store" / "store.db", tmp_path / "reports"
    (tmp_path / "sessions").mkdir()

    def pack() -> None:
        end = time.monotonic() + 1.5
        with Store.open(store) as opened:
            while time.monotonic() < end:
                collect_garbage(opened)
                for stream in opened.current_streams():
                    assert len(bytes_of(opened, stream)) == stream.size

    with small_limits(in_memory=8000, whole=1 << 20):
        Store.open(store, create=True).close()
        children = [start(pack), start(lambda: write_for_ever(store, tmp_path / "sessions", reports, 1, 60))]
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
        assert check(store, reports, full=True) >= 3


def test_killed_sync_blocks_nobody(tmp_path: Path, pivcs: Program) -> None:
    """case 35"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(session(3000))
    for delay in (0.1, 0.2, 0.3):
        child = subprocess.Popen([sys.executable, "-m", "pivcs", "sync", str(path)], env=child_environment(),
                                 stdout=subprocess.DEVNULL)  # fmt: skip
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert pivcs("sync", path).code == 0
    assert pivcs("cat", path).out == path.read_bytes()
    both = [
        subprocess.Popen([sys.executable, "-m", "pivcs", "sync", str(path)], env=child_environment(),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]  # fmt: skip
    for each in both:
        _, errors = each.communicate(timeout=60)
        assert each.returncode == 0 or b"busy" in errors


def test_fork_shares_its_nodes_and_their_bytes_with_the_trunk(box: Box) -> None:
    """cases 45 and 46"""
    entries = many_lines(10)
    trunk = box.put(H + entries + E("a", None, "only here"), "trunk.jsonl")
    fork = box.put(
        header_line("fork", parentSession="trunk.jsonl") + entries + E("b", None, "only there"), "fork.jsonl"
    )
    tables = [box.store.table_of(stream) for stream in (trunk, fork)]
    nodes = [[table.digest(row) for row in table.nodes()] for table in tables]
    assert [len(each) for each in nodes] == [11, 11]
    assert nodes[0][:10] == nodes[1][:10]
    assert len({*nodes[0], *nodes[1]}) == 12
    parents = [[table.parent_of(row) for row in table.nodes()] for table in tables]
    assert parents[0] == parents[1]


def test_repeated_blocks_and_shuffled_times_are_nodes_once(box: Box) -> None:
    """case 49"""
    block = b"".join(
        message_line(f"{n:08x}", f"{n - 1:08x}" if n else None, "user", "text " * 40, ms=NOW + n * 7919 % 1000)
        for n in range(1000)
    )
    box.put(H + block)
    box.append(block * 3)
    stream = box.sync().stream
    assert stream is not None
    table = box.store.table_of(stream)
    assert (len(table), len(list(table.nodes()))) == (4001, 1000)
    assert [table.name(row) for row in table.nodes()] == [f"{n:08x}" for n in range(1000)]
    assert box.cat(box.path) == H + block * 4


def test_more_entries_than_any_counter_of_five_digits(box: Box) -> None:
    """case 50"""
    count = 100_001
    lines = (b'{"type":"x","id":"%08x","parentId":"%08x"}\n' % (n, n - 1 if n else 0xFFFFFFFF) for n in range(count))
    box.put(H + b"".join(lines))
    box.append(message_line("eeeeeeee", f"{count - 1:08x}"))
    stream = box.sync().stream
    assert stream is not None
    table = box.store.table_of(stream)
    assert len(table) == count + 2
    head = table.last_node()
    assert head == count + 1
    assert table.parent_of(head) == count == table.row_named(f"{count - 1:08x}")
    assert len(table.path(head)) == count + 1
    assert [row for row, _ in box.store.finder(stream)(f"{99_999:08x}")] == [100_000]


def test_history_is_there_when_the_file_is_not(tmp_path: Path, pivcs: Program) -> None:
    """case 53"""
    path = tmp_path / "s.jsonl"
    data = build_session("a-b-c", texts={"a": "Write it."}, labels={"b": "good"})
    path.write_bytes(data)
    key = pivcs("sync", "--json", path).json["files"][0]["key"]
    log = pivcs("log", path).text
    path.unlink()
    assert pivcs("sync", path).text.startswith("gone")
    assert pivcs("log", path).text == pivcs("log", "-s", key).text == log
    assert "Write it." in log
    assert pivcs("cat", path).out == pivcs("cat", key[:12]).out == data
    assert "gone" in pivcs("status", path).text
    assert "gone" in pivcs("ls", "--all").text


@pytest.mark.parametrize("where", ["worktree", "submodule", "deleted"])
def test_session_of_a_directory_that_is_no_ordinary_repository(tmp_path: Path, pivcs: Program, where: str) -> None:
    """case 54"""
    project = tmp_path / "main"
    place = tmp_path / where
    (project / ".git" / "worktrees" / "w").mkdir(parents=True)
    place.mkdir()
    if where == "worktree":
        (place / ".git").write_text(f"gitdir: {project}/.git/worktrees/w\n")
        (project / ".git" / "worktrees" / "w" / "commondir").write_text("../..\n")
        (project / ".git" / "worktrees" / "w" / "gitdir").write_text(f"{place}/.git\n")
    elif where == "submodule":
        (project / ".git" / "modules" / "m").mkdir(parents=True)
        (place / ".git").write_text(f"gitdir: {project}/.git/modules/m\n")
    data = build_session("a-b", header=header_line(cwd=str(place)), texts={"a": "Here."})
    (session_place(place) / "s.jsonl").write_bytes(data)
    git = sorted((path, path.is_dir()) for path in project.rglob("*"))
    if where == "deleted":
        place.rmdir()
        listed = pivcs("ls", "--all").text
        assert "Here." in listed
    else:
        assert "Here." in pivcs("-C", place, "log").text
        assert pivcs("-C", place, "sync").code == 0
        assert (pivcs("-C", project, "log").code == 0) is (where == "worktree")
    assert sorted((path, path.is_dir()) for path in project.rglob("*")) == git


class Reading:
    """Counts the bytes that are read from files by position."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        for name in ("pread", "preadv"):
            monkeypatch.setattr(os, name, self._counting(getattr(os, name)))

    def _counting(self, read: Callable[..., bytes | int]) -> Callable[..., bytes | int]:
        def call(*arguments: object) -> bytes | int:
            found = read(*arguments)
            self.bytes += found if isinstance(found, int) else len(found)
            return found

        return call


def test_listing_many_sessions_reads_none_of_them_again(
    tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """case 56: 2,000 files of 5 MB there, 100 of 50 KB here"""
    place = session_place(tmp_path)
    for number in range(100):
        data = session(120, number, session_id=f"id-{number}", cwd=str(tmp_path))
        (place / f"{number:03}.jsonl").write_bytes(data)
    assert pivcs("sync", "--all").code == 0
    reading = Reading(monkeypatch)
    listed = pivcs("ls", "--all", "--json").json
    assert len(listed["sessions"]) == 100
    assert {each["entries"] for each in listed["sessions"]} == {120}
    assert reading.bytes == 0


LONG_LINE = """
import sys
from pathlib import Path
from pivcs.ops.sync import sync_file
from pivcs.store.store import Store
from tests.memory import peak
path = Path(sys.argv[1])
with Store.open(Path(sys.argv[2]), create=True) as store:
    print(sync_file(store, path, 1).rows)
    with path.open("ab") as file:
        file.write(b"y" * 1000)
    print(sync_file(store, path, 2).rows)
    with path.open("ab") as file:
        file.write(b"\\n")
    print(sync_file(store, path, 3).rows)
    stream = store.current_streams()[0]
    print(sum(map(len, store.bytes_of(stream).iter_range(0, stream.size))) == path.stat().st_size)
print(peak())
"""


def test_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    """case 59: a gigabyte there, 150 MB here"""
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.write(H + E("a"))
        for _ in range(150):
            file.write(b"word " * 200_000)
    found = subprocess.run(
        [sys.executable, "-c", LONG_LINE, path, tmp_path / "store.db"],
        capture_output=True, env=child_environment(), check=True, timeout=100,
    )  # fmt: skip
    *answers, peak = found.stdout.split()
    assert answers == [b"2", b"0", b"1", b"True"]
    assert int(peak) < 100_000_000


def test_appending_costs_the_same_however_long_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """case 61: 1,000 lines on 100,000 entries there, 200 lines on 3,000 and on 24,000 here"""
    costs = []
    for count in (3_000, 24_000):
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(session(count))
        with Store.open(tmp_path / f"{count}.db", create=True) as store, monkeypatch.context() as patch:
            sync_file(store, path, 1)
            reading, steps = Reading(patch), []
            connection = store.database.connection
            for number in range(200):
                with path.open("ab") as file:
                    file.write(many_lines(1, seed=number + 1))
                before = reading.bytes, connection.total_changes
                assert sync_file(store, path, 2).outcome == "appended"
                steps.append((reading.bytes - before[0], connection.total_changes - before[1]))
            costs.append(sorted(steps)[len(steps) // 2])
            assert bytes_of(store, store.current_streams()[0]) == path.read_bytes()
            assert max(rows for _, rows in steps) <= 400  # when a segment is full its ids are noted
    (short_read, short_rows), (long_read, long_rows) = costs
    assert long_rows == short_rows <= 16
    assert long_read < 40_000
    assert short_read < 40_000 or (tmp_path / "3000.jsonl").stat().st_size <= 2 << 20


@pytest.mark.parametrize("how", ["below", "slash", "link", "moved"])
def test_session_of_a_directory_under_another_name(tmp_path: Path, pivcs: Program, how: str) -> None:
    """case 91"""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "sub").mkdir()
    cwd = f"{project}/" if how == "slash" else str(project)
    data = build_session("a-b", header=header_line(cwd=cwd), texts={"a": "Drifting."})
    (session_place(project) / "s.jsonl").write_bytes(data)
    if how == "moved":
        assert pivcs("-C", project, "sync").code == 0
        project.rename(tmp_path / "elsewhere")
        assert "Drifting." in pivcs("ls", "--all").text
        assert pivcs("cat", "019b7715").out == data
        return
    at = {"below": project / "sub", "slash": project, "link": tmp_path / "link"}[how]
    if how == "link":
        at.symlink_to(project)
    assert "Drifting." in pivcs("-C", at, "log").text
    found = process("log", cwd=at)
    assert found.returncode == 0
    assert b"Drifting." in found.stdout


def test_label_of_a_session_whose_file_is_gone(tmp_path: Path, pivcs: Program) -> None:
    """case 53: names too"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b") + label_line("eeeeeeee", entry_id("b"), entry_id("a"), "start here"))
    pivcs("sync", path)
    shutil.move(path, tmp_path / "away")
    shown = pivcs("show", path, "start here")
    assert shown.code == 0
    assert "aaaaaaaa" in shown.text
