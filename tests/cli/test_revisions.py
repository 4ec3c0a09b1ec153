"""`rev-parse`, `merge-base` and `reflog` on the command line, and warnings about names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import build_session, message_line
from tests.cli.conftest import Program

A, B, C, D = ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    path.write_bytes(build_session("a-b-c, b-d", labels={"c": "good one", "a": "main"}))
    return path


def test_revisions_are_written_in_every_form(pivcs: Program, tree: Path):
    full = pivcs("rev-parse", tree, "heads/main", "bbbbbbbb").lines
    assert [len(oid) for oid in full] == [64, 64]
    assert pivcs("cat-file", "-o", tree, "cccccccc").lines == full[:1]
    assert pivcs("rev-parse", tree, "--short", "heads/main").lines == [full[0][:16]]
    assert pivcs("rev-parse", tree, "--entry", "good one", full[1][:9], f"{tree}::L2").lines == [C, B, A]
    assert pivcs("rev-parse", tree, "--symbolic", full[0], full[1], "b-dddddddd").lines == ["main", B, "b-dddddddd"]
    assert pivcs("rev-parse", tree, "--entry", "heads/main...b-dddddddd", "ancestors(bbbbbbbb)").lines == [C, D, A, B]


def test_json_has_what_each_text_names(pivcs: Program, tree: Path):
    found = pivcs("rev-parse", "--json", tree, "b-dddddddd", "error()").json["revisions"]
    assert [each["text"] for each in found] == ["b-dddddddd", "error()"]
    assert [(each["entry"], each["name"], each["line"]) for each in found[0]["entries"]] == [(D, "b-dddddddd", 5)]
    assert found[1]["entries"] == []


@pytest.mark.parametrize(
    ("revisions", "code"),
    [
        (["HEAD"], 0),
        (["HEAD", "bbbbbbbb"], 0),
        (["HEAD", "nothing"], 1),
        (["role(user) &"], 1),
        (["all()"], 1),
        (["error()"], 1),
    ],
)
def test_verify_answers_by_its_exit_code_alone(pivcs: Program, tree: Path, revisions: list[str], code: int):
    found = pivcs("rev-parse", "--verify", tree, *revisions)
    assert (found.code, found.out, found.err) == (code, b"", b"")


def test_error_shows_the_place_and_a_suggestion(pivcs: Program, tree: Path):
    found = pivcs("rev-parse", tree, "labels() | rol(user)")
    assert (found.code, found.out) == (10, b"")
    assert found.complaint == (
        "pivcs: there is no function 'rol'\n  labels() | rol(user)\n             ^\nhint: did you mean 'role'?\n"
    )


@pytest.mark.parametrize("command", [["rev-parse"], ["cat-file", "-o"], ["show"], ["log", "--oneline"]])
def test_name_that_could_mean_another_entry_gets_a_warning(pivcs: Program, tree: Path, command: list[str]):
    found = pivcs(*command, tree, "main")
    assert found.code == 0
    assert found.complaint == (
        "warning: 'main' means the branch; it is also the label of another entry, 'label:\"main\"'\n"
    )
    assert pivcs(*command, tree, "heads/main").err == b""


def test_label_that_names_two_entries_is_an_error(pivcs: Program, tmp_path: Path):
    path = tmp_path / "twice.jsonl"
    path.write_bytes(build_session("a-b", labels={"a": "x", "b": "x"}))
    found = pivcs("rev-parse", path, "x")
    assert found.code == 10
    assert "'x' is the label of 2 entries: aaaaaaaa, bbbbbbbb" in found.complaint


@pytest.mark.parametrize(
    "text",
    ["two words", "a:b", "v1..v2", "v1~2", "\U0001f600", "é" * 150, "Foo", "foo", "(x", "not", "-n", 'a "b" c', "a\\b"],
)
def test_labels_of_every_kind_can_be_listed_shown_and_typed(pivcs: Program, tmp_path: Path, text: str):
    path = tmp_path / "labels.jsonl"
    path.write_bytes(build_session("a-b", labels={"a": text, "b": text.swapcase() + "!"}))
    typed = text.replace("\\", "\\\\").replace('"', '\\"')
    assert pivcs("rev-parse", "--entry", path, f'label:"{typed}"').lines == [A]
    assert pivcs("rev-parse", "--entry", path, f'label:"{typed}" | error()').lines == [A]
    assert pivcs("show", path, f'label:"{typed}"').lines[0].startswith(f"entry {A} (label: ")
    assert pivcs("label", "--json", path).json["labels"][0]["label"] == text


def test_names_of_older_generations_work_everywhere(pivcs: Program, tree: Path):
    assert pivcs("log", tree).code == 0
    tree.write_bytes(build_session("a-e"))
    assert pivcs("rev-parse", "--entry", tree, "g1/main", "g1/b-dddddddd~1").lines == [C, B]
    assert pivcs("cat-file", tree, "g1/main").out == message_line(C, B, "user", "c", ms=1_767_225_603_000)[:-1]
    assert pivcs("merge-base", tree, "g1/main", "g1/b-dddddddd").lines == [B]
    found = pivcs("rev-parse", tree, "g1/main | HEAD")
    assert found.code == 10
    assert "'g1/main' is in another source or generation of the session" in found.complaint


def test_merge_base(pivcs: Program, tree: Path):
    assert pivcs("merge-base", tree, "cccccccc", "dddddddd").lines == [B]
    assert pivcs("merge-base", "--oid", tree, "cccccccc", "dddddddd").lines == pivcs("rev-parse", tree, B).lines
    asked = [pivcs("merge-base", "--is-ancestor", tree, *pair) for pair in ((B, D), (D, D), (D, B), (C, D))]
    assert [(found.code, found.out) for found in asked] == [(0, b""), (0, b""), (1, b""), (1, b"")]
    assert pivcs("merge-base", tree, "cccccccc").code == 2


def test_merge_base_of_two_roots_is_none(pivcs: Program, tmp_path: Path):
    path = tmp_path / "roots.jsonl"
    path.write_bytes(build_session("a-b, c-d"))
    found = pivcs("merge-base", path, B, D)
    assert (found.code, found.out, found.err) == (1, b"", b"")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A fork of the tree's beginning that went on by itself."""
    path = tmp_path / "other.jsonl"
    path.write_bytes(build_session("a-b-e-f"))
    return path


def test_merge_base_across_sessions(pivcs: Program, tree: Path, other: Path):
    assert pivcs("merge-base", f"{tree}::cccccccc", f"{other}::HEAD").lines == [B]
    assert pivcs("merge-base", f"{other}::ffffffff", f"{tree}::aaaaaaaa").lines == [A]
    assert pivcs("merge-base", tree, C, other, "HEAD").lines == [B]
    assert pivcs("merge-base", "--is-ancestor", f"{tree}::{B}", f"{other}::HEAD").code == 0
    assert pivcs("merge-base", "--is-ancestor", f"{tree}::{C}", f"{other}::HEAD").code == 1


@pytest.mark.parametrize("dots", ["..", "..."])
def test_merge_base_of_a_range(pivcs: Program, tree: Path, other: Path, dots: str):
    assert pivcs("merge-base", tree, f"cccccccc{dots}dddddddd").lines == [B]
    assert pivcs("merge-base", f"{tree}::cccccccc{dots}dddddddd").lines == [B]
    assert pivcs("merge-base", f"{tree}::cccccccc{dots}{other}::ffffffff", "--count").lines == ["1\t2"]
    assert pivcs("merge-base", "-s", tree, f"cccccccc{dots}{other}::ffffffff", "--count").lines == ["1\t2"]


def test_merge_base_of_two_files_is_that_of_their_heads(pivcs: Program, tree: Path, other: Path):
    assert pivcs("merge-base", tree, other).lines == [B]
    assert pivcs("merge-base", other, other).lines == ["ffffffff"]


def test_revision_that_could_be_in_either_session_is_refused(pivcs: Program, tree: Path, other: Path):
    found = pivcs("merge-base", C, f"{tree}::{C}", f"{other}::HEAD")
    assert (found.code, "'cccccccc' could be in either of two sessions" in found.complaint) == (2, True)


def test_relatives_are_told(pivcs: Program, tree: Path):
    copy = tree.with_name("copy.jsonl")
    copy.write_bytes(tree.read_bytes().replace(b'"timestamp":1', b'"timestamp": 1'))
    found = pivcs("merge-base", f"{tree}::{C}", f"{copy}::{D}")
    assert (found.lines, found.complaint) == (
        [B], "note: recognised by entry id, type and time; the object ids differ\n"
    )  # fmt: skip
    assert pivcs("merge-base", f"{tree}::{C}", f"{copy}::{D}", "--json").json["by"] == "relative"


def test_count_tells_ahead_and_behind(pivcs: Program, tree: Path):
    assert pivcs("merge-base", "--count", tree, A, C).lines == ["0\t2"]
    assert pivcs("merge-base", "--count", tree, C, D).lines == ["1\t1"]
    document = pivcs("merge-base", "--json", tree, C, D).json
    assert (document["only_first"], document["only_second"], document["by"]) == (1, 1, "oid")


def test_reflog_of_head_and_of_a_branch(pivcs: Program, tree: Path):
    lines = pivcs("reflog", tree, "--utc").lines
    assert [line.split()[:2] for line in lines] == [
        ["1abe0001", "HEAD@{0}"], ["1abe0000", "HEAD@{1}"], [D, "HEAD@{2}"], [C, "HEAD@{3}"], [B, "HEAD@{4}"],
        [A, "HEAD@{5}"],
    ]  # fmt: skip
    assert lines[2] == "dddddddd HEAD@{2} 2026-01-01 00:00Z branched (from cccccccc): d"
    assert pivcs("reflog", tree, "-n", "1", "main", "--utc").lines == [
        "cccccccc main@{0} 2026-01-01 00:00Z appended: c"
    ]
    assert pivcs("branch", tree, "-m", "main", "trunk").code == 0
    assert pivcs("reflog", tree, "trunk", "--json").json["moves"][0]["why"] == "renamed"
    assert pivcs("reflog", tree, "main").code == 10
    assert pivcs("rev-parse", "--entry", tree, "trunk@{2}", "@{2}").lines == [B, D]


def test_every_position_that_a_reflog_shows_can_be_typed(pivcs: Program, tree: Path):
    for ref in ("HEAD", "heads/main"):
        for line in pivcs("reflog", tree, ref).lines:
            entry, position = line.split()[:2]
            assert pivcs("rev-parse", "--entry", tree, position).lines == [entry]


def test_an_answer_in_the_exit_code_leaves_no_room_for_counts(pivcs: Program, tree: Path) -> None:
    for option in ("--count", "--oid"):
        assert pivcs("merge-base", "--is-ancestor", option, tree, B, D).code == 2
