"""Faults of lines that people reported in tools of this kind: torn, glued, odd bytes. Numbers are those of the list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pivcs.ops.revision import resolve
from pivcs.session.fields import LineKind
from tests.builders import build_session, line
from tests.cases.files import E, H, found, ids, opened, texts
from tests.cli.conftest import Program, process


def test_entry_appended_to_a_torn_one_is_readable(tmp_path: Path):
    """case 1"""
    data = H + E("a") + E("b", "a")[:60] + E("c", "a", "kept")
    view = opened(tmp_path, data)
    assert ids(view) == ["a", "c"]
    assert texts(view) == ["text", "kept"]
    assert view.table.name(view.table.parent_of(2 + 1) or 0) == "aaaaaaaa"
    assert found(view) == [("glued-line", 3)]
    assert b"".join(view.iter_record(2)).startswith(E("b", "a")[:60])


@pytest.mark.parametrize("cut", range(1, len(E("b", "a")) - 1, 7))
def test_entry_is_readable_behind_any_torn_part_of_another(tmp_path: Path, cut: int):
    """case 1"""
    view = opened(tmp_path, H + E("a") + E("b", "a", 'with "}{" in it')[:cut] + E("c", "a"))
    assert ids(view) == ["a", "c"]


def test_two_and_three_records_on_one_line_are_all_taken(tmp_path: Path):
    """case 2"""
    a, b, c = E("a")[:-1], E("b", "a", "}{")[:-1], E("c", "b", '"}{"')[:-1]
    for records, names in (((a, b), ["a", "b"]), ((a, b, c), ["a", "b", "c"])):
        view = opened(tmp_path, H + b"".join(records) + b"\n")
        assert ids(view) == names
        assert len(view.tips()) == 1
        assert found(view) == [("glued-line", 2)]


def test_braces_inside_a_string_do_not_part_a_record(tmp_path: Path):
    """case 2"""
    view = opened(tmp_path, H + E("a", text='}{"type":"message","id":"x","parentId":null}{'))
    assert ids(view) == ["a"]
    assert found(view) == []


def test_torn_code_point_is_pending_and_a_good_line_behind_it_is_read(tmp_path: Path):
    """case 3"""
    torn = E("b", "a", "€")[: E("b", "a", "€").index(b"\xe2") + 2]
    assert torn.endswith(b"\xe2\x82")
    view = opened(tmp_path, H + E("a") + torn)
    assert found(view) == [("pending-line", 3)]
    assert view.table.pending == len(torn)
    view = opened(tmp_path, H + E("a") + torn + E("c", "a") + E("d", "c"))
    assert ids(view) == ["a", "c", "d"]


def test_one_damaged_file_does_not_hide_the_others(tmp_path: Path, pivcs: Program):
    """case 4"""
    for number in range(100):
        data = build_session("a-b") if number != 50 else H + b"{torn" * 9
        (tmp_path / f"{number:03}.jsonl").write_bytes(data)
    listed = pivcs("ls", tmp_path)
    assert (listed.code, len(listed.lines), listed.err) == (0, 100, b"")
    assert sum("[" in each for each in listed.lines) == 1
    assert pivcs("log", tmp_path / "050.jsonl").code == 0
    assert pivcs("log", tmp_path / "051.jsonl").out


def test_torn_last_record_leaves_the_session_usable(tmp_path: Path):
    """case 6"""
    whole = H + E("a") + E("b", "a")
    view = opened(tmp_path, whole[:-10])
    assert ids(view) == ["a"]
    assert view.table.name(resolve(view, "HEAD")) == "aaaaaaaa"
    assert found(view) == [("pending-line", 3)]


def test_whole_last_line_without_its_end_is_pending_and_then_taken_unchanged(tmp_path: Path):
    """case 6"""
    whole = H + E("a") + E("b", "a")
    before = opened(tmp_path, whole[:-1])
    assert ids(before) == ["a"]
    assert before.table.pending == len(E("b", "a")) - 1
    after = opened(tmp_path, whole)
    assert ids(after) == ["a", "b"]
    assert after.table.digest(1) == before.table.digest(1)
    assert after.record(2) == E("b", "a")[:-1]


@pytest.mark.parametrize(
    ("data", "names", "kinds"),
    [
        (H + E("a") + b"\0" * 4096, ["a"], [("pending-line", 3)]),
        (H + E("a") + b"\0" * 4096 + b"\n" + E("b", "a"), ["a", "b"], [("damaged-line", 3)]),
        (H + E("a") + b"\0" * 4096 + E("b", "a"), ["a", "b"], [("glued-line", 3)]),
        (
            H + E("a")[:70] + b"\0" * 50 + E("a")[120:] + E("b", "a"),
            ["b"],
            [("damaged-line", 2), ("missing-parent", 3)],
        ),
    ],
    ids=["tail", "line", "before a record", "inside a record"],
)
def test_nul_bytes_are_kept_and_named(tmp_path: Path, data: bytes, names: list[str], kinds: list[tuple[str, int]]):
    """case 7"""
    view = opened(tmp_path, data)
    assert ids(view) == names
    assert found(view) == kinds


def test_lines_end_at_lf_alone(tmp_path: Path):
    """case 10"""
    text = "a\u0085b\u2028c\u2029d\x7fe"
    data = H + E("a", text=text) + E("b", "a")
    # Control characters below U+0020 are escaped by pi; raw ones are no JSON, but no line end either.
    raw = E("c", "a").replace(b"text", b"te\x0b\x0c\x1c\x1d\x1ext")
    view = opened(tmp_path, data + raw)
    assert view.table.line_count() == 4
    assert ids(view) == ["a", "b"]
    assert view.table.counts()[LineKind.DAMAGED] == 1
    content = view.entry(1).message
    assert content is not None
    assert content.text_blocks() == (text,)


def test_lone_surrogates_can_be_shown_everywhere(tmp_path: Path, pivcs: Program):
    """case 11"""
    path = tmp_path / "s.jsonl"
    entry = E("a", text="half X end").replace(b"X", b"\\ud83d")
    path.write_bytes(
        H
        + entry
        + line({"type": "label", "id": "b" * 8, "parentId": "a" * 8, "targetId": "a" * 8, "label": "X"}).replace(
            b'"X"', b'"\\udc00"'
        )
    )
    for arguments in (
        ["log"],
        ["log", "--graph"],
        ["log", "--json"],
        ["show", "aaaaaaaa"],
        ["show", "--json"],
        ["status"],
        ["ls"],
    ):
        shown = pivcs(*arguments, path) if arguments[0] != "show" else pivcs(*arguments[:1], path, *arguments[1:])
        assert shown.code == 0
        shown.out.decode("utf-8")
    assert pivcs("show", "--raw", path, "aaaaaaaa").out == entry
    assert "half " in pivcs("log", path, "aaaaaaaa").text


def test_text_beyond_the_locale_does_not_stop_a_command(tmp_path: Path):
    """case 12"""
    path = tmp_path / "😀.jsonl"
    path.write_bytes(build_session("a-b", texts={"a": "😀"}, labels={"a": "🎉"}))
    for arguments in (["log", "--graph"], ["status"], ["ls"], ["show"]):
        given = process(*arguments, path, environ={"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"})
        assert (given.returncode, given.stderr) == (0, b"")


def test_damaged_middle_line_shows_as_a_gap_not_as_a_second_root(tmp_path: Path, pivcs: Program):
    """case 15"""
    lines = [H, E("a"), E("b", "a"), E("c", "b")[:-20] + b"\n", E("d", "c"), E("e", "d")]
    view = opened(tmp_path, b"".join(lines))
    assert ids(view) == ["a", "b", "d", "e"]
    assert found(view) == [("damaged-line", 4), ("missing-parent", 5)]
    drawn = pivcs("log", "--graph", tmp_path / "session.jsonl").text
    assert "dddddddd user: text [parent cccccccc is missing]" in drawn
    assert "cccccccc is missing, perhaps damaged line 4" in pivcs("log", tmp_path / "session.jsonl").text


def test_json_that_other_writers_would_change_is_kept_and_read_as_pi_reads_it(tmp_path: Path, pivcs: Program):
    """case 16"""
    deep = b"[" * 10_000 + b"]" * 10_000
    lines = [
        b'\xef\xbb\xbf{"type":"session","version":3,"id":"bom"}\n',
        b'{"type":"x","id":"aaaaaaaa","id":"bbbbbbbb","parentId":null}\n',
        b'{"type":"x","id":"cccccccc","parentId":"bbbbbbbb","n":1e400}\n',
        b'{"type":"x","id":"dddddddd","parentId":"cccccccc","n":12345678901234567890}\n',
        b'{"type":"x","id":"eeeeeeee","parentId":"dddddddd","n":' + deep + b"}\n",
        b'{"type":"x","id":"ffffffff","parentId":"eeeeeeee","n":NaN}\n',
    ]
    view = opened(tmp_path, b"".join(lines))
    assert ids(view) == ["b", "c", "d", "e"]
    # To pi a line with a byte order mark is no JSON, so the header behind it is none.
    assert found(view) == [("glued-line", 1), ("damaged-line", 6), ("no-header", 1)]
    path = tmp_path / "session.jsonl"
    for name in ("bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"):
        assert pivcs("show", path, name).code == 0
        assert json.loads(pivcs("log", "--json", path, name).out)["entries"][0]["entry"] == name
        assert pivcs("cat-file", path, name).out + b"\n" in lines
