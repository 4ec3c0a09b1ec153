from __future__ import annotations

import os
from pathlib import Path

from pivcs.session.listing import Found, find_by_id, list_all, list_directory, most_recent
from tests.builders import CLOCK, build_session, header_line, message_line

DAY = 86_400


def put(path: Path, data: bytes, *, time: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))
    return path


def session(ident: str, *, ms: int = CLOCK, cwd: str = "/w") -> bytes:
    return header_line(ident, ms=ms, cwd=cwd) + message_line("a", ms=ms)


def test_list_has_the_latest_activity_first_whatever_the_file_times(tmp_path: Path) -> None:
    put(tmp_path / "old.jsonl", session("old", ms=CLOCK), time=9 * DAY)
    put(tmp_path / "new.jsonl", session("new", ms=CLOCK + 1), time=1 * DAY)
    assert [item.id for item in list_directory(tmp_path).sessions] == ["new", "old"]


def test_equal_activity_is_ordered_by_name_here_and_by_file_time_everywhere(tmp_path: Path) -> None:
    put(tmp_path / "p" / "1.jsonl", session("one"), time=5 * DAY)
    put(tmp_path / "p" / "2.jsonl", session("two"), time=1 * DAY)
    put(tmp_path / "q" / "0.jsonl", session("three"), time=1 * DAY)
    assert [item.id for item in list_directory(tmp_path / "p").sessions] == ["two", "one"]
    assert [item.id for item in list_all(tmp_path).sessions] == ["one", "two", "three"]


def test_only_jsonl_files_of_one_level_count(tmp_path: Path) -> None:
    put(tmp_path / "p" / "a.jsonl", session("a"))
    put(tmp_path / "p" / "a.jsonl.tmp", session("b"))
    put(tmp_path / "p" / "deep" / "c.jsonl", session("c"))
    put(tmp_path / "top.jsonl", session("d"))
    assert [item.id for item in list_directory(tmp_path / "p").sessions] == ["a"]
    assert [item.id for item in list_all(tmp_path).sessions] == ["a"]


def test_linked_directories_are_followed_at_the_root(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "a.jsonl", session("a"))
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert [item.id for item in list_all(tmp_path / "root").sessions] == ["a"]


def test_files_that_cannot_be_listed_are_reported(tmp_path: Path) -> None:
    put(tmp_path / "good.jsonl", session("a"))
    put(tmp_path / "empty.jsonl", b"")
    put(tmp_path / "text.jsonl", b"hello\n")
    (tmp_path / "dir.jsonl").mkdir()
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    listing = list_directory(tmp_path)
    assert [item.id for item in listing.sessions] == ["a"]
    assert {left_out.path.name: left_out.reason for left_out in listing.skipped} == {
        "empty.jsonl": "no session header",
        "text.jsonl": "no session header",
        "dir.jsonl": "no regular file",
        "gone.jsonl": "No such file or directory",
        "pipe.jsonl": "no regular file",
    }


def test_missing_directories_have_no_sessions(tmp_path: Path) -> None:
    assert list_directory(tmp_path / "x") == ((), ())
    assert list_all(tmp_path / "x") == ((), ())
    assert most_recent(tmp_path / "x") is None


def test_directory_that_is_a_file_is_reported(tmp_path: Path) -> None:
    path = put(tmp_path / "x", b"")
    assert [left_out.reason for left_out in list_directory(path).skipped] == ["Not a directory"]
    assert [left_out.reason for left_out in list_all(path).skipped] == ["Not a directory"]


def test_explicit_directory_is_filtered_by_working_directory(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", session("a", cwd="/w"), time=1)
    put(tmp_path / "b.jsonl", session("b", cwd="/v"), time=2)
    assert [item.id for item in list_directory(tmp_path, cwd="/w").sessions] == ["a"]
    assert most_recent(tmp_path, cwd="/w") == tmp_path / "a.jsonl"
    assert find_by_id("b", tmp_path, cwd="/w") is None


def test_continue_takes_the_newest_file_with_a_readable_header(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", session("a", ms=CLOCK), time=2 * DAY)
    put(tmp_path / "b.jsonl", session("b", ms=CLOCK + 9), time=1 * DAY)
    put(tmp_path / "c.jsonl", b"text\n", time=3 * DAY)
    put(tmp_path / "d.jsonl", b'{"type":"session"}\n', time=3 * DAY)
    assert most_recent(tmp_path) == tmp_path / "a.jsonl"


def test_session_that_the_list_hides_can_be_continued_and_found(tmp_path: Path) -> None:
    hidden = put(tmp_path / "a.jsonl", session("hidden") + message_line("b", "a", content=None))
    assert list_directory(tmp_path).sessions == ()
    assert most_recent(tmp_path) == hidden
    assert find_by_id("hidden", tmp_path) == Found(hidden, here=True, exact=True)
    assert find_by_id("hid", tmp_path) is None


def test_id_is_looked_for_here_first_and_whole_before_prefix(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    put(here / "1.jsonl", session("abc-1"))
    put(here / "2.jsonl", session("abc", ms=CLOCK - 1))
    put(there / "3.jsonl", session("abd"))
    put(there / "4.jsonl", session("abd-9", ms=CLOCK + 1))
    assert find_by_id("abc", here, tmp_path) == Found(here / "2.jsonl", here=True, exact=True)
    assert find_by_id("ab", here, tmp_path) == Found(here / "1.jsonl", here=True, exact=False)
    assert find_by_id("abd", here, tmp_path) == Found(there / "3.jsonl", here=False, exact=True)
    assert find_by_id("abd-", here, tmp_path) == Found(there / "4.jsonl", here=False, exact=False)
    assert find_by_id("abd", here) is None
    assert find_by_id("", here, tmp_path) is None


def test_looking_changes_nothing(tmp_path: Path) -> None:
    data = build_session("a-b")[:-1]
    path = put(tmp_path / "p" / "a.jsonl", data, time=5)
    before = path.stat()
    list_all(tmp_path)
    most_recent(path.parent)
    find_by_id("no", path.parent, tmp_path)
    after = path.stat()
    assert path.read_bytes() == data
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert sorted(tmp_path.rglob("*")) == [path.parent, path]
