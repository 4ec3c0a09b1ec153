"""The generated sessions are what the benchmarks take them for."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.generate import session_lines, size_of, write_session

SIZE = 1_500_000


@pytest.fixture(scope="module")
def entries() -> list[dict[str, object]]:
    return [json.loads(line) for line in session_lines(SIZE, seed=3)][1:]


def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second, third = tmp_path / "1", tmp_path / "2", tmp_path / "3"
    assert write_session(first, 200_000, seed=1) == write_session(second, 200_000, seed=1)
    write_session(third, 200_000, seed=2)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != third.read_bytes()


def test_size_is_reached_within_one_line() -> None:
    lines = list(session_lines(SIZE, seed=3))
    assert sum(map(len, lines)) >= SIZE > sum(map(len, lines[:-1]))
    assert 1_800 < SIZE / len(lines) < 2_800
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)


def test_smaller_session_is_the_beginning_of_a_larger_one() -> None:
    small = list(session_lines(50_000, seed=9))
    assert small == list(islice(session_lines(10**12, seed=9), len(small)))


def test_every_parent_is_an_earlier_entry(entries: list[dict[str, object]]) -> None:
    seen: set[object] = {None}
    for entry in entries:
        assert entry["parentId"] in seen
        assert entry["id"] not in seen
        seen.add(entry["id"])
    assert [entry["parentId"] for entry in entries].count(None) == 1


def test_tree_branches(entries: list[dict[str, object]]) -> None:
    parents = [entry["parentId"] for entry in entries]
    assert len(parents) - len(set(parents)) > 2


def test_reads_show_the_files_that_the_calls_on_the_path_made(entries: list[dict[str, object]]) -> None:
    files_at: dict[object, dict[str, str]] = {None: {}}
    calls: dict[str, dict[str, object]] = {}
    reads = edits = 0
    for entry in entries:
        files = files_at[entry["parentId"]]
        message = entry.get("message")
        if isinstance(message, dict) and message["role"] == "assistant":
            calls |= {block["id"]: block["arguments"] for block in message["content"] if block["type"] == "toolCall"}
        elif isinstance(message, dict) and message["role"] == "toolResult" and not message["isError"]:
            arguments, tool = calls[message["toolCallId"]], message["toolName"]
            path = str(arguments.get("path"))
            if tool == "write":
                files = {**files, path: str(arguments["content"])}
            elif tool == "edit":
                (edit,) = arguments["edits"]  # type: ignore[misc]
                assert files[path].count(edit["oldText"]) == 1
                files = {**files, path: files[path].replace(edit["oldText"], edit["newText"])}
                edits += 1
            elif tool == "read":
                assert message["content"][0]["text"] == files[path]
                reads += 1
        files_at[entry["id"]] = files
    assert reads > 20
    assert edits > 20


@pytest.mark.parametrize(("text", "size"), [("10", 10), ("500k", 512_000), ("1.5M", 1_572_864), ("1G", 1 << 30)])
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "M", "10T", "-1", "1 M"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        size_of(text)
