"""What hooks leave to be done is done once, by one process, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pivcs.gitbridge.hooks_run import MAX_LOG, forget_work, hook_log, log_path, work_off

A, B, C, LONG = "a" * 40, "b" * 40, "c" * 40, "d" * 64


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    (tmp_path / "pivcs").mkdir()
    return tmp_path / "pivcs" / "hooks.queue"


def test_commits_are_taken_once_and_in_order(queue: Path) -> None:
    queue.write_text(f"{A}\n# 1\n{A} {B} more\n# 2\n{LONG}\n{B}\n# 3\n")
    seen: list[Sequence[str]] = []
    assert work_off(queue.parent.parent, seen.append)
    assert seen == [[A, B, LONG]]
    assert not queue.exists()
    assert work_off(queue.parent.parent, seen.append)
    assert seen == [[A, B, LONG]]


def test_lines_that_name_no_commit_are_passed_over(queue: Path) -> None:
    queue.write_bytes(b"\n--all\nHEAD\n" + A.encode() + b" --force\n\xff\xfe\n" + A[:39].encode() + b"\n" + B.encode())
    seen: list[Sequence[str]] = []
    work_off(queue.parent.parent, seen.append)
    assert seen == [[B]]


def test_what_comes_in_meanwhile_is_done_too(queue: Path) -> None:
    queue.write_text(f"{A}\n")
    seen: list[Sequence[str]] = []

    def work(commits: Sequence[str]) -> None:
        seen.append(commits)
        if len(seen) == 1:
            with (queue.parent / "hooks.taken").open("a") as late:
                late.write(f"{B}\n")
        if len(seen) == 2:
            queue.write_text(f"{C}\n")

    assert work_off(queue.parent.parent, work)
    assert seen == [[A], [B], [C]]


def test_what_a_killed_process_took_is_done_first(queue: Path) -> None:
    queue.write_text(f"{A}\n")

    def killed(_: Sequence[str]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_off(queue.parent.parent, killed)
    queue.write_text(f"{B}\n")
    seen: list[Sequence[str]] = []
    work_off(queue.parent.parent, seen.append)
    assert seen == [[A], [B]]


def test_second_process_leaves_the_work_to_the_first(queue: Path) -> None:
    pytest.importorskip("fcntl")
    queue.write_text(f"{A}\n")
    seen: list[Sequence[str]] = []
    answers = []

    def work(commits: Sequence[str]) -> None:
        if not seen:
            queue.write_text(f"{B}\n")
            answers.append(work_off(queue.parent.parent, lambda _: pytest.fail("two at once")))
        seen.append(commits)

    assert work_off(queue.parent.parent, work)
    assert answers == [False]
    assert seen == [[A], [B]]


def test_log_keeps_its_end(tmp_path: Path) -> None:
    for number in range(6000):
        with hook_log(tmp_path) as log:
            log.write(b"line %06d\n" % number)
    lines = log_path(tmp_path).read_bytes().splitlines()
    assert log_path(tmp_path).stat().st_size <= MAX_LOG + 12
    assert lines == [b"line %06d" % number for number in range(6000 - len(lines), 6000)]
    assert len(lines) > 2000


def test_nothing_of_ours_is_left(queue: Path) -> None:
    queue.write_text(f"{A}\n")
    with hook_log(queue.parent.parent) as log:
        log.write(b"x\n")
    work_off(queue.parent.parent, lambda _: None)
    linked = queue.parent.parent / "worktrees" / "linked"
    (linked / "pivcs").mkdir(parents=True)
    (linked / "pivcs" / "hooks.queue").write_text(f"{A}\n")
    forget_work(queue.parent.parent)
    assert not queue.parent.exists()
    assert list(linked.iterdir()) == []


def test_files_of_others_stay(queue: Path) -> None:
    (queue.parent / "other").write_text("x")
    queue.write_text(f"{A}\n")
    forget_work(queue.parent.parent)
    assert [path.name for path in queue.parent.iterdir()] == ["other"]
