"""`checkout`, `switch`, `fork`, `migrate` and `cherry-pick` on the command line."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.builders import build_session, header_line, line, tool_call_line
from tests.cli.conftest import Program, Result

A, B, C, D, E = ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee")
TREE = build_session("a-b-c, b-d-e", texts={"c": "Prompt\x1b[31m.", "e": "Later."})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "my tree.jsonl"
    path.write_bytes(TREE)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def heads(pivcs: Program, path: Path) -> list[str]:
    return pivcs("log", "--oneline", "-n", "2", path).lines


def refused(result: Result, code: int, path: Path) -> str:
    assert (result.code, result.out) == (code, b"")
    assert path.read_bytes() == TREE
    return result.complaint


def test_checkout_shows_the_path_and_how_to_resume(pivcs: Program, tree: Path) -> None:
    done = pivcs("checkout", tree, D)
    path, command = done.lines
    assert shlex.split(command) == ["pi", "--session", path]
    assert Path(path).parent == Path.home() / ".pi/agent/sessions/--home-dev-project--"
    assert Path(path).read_bytes().splitlines()[1:] == [TREE.splitlines()[at] for at in (1, 2, 4)]
    assert tree.read_bytes() == TREE
    assert heads(pivcs, Path(path))[0].startswith(D)


def test_checkout_into_a_named_file_never_replaces_one(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    assert pivcs("checkout", tree, B, "-o", tmp_path / "new.jsonl").lines[0] == str(tmp_path / "new.jsonl")
    complaint = refused(pivcs("checkout", tree, B, "-o", tree), 20, tree)
    assert f"cannot create '{tree}': it exists" in complaint


def test_places_inside_a_turn_and_prompts_are_warned_of(pivcs: Program, tmp_path: Path) -> None:
    kinds = {"b": "tool", "c": "result", "d": "assistant", "e": "name"}
    path = tmp_path / "turn.jsonl"
    path.write_bytes(build_session("a-b-c-d-e", kinds=kinds))
    said = {name: pivcs("checkout", path, name, "-o", tmp_path / name).complaint for name in (A, B, C, D, E)}
    assert said == {
        A: f"warning: '{A}' is a prompt without an answer; '{A}^' is before it\n",
        B: f"warning: '{B}' is inside a turn: a tool call has no result there\n",
        C: f"warning: '{C}' is inside a turn: the model has not answered the tool's result\n",
        D: "",
        E: f"warning: '{E}' is book-keeping (session_info), no part of the conversation; pi goes on below it\n",
    }


def test_checkout_of_an_old_version_says_that_pi_will_rewrite_it(pivcs: Program, tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    entry = line({"type": "message", "message": {"role": "assistant", "content": []}})
    path.write_bytes(header_line(version=None) + entry * 2)
    done = pivcs("checkout", path, "L2", "-o", tmp_path / "new.jsonl")
    assert "the session is of version 1; pi will rewrite the new file as version 3" in done.complaint
    assert (tmp_path / "new.jsonl").read_bytes().splitlines()[1:] == [entry[:-1]]


def test_switch_moves_head_to_a_branch_and_undo_goes_back(pivcs: Program, tree: Path) -> None:
    done = pivcs("switch", tree, "main")
    assert done.lines[0] == f"now at {C} user: Prompt^[[31m."
    assert done.complaint == f"warning: '{C}' is a prompt without an answer; '{C}^' is before it\n"
    assert [each.split()[1:3] for each in heads(pivcs, tree)] == [["(HEAD", "->"], ["(main)", "user:"]]
    assert len(tree.read_bytes().splitlines()) == len(TREE.splitlines()) + 1
    again = pivcs("switch", tree, "main")
    assert again.lines[0].startswith(f"already at {C}")
    assert len(tree.read_bytes().splitlines()) == len(TREE.splitlines()) + 1
    assert pivcs("undo").code == 0
    assert heads(pivcs, tree)[1].startswith(f"{E} (b-{D}")


def test_checkout_in_place_warns_when_the_file_has_just_changed(pivcs: Program, tree: Path) -> None:
    os.utime(tree)
    done = pivcs("checkout", "--in-place", tree, A)
    assert "changed less than a minute ago; a pi that has it open" in done.complaint
    assert tree.read_bytes().startswith(TREE)


def test_switch_creates_a_branch(pivcs: Program, tree: Path) -> None:
    assert pivcs("switch", tree, "-c", "second try", B).code == 10
    assert tree.read_bytes() == TREE
    assert pivcs("switch", tree, "-c", "retry", B).code == 0
    assert pivcs("status", "--json", tree).json["session"]["head_branch"] == "retry"
    written = tree.read_bytes()
    taken = pivcs("switch", tree, "-c", "main", E)
    assert (taken.code, tree.read_bytes()) == (20, written)
    assert "a branch 'main' exists" in taken.complaint
    assert pivcs("switch", tree, "-c", "here").code == 0
    assert tree.read_bytes() == written
    names = [each["name"] for each in pivcs("branch", "--json", tree).json["branches"]]
    assert sorted(names) == [f"b-{D}", "here", "main", "retry"]


def test_summary_goes_along(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    done = pivcs("checkout", tree, C, "-o", tmp_path / "new.jsonl", "--summary", "No use.", "--json").json
    summary = pivcs("show", "--json", tmp_path / "new.jsonl", "HEAD").json["entries"][0]["value"]
    assert summary["summary"].endswith("exploration:\n\nNo use.")
    assert (summary["fromId"], summary["parentId"], summary["id"]) == (E, C, done["leaf"])
    assert tree.read_bytes() == TREE
    pivcs("switch", tree, "main", "--summary-from", "tr a-z A-Z")
    summary = pivcs("show", "--json", tree, "HEAD").json["entries"][0]["value"]
    assert summary["summary"].endswith("exploration:\n\n[USER]: D\n\n[ASSISTANT]: LATER.")


def test_nothing_left_means_no_summary(pivcs: Program, tree: Path) -> None:
    done = pivcs("switch", tree, "HEAD", "--summary", "x")
    assert "no path is left" in done.complaint
    assert tree.read_bytes() == TREE


def test_failing_summary_writes_nothing(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    complaint = refused(pivcs("switch", tree, "main", "--summary-from", "exit 4"), 20, tree)
    assert "'exit 4' failed with exit code 4" in complaint
    refused(pivcs("checkout", tree, C, "-o", tmp_path / "new.jsonl", "--summary-from", "true"), 20, tree)
    assert not (tmp_path / "new.jsonl").exists()
    refused(pivcs("switch", tree, "main", "--summary", "a", "--summary-from", "b"), 2, tree)


def test_fork_at_a_prompt_shows_it(pivcs: Program, tree: Path) -> None:
    done = pivcs("fork", tree, C)
    assert done.lines[2:] == ["", "    Prompt^[[31m."]
    assert heads(pivcs, Path(done.lines[0]))[0].startswith(B)
    assert pivcs("fork", tree, C, "--json").json["text"] == "Prompt\x1b[31m."
    assert pivcs("fork", tree, "--at", C, "--json").json["leaf"] == C
    assert pivcs("fork", tree, "--json").json["leaf"] == E


def test_fork_into_another_project(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    done = pivcs("fork", tree, "--into", tmp_path)
    assert Path(done.lines[0]).read_bytes().splitlines()[1:] == TREE.splitlines()[1:]
    refused(pivcs("fork", tree, C, "--into", tmp_path), 2, tree)


def test_migrate_writes_a_new_file_and_the_same_one_for_a_seed(pivcs: Program, tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    data = header_line(version=None) + line({"type": "message", "message": {"role": "user", "content": "Hi."}}) + b"{\n"
    path.write_bytes(data)
    done = [pivcs("migrate", path, "-o", tmp_path / f"new{each}", "--seed", 5) for each in range(2)]
    assert f"warning: 1 line of '{path}' that pi passes over: not in the new file\n" == done[0].complaint
    assert (tmp_path / "new0").read_bytes() == (tmp_path / "new1").read_bytes()
    again = pivcs("migrate", path, "-o", path)
    assert (again.code, path.read_bytes()) == (20, data)
    assert pivcs("migrate", tmp_path / "new0", "-o", tmp_path / "more").code == 10


def test_cherry_pick_lists_what_became_of_each_entry(pivcs: Program, tree: Path) -> None:
    done = pivcs("cherry-pick", tree, f"{B}..{E}", "--onto", "main")
    assert [each.split()[0] for each in done.lines[:2]] == [D, E]
    assert [each.split()[3] for each in done.lines[:2]] == ["user:", "assistant:"]
    assert pivcs("log", "--oneline", tree, "HEAD").lines[2].startswith(C)
    assert pivcs("status", "--json", tree).json["session"]["head_branch"] == "main"


def test_cherry_pick_of_a_lone_call_is_refused(pivcs: Program, tree: Path) -> None:
    call = tool_call_line("f0000000", E, "bash", {"command": "ls"})
    with tree.open("ab") as file:
        file.write(call)
    done = pivcs("cherry-pick", tree, "HEAD", "--onto", "main")
    assert done.code == 10
    assert "'f0000000' calls a tool whose result is not among the entries" in done.complaint
    assert tree.read_bytes() == TREE + call


@pytest.mark.parametrize(
    "arguments",
    [["checkout"], ["checkout", A, B], ["checkout", "--in-place", "-o", "x", A], ["switch"], ["cherry-pick", A]],
)
def test_wrong_usage_is_code_2(pivcs: Program, tree: Path, arguments: list[str]) -> None:
    refused(pivcs(arguments[0], tree, *arguments[1:]), 2, tree)


def test_entry_of_an_older_generation_is_not_checked_out_in_place(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    pivcs("sync", tree)
    pivcs("tag", "old", tree, E)
    other = build_session("a-c")
    tree.write_bytes(other)
    done = pivcs("switch", tree, "old")
    assert (done.code, tree.read_bytes()) == (10, other)
    assert "another source or generation" in done.complaint
    assert pivcs("checkout", tree, "old", "-o", tmp_path / "new.jsonl").code == 0
    assert (tmp_path / "new.jsonl").read_bytes().splitlines()[1:] == [TREE.splitlines()[at] for at in (1, 2, 4, 5)]


def test_a_summary_without_a_text_is_refused(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    for arguments in (("switch", tree, C), ("checkout", tree, C, "-o", tmp_path / "new.jsonl")):
        result = pivcs(*arguments, "--summary", " ")
        assert result.code == 2
        assert b"--summary wants a text" in result.err
    assert tree.read_bytes() == TREE
    assert list(tmp_path.glob("*.jsonl")) == [tree]
