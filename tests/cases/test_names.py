"""Faults of names: labels that break chains, forks that look alike, texts that no ref may have. Numbers are those of
the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.names import quoted
from pivcs.ops.operations import create_branch, set_tag
from pivcs.ops.ref_names import BadRefName
from pivcs.ops.relatives import find_relative
from pivcs.ops.revision import name_of, resolve
from tests.builders import build_session, entry_id, header_line, label_line, message_line
from tests.cases.files import E, H, opened
from tests.cli.conftest import Program
from tests.ops.syncing import Box
from tests.ops.views import view_of

NAMES = (
    "Foo", "foo", "a", "a/b", "x.lock", "@{", "~^:?*[\\", "dot.", "y" * 300, "\x1b[31m\x07\x00", "\U0001f680", "a..b",
    "HEAD", "two words", "-n",
)  # fmt: skip
"""What a label may be called, and a branch mostly not."""


def test_fork_without_the_labels_of_its_origin_has_the_same_entries(tmp_path: Path):
    """case 36"""
    first, last = message_line("aaaaaaaa"), message_line("bbbbbbbb", "1abe0000", "assistant", "done")
    label = label_line("1abe0000", "aaaaaaaa", "aaaaaaaa", "good")
    whole = view_of(header_line() + first + label + last)
    rechained = view_of(header_line("fork") + first + last.replace(b'"parentId":"1abe0000"', b'"parentId":"aaaaaaaa"'))
    orphaned = view_of(header_line("fork") + first + last)
    assert whole.table.digest(1) == rechained.table.digest(1)
    assert whole.table.digest(3) != rechained.table.digest(2)
    for fork in (rechained, orphaned):
        assert find_relative(whole, 3, fork) == 2
        assert find_relative(fork, 2, whole) == 3
        assert fork.refs.labels == {}
    assert [branch.name for branch in rechained.refs.branches] == ["main"]
    assert [branch.name for branch in orphaned.refs.branches] == ["b-bbbbbbbb", "main"]


def test_forks_with_the_same_first_message_differ_in_lists_and_names(tmp_path: Path, pivcs: Program):
    """case 44"""
    path = tmp_path / "session.jsonl"
    path.write_bytes(H + E("a", text="Fix it.") + E("b", "a", "try") + E("c", "a", "try") + E("d", text="Fix it."))
    listed = pivcs("branch", path).lines
    assert len(listed) == len(set(listed)) == 3
    shown = pivcs("log", "--graph", "--oneline", path).text
    assert [name in shown for name in ("main", "b-cccccccc", "b-dddddddd")] == [True] * 3
    assert pivcs("rev-parse", "--entry", path, "main", "b-cccccccc", "b-dddddddd").lines == [
        entry_id(name) for name in "bcd"
    ]


def test_labels_of_any_text_stand_side_by_side_and_can_be_typed(tmp_path: Path, pivcs: Program):
    """case 74"""
    entries = [f"{number:02x}" for number in range(16, 16 + len(NAMES))]
    path = tmp_path / "session.jsonl"
    path.write_bytes(build_session("-".join(entries), labels=dict(zip(entries, NAMES, strict=True))))
    view = opened(tmp_path, path.read_bytes())
    for entry, text in zip(entries, NAMES, strict=True):
        row = resolve(view, f"label:{quoted(text)}")
        assert view.table.name(row) == entry_id(entry)
        assert resolve(view, name_of(view, row)) == row
    assert [label["label"] for label in pivcs("label", "--json", path).json["labels"]] == list(NAMES)
    assert not set("\x1b\x07\x00") & set(pivcs("log", path).text)


def test_names_that_differ_in_case_or_lie_in_one_another_are_different_branches_and_tags(tmp_path: Path):
    """case 74"""
    box = Box(tmp_path)
    box.put(build_session("a-b-c-d"))
    view = box.reader.open(str(box.path))
    for row, name in enumerate(("Foo", "foo", "a", "a/b"), 1):
        create_branch(view, name, row, force=False, now=1, command="")
        set_tag(view, f"t/{name}", view.table.object_id(row), force=False, now=1, command="")
    view = box.reader.open(str(box.path))
    for row, name in enumerate(("Foo", "foo", "a", "a/b"), 1):
        assert resolve(view, name) == resolve(view, f"t/{name}") == row


@pytest.mark.parametrize(
    "name",
    ["x.lock", "@{", "~", "^", ":", "?", "*", "[", "\\", "dot.", "", "\x1b", "\x00", "a b", "a..b", "HEAD", "-n"],
)
def test_names_that_git_does_not_allow_are_refused(tmp_path: Path, name: str):
    """case 74"""
    box = Box(tmp_path)
    box.put(build_session("a"))
    view = box.reader.open(str(box.path))
    with pytest.raises(BadRefName):
        create_branch(view, name, 1, force=False, now=1, command="")
    with pytest.raises(BadRefName):
        set_tag(view, name, view.table.object_id(1), force=False, now=1, command="")


@pytest.mark.parametrize("name", ["y" * 300, "\U0001f680", "é"])
def test_long_names_and_names_in_any_script_are_allowed(tmp_path: Path, name: str):
    """case 74"""
    box = Box(tmp_path)
    box.put(build_session("a-b"))
    create_branch(box.reader.open(str(box.path)), name, 1, force=False, now=1, command="")
    assert resolve(box.reader.open(str(box.path)), name) == 1
