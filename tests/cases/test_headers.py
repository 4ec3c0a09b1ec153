"""Faults of headers, migration and lineage as far as reading meets them. Numbers are those of the list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.errors import PivcsError
from pivcs.ops.locate import locate, project_files
from pivcs.session.layout import Surroundings, encode_cwd, session_file_name
from pivcs.session.listitem import NotListed, read_header
from tests.builders import build_session, entry_line, header_line, label_line
from tests.cases.files import E, H, found, ids, opened
from tests.cli.conftest import Program


@pytest.mark.parametrize("data", [b"not json\n" + E("a"), b"", b"{torn", b"\0" * 100, b"[]\n"])
def test_file_with_a_bad_header_is_read_and_never_written(tmp_path: Path, pivcs: Program, data: bytes):
    """case 18"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    path.chmod(0o400)
    before = path.stat()
    for command in ("log", "status", "ls"):
        assert pivcs(command, path).code == 0
    assert path.read_bytes() == data
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_entries_without_a_header_are_a_session(tmp_path: Path, pivcs: Program):
    """case 19"""
    view = opened(tmp_path, E("a") + E("b", "a"))
    assert ids(view) == ["a", "b"]
    assert found(view) == [("no-header", 1)]
    assert view.key is not None
    assert len(pivcs("log", "--oneline", tmp_path / "session.jsonl").lines) == 2


def test_second_header_changes_neither_key_nor_tree(tmp_path: Path):
    """case 21"""
    plain = opened(tmp_path, H + E("a") + E("b", "a"))
    key, digests = plain.key, [plain.table.digest(row) for row in plain.table.nodes()]
    view = opened(tmp_path, H + E("a") + header_line("other", version=1) + E("b", "a"))
    assert (view.key, [view.table.digest(row) for row in view.table.nodes()]) == (key, digests)
    assert len(view.tips()) == 1
    assert found(view) == [("second-header", 3)]


def test_long_header_is_found(tmp_path: Path):
    """case 22"""
    for length in (600, 5_000, 200_000):
        cwd = "/" + "x" * length
        path = tmp_path / f"{length}.jsonl"
        path.write_bytes(build_session("a", header=header_line("long", cwd=cwd)))
        header = read_header(path)
        assert header is not None
        assert header["cwd"] == cwd
        store = {"PI_CODING_AGENT_SESSION_DIR": str(tmp_path)}
        assert list(project_files(Surroundings(store, "/home/x", cwd))) == [path]


def test_entry_of_unknown_type_is_a_full_node(tmp_path: Path, pivcs: Program):
    """case 25"""
    unknown = entry_line("usage_later", "c" * 8, "a" * 8, retainedTail=[1])
    view = opened(tmp_path, H + E("a") + unknown + E("b", "c"))
    assert ids(view) == ["a", "c", "b"]
    assert view.table.path(3) == [1, 2, 3]
    assert found(view) == []
    path = tmp_path / "session.jsonl"
    assert pivcs("log", "--oneline", path, "bbbbbbbb~1").lines[0].startswith("cccccccc usage_later")
    assert pivcs("cat-file", path, "cccccccc").out == unknown[:-1]


def test_fork_without_its_label_entries_is_in_one_piece_or_says_where_it_is_not(tmp_path: Path, pivcs: Program):
    """case 36"""
    label = label_line("1abe0000", "a" * 8, "a" * 8, "start")
    view = opened(tmp_path, H + E("a") + label + E("b", "1abe0000") + E("c", "b"))
    assert len(view.tips()) == 1
    assert found(view) == []
    forked = opened(tmp_path, H + E("a") + E("b", "1abe0000") + E("c", "b"))
    assert ids(forked) == ["a", "b", "c"]
    assert found(forked) == [("missing-parent", 3)]
    drawn = pivcs("log", "--graph", tmp_path / "session.jsonl").lines
    assert drawn == [
        "@ cccccccc (HEAD -> b-bbbbbbbb) user: text",
        "* bbbbbbbb user: text [parent 1abe0000 is missing]",
        "x",
        "* aaaaaaaa (main) user: text",
    ]


def test_reading_a_fork_leaves_the_file_that_it_came_from_alone(tmp_path: Path, pivcs: Program):
    """case 38"""
    parent, fork = tmp_path / "parent.jsonl", tmp_path / "fork.jsonl"
    parent.write_bytes(H + E("a") + E("b", "a"))
    fork.write_bytes(header_line("fork", parentSession=str(parent)) + E("a") + E("c", "a"))
    before = parent.read_bytes(), os.stat(parent)
    assert f"Made from: {parent}" in pivcs("status", fork).text
    assert pivcs("log", fork).code == 0
    assert (parent.read_bytes(), os.stat(parent).st_mtime_ns) == (before[0], before[1].st_mtime_ns)


def test_two_forks_with_the_same_first_message_can_be_told_apart(tmp_path: Path, pivcs: Program):
    """case 44"""
    for name in ("one", "two"):
        header = header_line(f"{name}-fork", parentSession="/old.jsonl")
        (tmp_path / f"{name}.jsonl").write_bytes(build_session("a", texts={"a": "Same."}, header=header))
    one, two = pivcs("ls", tmp_path).lines
    assert one != two
    assert {one.split()[2], two.split()[2]} == {"one-fork", "two-fork"}


def test_two_branches_with_the_same_message_can_be_told_apart(tmp_path: Path, pivcs: Program):
    """case 44"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(H + E("a") + E("b", "a", "Again.") + E("c", "a", "Again."))
    lines = pivcs("log", "--oneline", "--all", path).lines
    assert len(lines) == len(set(lines)) == 3


def test_cwd_of_90_ideographs_and_a_label_of_300_bytes_are_no_names_of_files(tmp_path: Path, pivcs: Program):
    """case 99"""
    cwd = "/" + "漢" * 90
    assert len(encode_cwd(cwd).encode()) > 255
    path = tmp_path / "s.jsonl"
    label, name = "é" * 150, "😀" * 100
    path.write_bytes(
        build_session("a-b", kinds={"b": "name"}, texts={"b": name}, labels={"a": label}, header=header_line(cwd=cwd))
    )
    assert pivcs("log", path, label).lines[0].startswith("entry aaaaaaaa")
    assert pivcs("status", path).code == 0
    assert name in pivcs("ls", path).text
    # A directory that cannot exist has no sessions; looking there is no failure.
    surroundings = Surroundings({}, str(tmp_path), cwd)
    skipped: list[NotListed] = []
    assert list(project_files(surroundings, skipped)) == []
    assert skipped == []
    with pytest.raises(PivcsError):
        locate("x" * 300, surroundings)
    assert len(session_file_name("2026-01-01T00:00:00.000Z", "019b7715-9000-7000-8000-000000000001")) < 100


def test_session_dir_inside_the_project_is_found_from_another_directory(
    tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
):
    """case 102"""
    project = tmp_path / "project"
    store = project / ".pi-sessions"
    store.mkdir(parents=True)
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "settings.json").write_text(f'{{"sessionDir":"{store}"}}')
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    (store / "s.jsonl").write_bytes(build_session("a", header=header_line("mine", cwd=str(project))))
    monkeypatch.chdir(tmp_path)
    assert pivcs("log", "-s", "mine").out
    assert "mine" in pivcs("ls", "--all").text
    assert pivcs("-C", project, "log").out == pivcs("log", "-s", "mine").out
