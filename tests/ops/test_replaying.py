"""Which rows of a path are read to replay it, and where the story of an entry goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.replaying import iter_changes, look_ahead, relevant_rows, replay_path
from pivcs.ops.view import SessionView, open_file
from pivcs.workspace.state import FilePath
from tests.builders import build_session, entry_id, entry_line, header_line, message_line, tool_result_line


def opened(tmp_path: Path, data: bytes) -> SessionView:
    file = tmp_path / "session.jsonl"
    file.write_bytes(data)
    return open_file(file)


def test_answers_without_results_and_other_entries_are_not_read(tmp_path: Path) -> None:
    data = build_session(
        "a-b-c-d-e-f-11-12-13",
        kinds={"b": "assistant", "c": "tool", "d": "model", "e": "result", "f": "bash", "11": "tool", "12": "assistant",
               "13": "compaction"},
    )  # fmt: skip
    with opened(tmp_path, data) as view:
        assert view.head is not None
        rows = relevant_rows(view, view.table.path(view.head))
        names = [view.table.name(row) for row in rows]
    assert names == [entry_id(name) for name in ("c", "e", "f", "11")]


@pytest.mark.parametrize(
    ("graph", "leaf", "at", "ahead"),
    [
        ("a-b-c", None, "a", "c"),
        ("a-b-c", None, "c", "c"),
        ("a-b, a-c", None, "a", "c"),
        ("a-b, a-c", "b", "a", "b"),
        ("a-b-c, b-d, a-e", None, "b", "d"),
        ("a-b-c, b-d, a-e", None, "c", "c"),
        ("a-b, c-d", None, "a", "b"),
    ],
)
def test_story_goes_on_to_head_or_the_newest_tip_below(
    tmp_path: Path, graph: str, leaf: str | None, at: str, ahead: str
) -> None:
    with opened(tmp_path, build_session(graph, leaf=leaf)) as view:
        row = view.table.row_named(entry_id(at))
        assert row is not None
        assert view.table.name(look_ahead(view, row)) == entry_id(ahead)


def call(ident: str, parent: str, name: str, **arguments: object) -> bytes:
    block = {"type": "toolCall", "id": "1", "name": name, "arguments": arguments}
    return message_line(ident, parent, "assistant", [block], stopReason="toolUse")


def test_context_edits_and_compactions_change_no_files(tmp_path: Path) -> None:
    lines = [
        header_line(),
        message_line("aaaaaaaa"),
        call("bbbbbbbb", "aaaaaaaa", "write", path="a", content="x\n"),
        tool_result_line("cccccccc", "bbbbbbbb", "write", call_id="1"),
        entry_line("context_edit", "dddddddd", "cccccccc", targetId="cccccccc", replacement=None),
        entry_line("compaction", "eeeeeeee", "dddddddd", summary="s", firstKeptEntryId="eeeeeeee", tokensBefore=1),
    ]
    with opened(tmp_path, b"".join(lines)) as view:
        assert view.head is not None
        assert replay_path(view, view.head)[FilePath("a", True)].content == b"x\n"


def test_ids_of_calls_may_repeat_in_later_answers(tmp_path: Path) -> None:
    lines = [header_line(), message_line("aaaaaaaa")]
    parent = "aaaaaaaa"
    for number in range(3):
        answer, result = f"b000000{number}", f"c000000{number}"
        lines.append(call(answer, parent, "write", path=f"f{number}", content="x"))
        lines.append(tool_result_line(result, answer, "write", call_id="1"))
        # A result that was written twice changes nothing the second time.
        lines.append(tool_result_line(f"d000000{number}", result, "write", call_id="1"))
        parent = f"d000000{number}"
    with opened(tmp_path, b"".join(lines)) as view:
        assert view.head is not None
        changes = list(iter_changes(view, view.head))
        assert [change.path.text for change in changes] == ["f0", "f1", "f2"]
        assert [view.table.name(change.call_row) for change in changes] == ["b0000000", "b0000001", "b0000002"]
