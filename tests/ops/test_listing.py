"""What `ls` says of each file."""

from __future__ import annotations

from pathlib import Path

from pivcs.ops.listing import SessionSummary, Unreadable, by_activity, summaries, summary_of
from tests.builders import CLOCK, SESSION_ID, build_session, header_line, message_line


def summary(path: Path, data: bytes) -> SessionSummary:
    path.write_bytes(data)
    return summary_of(path)


def test_summary_of_a_good_session(tmp_path: Path):
    found = summary(tmp_path / "s.jsonl", build_session("a-b-c, b-d", texts={"a": "Go."}, labels={"c": "x"}))
    assert (found.id, found.cwd, found.name, found.first_prompt) == (SESSION_ID, "/home/dev/project", None, "Go.")
    assert (found.entries, found.tips, found.state) == (5, 2, ())
    assert found.time == CLOCK + 5000
    assert found.size == (tmp_path / "s.jsonl").stat().st_size
    assert found.key is not None


def test_state_says_what_is_unusual(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    good = build_session("a")
    assert summary(path, b"").state == ("empty",)
    assert summary(path, b"{").state == ("pending", "no header")
    assert summary(path, b"\n").state == ("no header",)
    assert summary(path, build_session("a", header=b"")).state == ("no header",)
    assert summary(path, good + b"{torn\n").state == ("damaged",)
    assert summary(path, good + message_line("b")[:-1] + message_line("c")).state == ("damaged",)
    assert summary(path, good + b"{torn\ntail").state == ("damaged", "pending")
    assert summary(path, header_line()).state == ()


def test_unreadable_file_does_not_stop_the_list(tmp_path: Path):
    good = tmp_path / "good.jsonl"
    good.write_bytes(build_session("a"))
    found = list(summaries([tmp_path / "none.jsonl", good, tmp_path]))
    assert [type(item) for item in found] == [Unreadable, SessionSummary, Unreadable]
    assert [item.path for item in found] == [tmp_path / "none.jsonl", good, tmp_path]


def test_newest_activity_first_and_sessions_without_time_last(tmp_path: Path):
    found = []
    for name, lines in (("z", []), ("b", [5]), ("a", []), ("c", [9, 1])):
        data = header_line() + b"".join(message_line(f"{at:08x}", ms=CLOCK + at) for at in lines)
        found.append(summary(tmp_path / name, data))
    assert [item.path.name for item in by_activity(found)] == ["c", "b", "a", "z"]
