"""`pivcs diff` on the command line; what pages look like is in `tests/golden`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.demo import demo_session
from tests.builders import build_session, header_line, message_line, tool_call_line, tool_result_line
from tests.cli.conftest import Program

A, B, C, D = ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    path.write_bytes(build_session("a-b-c, b-d"))
    return path


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    path = tmp_path / "demo.jsonl"
    path.write_bytes(demo_session())
    return path


def test_exit_code_tells_of_differences_only_when_asked(pivcs: Program, tree: Path):
    assert pivcs("diff", tree, C, D).code == 0
    assert pivcs("diff", tree, C, D, "--exit-code").code == 1
    assert pivcs("diff", tree, C, D, "--exit-code", "--json").code == 1
    same = pivcs("diff", tree, C, C, "--exit-code")
    assert (same.code, same.lines[-1]) == (0, "No differences.")


def test_one_revision_is_compared_with_head(pivcs: Program, tree: Path):
    assert pivcs("diff", tree, C).lines == pivcs("diff", tree, C, "HEAD").lines


def test_two_dots_name_both_sides_and_three_the_second_alone(pivcs: Program, tree: Path):
    assert pivcs("diff", tree, f"{C}..{D}").lines == pivcs("diff", tree, C, D).lines
    sides = pivcs("diff", tree, f"{C}...{D}", "--json").json["sides"]
    assert [side["entries"] for side in sides] == [[], [D]]
    assert [side["entry"] for side in sides] == [B, D]


def test_three_dots_need_something_shared(pivcs: Program, tmp_path: Path):
    path = tmp_path / "roots.jsonl"
    path.write_bytes(build_session("a-b, c-d"))
    found = pivcs("diff", path, f"{B}...{D}")
    assert (found.code, "have no entry in common" in found.complaint) == (10, True)
    assert "They have no entry in common." in pivcs("diff", path, B, D).lines


def test_sides_of_two_sessions(pivcs: Program, tree: Path, tmp_path: Path):
    fork = tmp_path / "fork.jsonl"
    fork.write_bytes(build_session("a-b-e-f"))
    document = pivcs("diff", f"{tree}::{C}", f"{fork}::HEAD", "--json").json
    assert [side["path"] for side in document["sides"]] == [str(tree), str(fork)]
    assert [side["base"]["entry"] for side in document["sides"]] == [B, B]
    lines = pivcs("diff", f"{tree}::{C}", f"{fork}::HEAD").lines
    assert f"  {tree}" in lines
    assert f"  {fork}" in lines


def test_names_of_files(pivcs: Program, demo: Path):
    assert pivcs("diff", demo, "main", "HEAD", "--name-only").lines == ["shop/money.py", "shop/price.py"]
    assert pivcs("diff", demo, "main", "HEAD", "--name-status").lines == ["A\tshop/money.py", "M\tshop/price.py"]


def test_files_are_shown_alone(pivcs: Program, demo: Path):
    lines = pivcs("diff", demo, "main", "HEAD", "--files").lines
    assert "+++ b/shop/price.py" in lines
    assert "Turns" not in lines


def test_long_diffs_are_folded_with_a_count(pivcs: Program, tmp_path: Path):
    path = tmp_path / "long.jsonl"
    content = "".join(f"line {number}\n" for number in range(100))
    path.write_bytes(
        header_line()
        + message_line(A)
        + tool_call_line(B, A, "write", {"path": "x", "content": content})
        + tool_result_line(C, B, "write")
    )
    page = pivcs("diff", path, A, C).lines
    assert "(+66 lines; --full shows all)" in page
    assert "+line 99" in pivcs("diff", path, A, C, "--full").lines
    assert "+line 99" in pivcs("diff", path, A, C, "--files").lines


def test_every_number_of_the_table_is_in_the_document(pivcs: Program, demo: Path):
    lines = [line.split() for line in pivcs("diff", demo, "main", "HEAD", "--stat").lines]
    sides = pivcs("diff", demo, "main", "HEAD", "--json").json["sides"]
    told = {
        ("entries",): [len(side["entries"]) for side in sides],
        ("turns",): [len(side["turns"]) for side in sides],
        ("tool", "calls"): [sum(deed["times"] for deed in side["deeds"]) for side in sides],
        ("failed",): [side["failures"] for side in sides],
        ("compactions",): [len(side["compactions"]) for side in sides],
        ("answers",): [side["spent"]["answers"] for side in sides],
        ("tokens",): [side["spent"]["tokens"] for side in sides],
        ("in",): [side["spent"]["input"] for side in sides],
        ("out",): [side["spent"]["output"] for side in sides],
        ("cache", "read"): [side["spent"]["cache_read"] for side in sides],
        ("cache", "write"): [side["spent"]["cache_write"] for side in sides],
    }
    for title, numbers in told.items():
        assert [*title, *(f"{number:,}" for number in numbers)] in lines
    assert ["cost", *(f"${side['spent']['cost']:,.4f}" for side in sides)] in lines


def test_unified_counts_messages_around_changes(pivcs: Program, demo: Path):
    fewer = pivcs("diff", demo, "main", "HEAD", "--context", "-U", "0").lines
    more = pivcs("diff", demo, "main", "HEAD", "--context", "-U", "2").lines
    assert len(more) == len(fewer) + 2
    assert pivcs("diff", demo, "main", "HEAD", "--context", "--json").json["context"]["same"] == 4
