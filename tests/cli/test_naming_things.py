"""The commands over names: branch, tag, label, op log, undo, redo, and what they say when something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import build_session, header_line, label_line, message_line
from tests.cli.conftest import Program

LABELS = [
    "two words", "a:b", "v1..v2", "main~1", "HEAD", "\U0001f600 fine", "é" * 150, "Foo", "foo", "a", "a/b", "x.lock",
    "@{", "~^:?*[\\", "dot.", 'say "hi"', "L3", "-n", "role(user)", "main",
]  # fmt: skip
"""Texts that nobody would give to a branch, and that pi takes as labels."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    path.write_bytes(
        build_session("a-b-c-d, b-e-f", texts={"a": "Fix it.", "c": "Use Decimal!", "e": "Try, whole cents?"})
    )
    return path


def names(pivcs: Program, tree: Path) -> dict[str, str]:
    return {branch["name"]: branch["entry"] for branch in pivcs("branch", "--json", tree).json["branches"]}


def test_list_says_what_tells_branches_apart(pivcs: Program, tree: Path):
    assert pivcs("branch", tree).lines == [
        "  main        dddddddd  2026-01-01 00:00  2 entries  +2  -2  Use Decimal!",
        "* b-eeeeeeee  ffffffff  2026-01-01 00:00  2 entries          Try, whole cents?",
    ]
    assert [line.split()[0] for line in pivcs("branch", "--contains", "c", tree).lines] == []
    assert [line.split()[0] for line in pivcs("branch", "--contains", "cccccccc", tree).lines] == ["main"]
    assert len(pivcs("branch", "--contains", "bbbbbbbb", tree).lines) == 2


def test_detached_head_is_told(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c", extra=[label_line("1abe0000", "aaaaaaaa", "bbbbbbbb", "here")]))
    assert pivcs("branch", path).lines[0] == '* detached  1abe0000 (HEAD detached) label "here" on bbbbbbbb'
    assert (
        "Branch:    detached: HEAD is not at the end of a branch; main has gone further" in pivcs("status", path).lines
    )
    assert pivcs("log", "--oneline", path).lines[0].startswith("1abe0000 (HEAD detached) ")
    found = pivcs("branch", "-m", "new", path)
    assert (found.code, "HEAD is on no branch" in found.complaint) == (20, True)


def test_branches_are_created_moved_renamed_and_deleted(pivcs: Program, tree: Path):
    assert pivcs("branch", tree, "feature/x", "main~1").lines[0].startswith("branch feature/x  new, at ")
    assert names(pivcs, tree)["feature/x"] == "cccccccc"
    assert pivcs("branch", tree, "feature/x").code == 20
    assert pivcs("branch", tree, "-f", "feature/x", "HEAD").code == 0
    assert names(pivcs, tree)["feature/x"] == "ffffffff"
    assert pivcs("branch", "-m", tree, "feature/x", "y").lines[0].startswith("branch feature/x -> y  at ")
    assert pivcs("branch", "-m", tree, "mine").code == 0  # the branch that HEAD is on
    assert names(pivcs, tree) == {"main": "dddddddd", "mine": "ffffffff", "y": "ffffffff"}
    assert pivcs("branch", "-d", tree, "y", "main").text.count("deleted, was at") == 2
    assert names(pivcs, tree) == {"mine": "ffffffff"}
    assert pivcs("log", "--oneline", tree, "mine").lines[0].startswith("ffffffff (HEAD -> mine) ")


def test_all_branches_are_named_after_their_prompts_at_once(pivcs: Program, tree: Path):
    assert pivcs("branch", "--name-all", tree).lines[0].startswith("branch b-eeeeeeee -> try-whole-cents  at ")
    assert names(pivcs, tree) == {"main": "dddddddd", "try-whole-cents": "ffffffff"}
    assert pivcs("branch", "--name-all", tree).out == b""
    assert pivcs("undo").code == 0
    assert names(pivcs, tree) == {"main": "dddddddd", "b-eeeeeeee": "ffffffff"}


def test_forks_with_the_same_prompt_get_different_names(pivcs: Program, tmp_path: Path):
    """case 44"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c, b-d, b-e, b-f", texts=dict.fromkeys("acdef", "Do it!")))
    for shown in (pivcs("log", "--graph", path).lines, pivcs("branch", path).lines):
        lines = [line for line in shown if "Do it!" in line]
        assert len(set(lines)) == len(lines) >= 4
    pivcs("branch", "--name-all", path)
    assert names(pivcs, path) == {"main": "cccccccc", "do-it": "dddddddd", "do-it-2": "eeeeeeee", "do-it-3": "ffffffff"}


def test_tags_stay_where_they_are(pivcs: Program, tree: Path):
    assert pivcs("tag", tree, "v1").code == 0
    assert pivcs("tag", tree, "v1").code == 20
    with tree.open("ab") as file:
        file.write(message_line("99999999", "ffffffff"))
    assert pivcs("tag", tree).lines == ["v1  ffffffff  2026-01-01 00:00  f"]
    assert "(tag: v1)" in pivcs("log", "--oneline", tree).lines[1]
    assert pivcs("tag", "-f", tree, "v1", "main").code == 0
    assert pivcs("tag", "--json", tree).json["tags"][0]["entry"] == "dddddddd"
    assert pivcs("tag", "-d", tree, "v1").code == 0
    assert pivcs("tag", tree).out == b""
    assert pivcs("tag", "-d", tree, "v1").code == 10


@pytest.mark.parametrize("bad", ["a b", "x.lock", "@{", "a..b", "~^:?*[\\", "dot.", "", "HEAD", "a\x01b", "-x", "a//b"])
def test_names_that_git_does_not_allow_are_refused(pivcs: Program, tree: Path, bad: str):
    """case 74"""
    for command in ("branch", "tag"):
        found = pivcs(command, "-s", tree, "--", bad, "HEAD")
        assert found.code == 10
        assert "is no name for a branch or tag" in found.complaint
    assert set(names(pivcs, tree)) == {"main", "b-eeeeeeee"}


def test_names_that_differ_in_case_or_contain_each_other(pivcs: Program, tree: Path):
    """case 74"""
    for name in ("Foo", "foo", "a", "a/b", "\U0001f600", "x" * 300):
        assert pivcs("branch", tree, name, "main~1").code == 0
        assert pivcs("tag", tree, name, "main").code == 0
        assert pivcs("log", "--oneline", "-n1", tree, f"heads/{name}").lines[0].startswith("cccccccc")
        assert pivcs("log", "--oneline", "-n1", tree, f"tags/{name}").lines[0].startswith("dddddddd")
    assert len(names(pivcs, tree)) == 8


@pytest.mark.parametrize("text", LABELS)
def test_label_of_any_text_is_listed_shown_and_typed(pivcs: Program, tmp_path: Path, text: str):
    """case 74"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c-d", labels={"b": text}))
    label = pivcs("label", "--json", path).json["labels"][0]
    assert (label["label"], label["entry"]) == (text, "bbbbbbbb")
    assert "bbbbbbbb" in pivcs("label", path).lines[0]
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    for command in (["show", "--json"], ["log", "--json", "-n1"]):
        found = pivcs(*command, "-s", path, "--", f'label:"{quoted}"')
        assert found.code == 0, found.complaint
        assert found.json["entries"][0]["entry"] == "bbbbbbbb"
        assert found.json["entries"][0]["label"] == text


def test_labels_that_differ_in_case_are_two(pivcs: Program, tmp_path: Path):
    """case 74"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c", labels={"a": "Foo", "b": "foo"}))
    assert pivcs("log", "--oneline", "-n1", path, "Foo").lines[0].startswith("aaaaaaaa")
    assert pivcs("log", "--oneline", "-n1", path, "foo").lines[0].startswith("bbbbbbbb")
    assert len(pivcs("label", path).lines) == 2


def test_operations_are_listed_with_the_command_as_it_was_typed(pivcs: Program, tree: Path):
    pivcs("branch", tree, "it's", "label:none")
    pivcs("tag", tree, "v1", ":/Use Decimal")
    pivcs("branch", "-d", tree, "main")
    pivcs("undo")
    document = pivcs("op", "log", "--json").json
    kinds = [operation["kind"] for operation in document["operations"]]
    assert kinds == ["undo", "user", "user", "sync"]
    undone, deleted, tagged, _ = document["operations"]
    assert undone["about"] == deleted["id"]
    assert tagged["command"] == f"pivcs tag {tree} v1 ':/Use Decimal'"
    assert [change["name"] for change in deleted["changes"]] == ["main"]
    assert pivcs("op", "log", "--kind", "user", "-n", "1").lines[0].endswith(f"pivcs branch -d {tree} main")
    assert len(pivcs("op", "log", "-n", "0").lines) == 0


def test_undo_and_redo_say_what_they_set_back(pivcs: Program, tree: Path):
    assert (pivcs("undo").code, pivcs("redo").code) == (20, 20)
    pivcs("branch", tree, "x")
    undone = pivcs("undo")
    assert undone.lines[0].startswith("undone: op ")
    assert undone.lines[0].endswith(f"pivcs branch {tree} x")
    assert undone.lines[1].startswith("    branch x  deleted, was at ")
    assert "x" not in names(pivcs, tree)
    again = pivcs("redo")
    assert again.lines[0].startswith("done again: op ")
    assert "x" in names(pivcs, tree)
    assert pivcs("redo").code == 20


def test_branches_of_older_generations_are_listed_on_demand(pivcs: Program, tree: Path):
    pivcs("sync", tree)
    tree.write_bytes(build_session("x-y", texts={"x": "Something else."}))
    assert len(pivcs("branch", tree).lines) == 1
    listed = pivcs("branch", "--all", tree).lines
    assert [line.split()[0] for line in listed] == ["*", "g1/b-eeeeeeee", "g1/main"]
    assert "generation 1 of" in listed[1]
    assert pivcs("log", "--oneline", "-n1", tree, "g1/main").lines[0].startswith("dddddddd")
    assert pivcs("tag", tree, "kept", "g1/main").code == 0
    assert "not in this generation" in pivcs("tag", tree).lines[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["branch", "-m", "FILE"], "--move needs OLD NEW"),
        (["branch", "-d", "FILE"], "--delete needs"),
        (["branch", "-m", "-d", "FILE", "a"], "do not go together"),
        (["branch", "--contains", "HEAD", "FILE", "a"], "are for listing"),
        (["branch", "FILE", "a", "b", "c"], "a name and a revision, please"),
        (["branch", "--name-all", "FILE", "a"], "unexpected argument 'a'"),
        (["tag", "FILE", "a", "b", "c"], "a name and a revision, please"),
        (["tag", "-d", "FILE"], "--delete needs"),
        (["label", "FILE", "a"], "a name and a revision, please"),
        (["op"], "Missing argument"),
        (["op", "show"], "'show' is not 'log'"),
    ],
)
def test_wrong_usage_is_told(pivcs: Program, tree: Path, arguments: list[str], said: str):
    found = pivcs(*[str(tree) if argument == "FILE" else argument for argument in arguments])
    assert found.code == 2
    assert said in found.complaint


def test_two_writers_in_one_file_are_told(pivcs: Program, tmp_path: Path):
    """case 27"""
    path = tmp_path / "s.jsonl"
    kinds = {"a1": "tool", "b1": "tool", "a2": "result", "b2": "result"}
    session = build_session("p-a1-a2, p-b1-b2", kinds=kinds).splitlines(keepends=True)
    header, p, a1, a2, b1, b2 = session
    path.write_bytes(header + p + a1 + b1 + a2 + b2)
    status = pivcs("status", path)
    assert "line 5, offset" in status.text
    assert "another chain interrupted: two programs write to the file (2 times)" in status.text
    assert "2 tips, 2 branches" in status.text
    path.write_bytes(header + p + a1 + a2 + b1 + b2)  # one after the other: somebody went back
    assert "two programs" not in pivcs("status", path).text


def test_branch_that_ends_in_a_call_without_result_is_shown(pivcs: Program, tmp_path: Path):
    """case 31"""
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c-d, a-e", kinds={"b": "tool", "c": "result", "e": "tool"}))
    for arguments in (["log"], ["log", "--graph"], ["log", "--turns"], ["show", "--turn"], ["branch"], ["status"]):
        assert pivcs(*arguments, path).code == 0
    assert "unfinished" in pivcs("log", "--turns", path).text


def test_chain_over_a_label_that_a_fork_dropped(pivcs: Program, tmp_path: Path):
    """case 36"""
    path = tmp_path / "s.jsonl"
    a, label = message_line("aaaaaaaa"), label_line("1abe0000", "aaaaaaaa", "aaaaaaaa", "mark")
    b, c = message_line("bbbbbbbb", "1abe0000"), message_line("cccccccc", "bbbbbbbb")
    path.write_bytes(header_line() + a + label + b + c)
    assert names(pivcs, path) == {"main": "cccccccc"}
    path.write_bytes(header_line("other") + a + b + c)
    assert names(pivcs, path) == {"main": "aaaaaaaa", "b-bbbbbbbb": "cccccccc"}
    assert "[parent 1abe0000 is missing]" in pivcs("log", "--oneline", path).text
    assert pivcs("log", "--graph", path).code == 0


def test_names_are_pivcs_s_own_and_no_file_changes(pivcs: Program, tree: Path):
    """case 38"""
    before = (tree.read_bytes(), tree.stat().st_mtime_ns)
    pivcs("branch", tree, "x")
    pivcs("tag", tree, "y")
    pivcs("branch", "-d", tree, "main")
    pivcs("undo")
    assert (tree.read_bytes(), tree.stat().st_mtime_ns) == before
    assert list(tree.parent.glob("*.jsonl")) == [tree]


@pytest.mark.parametrize("name", ["L7", "L7.2", "not", "all()", "a,b", 'a"b', "a&b", "a|b", "\u202eabc", "a\u200bb"])
def test_names_that_expressions_could_not_tell_apart_are_refused(pivcs: Program, tree: Path, name: str):
    for command in ("branch", "tag"):
        done = pivcs(command, tree, name)
        assert done.code == 10, name
        assert "is no name for a branch or tag" in done.complaint
