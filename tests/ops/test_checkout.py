"""A checkout keeps the bytes of the lines of a path, and so their object ids; it is written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.objects.table import POSITIONAL
from pivcs.ops.checkout import NotInThisVersion, Written, checkout
from pivcs.ops.path_bytes import path_pieces, ranges_of
from pivcs.ops.view import SessionView, open_file
from pivcs.session.jsontext import parse_json
from pivcs.session.source import FileSource
from pivcs.session.wholefile import SessionFileExists, SessionNotWritable
from tests.builders import CWD, build_session, entry_id, header_line, label_line, line, message_line
from tests.ops.syncing import Box, share
from tests.ops.views import view_of
from tests.session.streams import streams
from tests.session.worlds import make_world

TREE = build_session(
    "a-b-c, b-d-e", extra=[
        label_line("1abe0001", entry_id("e"), entry_id("b"), "here"),
        message_line("f" * 8, "1abe0001", content="after the label"),
    ],
)  # fmt: skip


def row_of(view: SessionView, name: str) -> int:
    row = view.table.row_named(entry_id(name))
    assert row is not None
    return row


def checked_out(view: SessionView, row: int, path: Path, **options: Any) -> Written:
    return checkout(view, row, world=make_world(home=path.parent), output=path, **options)


def test_file_has_the_lines_of_the_path_and_nothing_else(tmp_path: Path) -> None:
    view = view_of(TREE)
    lines = TREE.splitlines(keepends=True)
    checked_out(view, row_of(view, "f"), tmp_path / "new.jsonl")
    written = (tmp_path / "new.jsonl").read_bytes().splitlines(keepends=True)
    assert written[1:] == [lines[1], lines[2], *lines[4:8]]
    assert all(view.table.name(row) != entry_id("c") for row in view.table.path(row_of(view, "f")))


def test_header_is_new_and_names_the_file_that_the_path_comes_from(tmp_path: Path) -> None:
    box = Box(tmp_path)
    path = box.write(TREE)
    with box.reader.open_path(path) as view:
        done = checkout(view, row_of(view, "c"), world=make_world(home=tmp_path / "home"))
    header = parse_json(done.path.read_bytes().splitlines()[0])
    assert isinstance(header, dict)
    assert list(header) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert header["parentSession"] == str(path) == done.parent_session
    assert (header["cwd"], header["version"]) == (CWD, 3)
    assert header["id"] == done.session_id
    assert header["id"][14] == "7"
    directory = tmp_path / "home/.pi/agent/sessions" / "--home-dev-project--"
    stamp = str(header["timestamp"]).replace(":", "-").replace(".", "-")
    assert done.path == directory / f"{stamp}_{header['id']}.jsonl"
    assert path.read_bytes() == TREE


def test_object_ids_are_those_of_the_source_with_labels_on_the_path(tmp_path: Path) -> None:
    view = view_of(TREE)
    row = row_of(view, "f")
    checked_out(view, row, tmp_path / "new.jsonl")
    with open_file(tmp_path / "new.jsonl") as new:
        assert [new.table.digest(each) for each in new.table.nodes()] == [
            view.table.digest(each) for each in view.table.path(row)
        ]
        assert [(new.table.name(each), text) for each, text in new.labels.items()] == [(entry_id("b"), "here")]


@share(0.6)
@given(streams(), st.randoms(use_true_random=False))
def test_object_ids_are_those_of_the_source_in_any_stream(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, random: Any
) -> None:
    view = view_of(data)
    nodes = list(view.table.nodes())
    for row in random.sample(nodes, min(4, len(nodes))):
        path = tmp_path_factory.mktemp("checkout") / "new.jsonl"
        checked_out(view, row, path)
        expected = [view.table.digest(each) for each in view.table.path(row)]
        with open_file(path) as new:
            assert [new.table.digest(each) for each, flags in enumerate(new.table.flags) if flags & 1] == expected
            assert new.table.pending == 0
            if not view.table.flags[row] & POSITIONAL:
                records = {view.record(each) for each in view.table.path(row)}
                assert all(new.record(each) in records for each in range(1, len(new.table)))


def test_record_salvaged_from_a_glued_line_gets_a_line_of_its_own(tmp_path: Path) -> None:
    inner = message_line("bbbbbbbb", "aaaaaaaa", "assistant")
    data = build_session("a") + inner[:40] + inner + message_line("cccccccc", "bbbbbbbb")
    view = view_of(data)
    checked_out(view, row_of(view, "c"), tmp_path / "new.jsonl")
    assert (tmp_path / "new.jsonl").read_bytes().splitlines(keepends=True)[2:] == [
        inner, message_line("cccccccc", "bbbbbbbb")
    ]  # fmt: skip


def test_version_1_stays_version_1_with_every_line_above(tmp_path: Path) -> None:
    entries = [line({"type": "message", "message": {"role": "user", "content": str(each)}}) for each in range(4)]
    data = header_line(version=None, provider="anthropic") + entries[0] + b"torn{\n" + b"".join(entries[1:])
    view = view_of(data)
    done = checked_out(view, view.table.path(len(view.table) - 2)[-1], tmp_path / "new.jsonl")
    header, _, rest = (tmp_path / "new.jsonl").read_bytes().partition(b"\n")
    value = parse_json(header)
    assert isinstance(value, dict)
    assert "version" not in value
    assert value["provider"] == "anthropic"
    assert value["id"] == done.session_id
    assert rest == entries[0] + b"torn{\n" + entries[1] + entries[2]
    with pytest.raises(NotInThisVersion):
        checked_out(view, 1, tmp_path / "more.jsonl", entries=[{"type": "custom"}])
    assert not (tmp_path / "more.jsonl").exists()


@pytest.mark.parametrize("version", [2, "2", 4])
def test_version_of_the_header_stays(tmp_path: Path, version: object) -> None:
    view = view_of(build_session("a-b", header=header_line(version=version)))
    done = checked_out(view, row_of(view, "b"), tmp_path / "new.jsonl")
    header = parse_json(done.path.read_bytes().splitlines()[0])
    assert isinstance(header, dict)
    assert header["version"] == version == done.version


def test_session_without_header_gets_one(tmp_path: Path) -> None:
    view = view_of(build_session("a-b", header=b""))
    done = checkout(view, row_of(view, "b"), world=make_world(home=tmp_path))
    header = parse_json(done.path.read_bytes().splitlines()[0])
    assert isinstance(header, dict)
    assert (header["version"], header["cwd"]) == (3, str(tmp_path))


def test_existing_file_is_never_replaced(tmp_path: Path) -> None:
    view = view_of(TREE)
    (tmp_path / "new.jsonl").write_bytes(b"mine")
    with pytest.raises(SessionFileExists):
        checked_out(view, row_of(view, "b"), tmp_path / "new.jsonl")
    assert (tmp_path / "new.jsonl").read_bytes() == b"mine"
    assert [each.name for each in tmp_path.iterdir()] == ["new.jsonl"]


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_failure_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fails(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    view = view_of(TREE)
    monkeypatch.setattr(os, call, fails)
    with pytest.raises(SessionNotWritable, match="no space left on device"):
        checked_out(view, row_of(view, "b"), tmp_path / "new.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_source_that_fails_while_it_is_read_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(tmp_path)
    path = box.write(TREE)
    with box.reader.open_path(path) as view:

        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(FileSource, "iter_range", interrupted)
        monkeypatch.setattr(FileSource, "read_range", interrupted)
        with pytest.raises(KeyboardInterrupt):
            checked_out(view, row_of(view, "f"), tmp_path / "new.jsonl")
    assert [each.name for each in tmp_path.iterdir()] == ["session.jsonl"]


def test_file_that_changes_while_it_is_read_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(tmp_path)
    path = box.write(TREE)
    with box.reader.open_path(path) as view:
        real = FileSource.read_range
        changes = iter([1])

        def rewritten(source: FileSource, offset: int, length: int) -> bytes:
            for _ in changes:
                path.write_bytes(TREE.replace(b"after the label", b"AFTER THE LABEL"))
            return real(source, offset, length)

        monkeypatch.setattr(FileSource, "read_range", rewritten)
        row = row_of(view, "f")
        checked_out(view, row, tmp_path / "new.jsonl")
        assert next(changes, None) is None
    assert b"after the label" in (tmp_path / "new.jsonl").read_bytes()


def test_checkout_of_a_file_that_is_gone_comes_from_the_store(tmp_path: Path) -> None:
    box = Box(tmp_path)
    stream = box.put(TREE)
    box.path.unlink()
    assert stream.session is not None
    with box.reader.open(stream.session.hex()) as view:
        checked_out(view, row_of(view, "f"), tmp_path / "new.jsonl")
    assert (tmp_path / "new.jsonl").read_bytes().endswith(TREE.splitlines(keepends=True)[-1])


def test_added_entries_follow_on_the_path(tmp_path: Path) -> None:
    view = view_of(TREE)
    done = checked_out(
        view, row_of(view, "b"), tmp_path / "new.jsonl",
        entries=[{"type": "custom", "customType": "one"}, {"type": "label", "targetId": "aaaaaaaa", "label": "x"}],
    )  # fmt: skip
    values: list[Any] = [parse_json(each) for each in done.path.read_bytes().splitlines()[-3:]]
    assert [value["parentId"] for value in values] == ["aaaaaaaa", values[0]["id"], values[1]["id"]]
    assert list(values[1]) == ["type", "customType", "id", "parentId", "timestamp"]
    assert (done.leaf, done.appended) == (values[2]["id"], (values[1]["id"], values[2]["id"]))
    assert done.size == done.path.stat().st_size


def test_lines_that_follow_each_other_are_one_range() -> None:
    names = "-".join(f"{each:x}" for each in range(16))
    view = view_of(build_session(f"{names}, 3-{'-'.join(f'a{each:x}' for each in range(1, 8))}"))
    assert len(ranges_of(view, row_of(view, "f"))) == 1
    assert len(ranges_of(view, row_of(view, "a7"))) == 2
    pieces = b"".join(path_pieces(view, row_of(view, "a7")))
    assert pieces == b"".join(view.record(row) + b"\n" for row in view.table.path(row_of(view, "a7")))


def test_path_among_many_others_is_read_in_large_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    chains = ", ".join(f"{each:x}-b{each:02x}" for each in range(1, 10))
    data = build_session("1-2-3-4-5-6-7-8-9, " + chains)
    rows = data.splitlines(keepends=True)
    mixed = rows[0] + b"".join(rows[1 + at // 2 + (at % 2) * 9] for at in range(18))
    view = view_of(mixed)
    reads = []
    real = type(view.source).read_range
    monkeypatch.setattr(
        type(view.source), "read_range", lambda source, at, size: (reads.append(size), real(source, at, size))[1]
    )
    path = row_of(view, "9")
    pieces = b"".join(path_pieces(view, path))
    assert len(reads) == 1
    assert pieces == b"".join(rows[1:10])
