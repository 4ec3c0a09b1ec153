"""A forgotten entry is gone from the store for good, and nothing else has changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pivcs.objects.index import index_source
from pivcs.ops.access import view_of
from pivcs.ops.covering import CannotForget
from pivcs.ops.forget import NothingForgotten, finish, forget, plan_forget, remember
from pivcs.ops.fsck import fsck
from pivcs.ops.kept_streams import kept_views
from pivcs.ops.naming import proposed_names
from pivcs.ops.operations import NotUndone, create_branch, rename_branches, undo
from pivcs.ops.sync import FileSync
from pivcs.ops.view import SessionView
from pivcs.session.source import BytesSource
from pivcs.store.content import layout_of
from pivcs.store.pieces import unpack
from pivcs.store.records import Stream
from pivcs.store.store import Store
from tests.builders import CLOCK, entry_line, header_line, iso, label_line, message_line
from tests.ops.syncing import NOW, Box, facts, many_lines, session_bytes, share
from tests.store.filling import bytes_of

SECRET = "hunter2-is-the-password"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    with Store.open(tmp_path / "store.db", create=True) as store:
        (tmp_path / "sessions").mkdir()
        yield Box(tmp_path / "sessions", store)


def forget_named(box: Box, name: str, stream: Stream | None = None) -> SessionView:
    """Forget an entry of the latest generation of the session file; returns what there is then."""
    current = stream or box.sync().stream
    assert current is not None
    view = view_of(box.store, current)
    row = view.table.row_named(name)
    assert row is not None
    forget(view, plan_forget(view, row), row, NOW)
    finish(box.store)
    changed = box.store.stream(current.id)
    assert changed is not None
    return view_of(box.store, changed)


def secret_places(directory: Path, secret: bytes = SECRET.encode()) -> list[str]:
    """Return where a secret stands in the files of a store: in them as they are, and in what is compressed."""
    found = [path.name for path in directory.iterdir() if path.is_file() and secret in path.read_bytes()]
    connection = sqlite3.connect(directory / "store.db")
    try:
        for table in ("chunk", "tail"):
            for ident, size, codec, data in connection.execute(f"SELECT id, size, codec, data FROM {table}"):
                if secret in unpack(codec, data, size):
                    found.append(f"{table} {ident}")
    finally:
        connection.close()
    return found


def errors(store: Store) -> list[str]:
    return [each.id for each in fsck(store, sources=True) if each.severity == "error"]


def with_secret() -> bytes:
    return (
        header_line()
        + message_line("aaaaaaaa", None, "user", "Begin.", ms=CLOCK + 1)
        + message_line("bbbbbbbb", "aaaaaaaa", "user", f"It is {SECRET}. " * 400, ms=CLOCK + 2)
        + message_line("cccccccc", "bbbbbbbb", "assistant", "Thanks.", ms=CLOCK + 3)
    )


def test_bytes_are_nowhere_in_the_files_of_the_store(box: Box, tmp_path: Path) -> None:
    data = with_secret() + many_lines(300)
    box.put(data[: len(data) // 2])
    box.put(data)
    assert secret_places(tmp_path)
    view = forget_named(box, "bbbbbbbb")
    assert secret_places(tmp_path) == []
    assert (tmp_path / "store.db-wal").stat().st_size == 0
    assert SECRET.encode() not in bytes_of(box.store, view.stream or box.sync().stream)  # type: ignore[arg-type]
    assert SECRET.encode() in box.path.read_bytes()
    assert errors(box.store) == []


def test_other_entries_and_all_ids_stay(box: Box) -> None:
    data = with_secret()
    before = view_of(box.store, box.put(data))
    after = forget_named(box, "bbbbbbbb")
    assert after.table.oid == before.table.oid
    stored = bytes_of(box.store, after.stream)  # type: ignore[arg-type]
    assert len(stored) == len(data)
    lines = list(zip(data.splitlines(), stored.splitlines(), strict=True))
    assert [old == new for old, new in lines] == [True, True, False, True]
    assert lines[2][1].startswith(b'{"type":"pivcs.forgotten","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-')


def test_unchanged_file_writes_nothing_and_a_grown_one_is_taken_in(box: Box, tmp_path: Path) -> None:
    box.put(with_secret())
    forget_named(box, "bbbbbbbb")
    changes = box.changes()
    assert box.sync().outcome == "unchanged"
    assert box.changes() == changes
    assert box.sync(full=True).outcome == "unchanged"
    box.append(message_line("dddddddd", "cccccccc", "user", "More.", ms=CLOCK + 4))
    assert box.sync().outcome == "appended"
    stream = box.sync().stream
    assert stream is not None
    assert view_of(box.store, stream).table.forgotten_rows() == [2]
    assert secret_places(tmp_path) == []
    assert errors(box.store) == []


def test_copies_in_forks_and_old_generations_go_too(box: Box, tmp_path: Path) -> None:
    old = box.put(with_secret())
    box.put(with_secret().replace(b"Begin.", b"Start."))  # another object id for all that follows
    other = with_secret().replace(header_line(), header_line("019b7715-9000-7000-8000-0000000000ff"))
    fork = box.put(other, "fork.jsonl")
    forget_named(box, "bbbbbbbb")
    for stream in (old, fork):
        assert SECRET.encode() not in bytes_of(box.store, box.store.stream(stream.id))  # type: ignore[arg-type]
    assert secret_places(tmp_path) == []
    assert errors(box.store) == []


def test_new_copy_of_the_file_is_taken_in_without_it(box: Box, tmp_path: Path) -> None:
    box.put(with_secret())
    forget_named(box, "bbbbbbbb")
    copy = box.put(with_secret() + message_line("dddddddd", "cccccccc", "user", "Here.", ms=CLOCK + 4), "copy.jsonl")
    assert view_of(box.store, copy).table.forgotten_rows() == [2]
    assert secret_places(tmp_path) == []


@pytest.mark.parametrize("name", ["aaaaaaaa", "bbbbbbbb", "cccccccc"])
def test_copies_of_a_file_stay_copies(box: Box, name: str) -> None:
    def kept() -> int:
        return len(list(kept_views(view_of(box.store, box.store.streams()[0]))))

    box.put(with_secret())
    box.put(with_secret(), "copy.jsonl")
    assert kept() == 1
    forget_named(box, name)
    assert kept() == 1
    for data in (with_secret(), with_secret() + message_line("dddddddd", "cccccccc", "user", "And more.")):
        for path in ("copy.jsonl", "later.jsonl", "session.jsonl"):
            box.put(data, path)
        assert kept() == 1
        assert len({bytes_of(box.store, stream) for stream in box.store.streams()}) == 1
    assert len(box.store.streams()) == 3


def test_large_copy_is_taken_in_without_it(box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pivcs.ops.sync.IN_MEMORY", 4000)
    monkeypatch.setattr("pivcs.ops.ingest.IN_MEMORY", 4000)
    monkeypatch.setattr("pivcs.store.content.COMMIT_EVERY", 1000)
    box.put(with_secret() + many_lines(900))
    forget_named(box, "bbbbbbbb")
    box.put(with_secret() + many_lines(1900), "copy.jsonl")
    assert secret_places(tmp_path) == []
    assert errors(box.store) == []


def test_entry_whose_beginning_was_pending_is_left_out(box: Box) -> None:
    box.put(with_secret())
    forget_named(box, "bbbbbbbb")
    cut = with_secret().index(SECRET.encode()) + 400
    box.put(with_secret()[:cut], "copy.jsonl")
    stream = box.put(with_secret(), "copy.jsonl")
    assert view_of(box.store, stream).table.forgotten_rows() == [2]
    assert all(SECRET.encode() not in bytes_of(box.store, each) for each in box.store.streams())
    assert errors(box.store) == []


def test_edited_entry_is_another_one(box: Box) -> None:
    """What was taken out by hand stays out, and the rest of the entry is kept."""
    box.put(with_secret())
    forget_named(box, "bbbbbbbb")
    synced = box.put(with_secret().replace(SECRET.encode(), b"*" * len(SECRET)))
    assert synced.generation == 2
    assert view_of(box.store, synced).table.forgotten_rows() == []


def test_forgotten_entry_says_nothing(box: Box) -> None:
    view = forget_named(box, "bbbbbbbb", box.put(with_secret()))
    assert view.subject(2) == "(forgotten)"
    assert view.first_prompt == "Begin."


def test_labels_and_names_of_the_session_go(box: Box) -> None:
    box.put(
        with_secret()
        + label_line("dddddddd", "cccccccc", "aaaaaaaa", "the label", ms=CLOCK + 4)
        + entry_line("session_info", "eeeeeeee", "dddddddd", ms=CLOCK + 5, name="n")
    )
    view = forget_named(box, "dddddddd")
    assert not list(view.label_settings())
    assert box.store.refs.label_settings(view.stream) == []  # type: ignore[arg-type]
    assert forget_named(box, "eeeeeeee").name is None
    assert errors(box.store) == []


def test_words_in_the_log_of_operations_go(box: Box, tmp_path: Path) -> None:
    view = view_of(box.store, box.put(with_secret()))
    create_branch(view, "keep", 3, force=False, now=NOW, command=f"pivcs branch keep -m 'note {SECRET}'")
    create_branch(view, "other", 3, force=False, now=NOW, command="pivcs branch other")
    forget_named(box, "bbbbbbbb")
    commands = [each.command for each in box.store.refs.operations(kinds=["user"])]
    assert commands[1:] == ["pivcs branch other", "pivcs branch keep -m FORGOTTEN"]
    assert secret_places(tmp_path) == []


def test_branch_that_was_named_after_the_prompt_gets_another_name(box: Box, tmp_path: Path) -> None:
    data = header_line() + message_line("aaaaaaaa", None, "user", SECRET) + message_line("bbbbbbbb", "aaaaaaaa")
    data += message_line("cccccccc", None, "user", SECRET + " again", ms=CLOCK + 9)
    view = view_of(box.store, box.put(data))
    rename_branches(view, proposed_names(view), now=NOW, command="pivcs branch --name-all")
    assert secret_places(tmp_path, b"hunter2-is-the-password-again")
    forget_named(box, "cccccccc")
    assert secret_places(tmp_path, b"hunter2-is-the-password-again") == []
    assert "forgotten" in [branch.name for branch in box.store.refs.branches(view.stream)]  # type: ignore[arg-type]


def test_undo_says_that_it_cannot(box: Box) -> None:
    forget_named(box, "bbbbbbbb", box.put(with_secret()))
    with pytest.raises(NotUndone):
        undo(box.store, now=NOW)


def test_saying_it_again_is_harmless(box: Box) -> None:
    forget_named(box, "bbbbbbbb", box.put(with_secret()))
    before = bytes_of(box.store, box.sync().stream)  # type: ignore[arg-type]
    view = view_of(box.store, box.sync().stream)  # type: ignore[arg-type]
    plan = plan_forget(view, 2)
    assert plan.again
    assert forget(view, plan, 2, NOW).places == ()
    assert bytes_of(box.store, box.sync().stream) == before  # type: ignore[arg-type]


def test_entry_that_is_too_short_is_refused(box: Box) -> None:
    box.put(header_line() + b'{"type":"x","id":"aaaaaaaa"}\n')
    with pytest.raises(CannotForget, match="too short"):
        forget_named(box, "aaaaaaaa")
    assert box.store.forgotten.is_empty()


def test_first_entry_of_a_file_without_header_is_refused(box: Box) -> None:
    """The session would get another key."""
    box.put(message_line("aaaaaaaa") + message_line("bbbbbbbb", "aaaaaaaa"))
    with pytest.raises(CannotForget, match="no header"):
        forget_named(box, "aaaaaaaa")
    assert forget_named(box, "bbbbbbbb").table.forgotten_rows() == [1]


def test_remembered_entry_comes_back_from_its_file(box: Box) -> None:
    view = forget_named(box, "bbbbbbbb", box.put(with_secret()))
    assert remember(box.store, view.table.digest(2).hex()[:12]) == ([], [view.table.digest(2)])
    stream = box.sync().stream
    assert stream is not None
    assert bytes_of(box.store, stream) == with_secret()
    with pytest.raises(NothingForgotten):
        remember(box.store, view.table.digest(2).hex()[:12])


@share(0.3)
@given(session_bytes(), st.data())
def test_any_entry_can_go_and_nothing_else_changes(tmp_path_factory: pytest.TempPathFactory, data: bytes, draw) -> None:  # type: ignore[no-untyped-def]
    directory = tmp_path_factory.mktemp("forget")
    with Store.open(directory / "store.db", create=True) as store:
        box = Box(directory, store)
        stream = box.put(data)
        view = view_of(store, stream)
        nodes = list(view.table.nodes())
        assume(nodes)
        row = draw.draw(st.sampled_from(nodes))
        try:
            plan = plan_forget(view, row)
        except CannotForget:
            return
        old_errors = errors(store)
        forget(view, plan, row, NOW)
        now = store.stream(stream.id)
        assert now is not None
        after = view_of(store, now)
        covered = set(after.table.forgotten_rows())
        stored = bytes_of(store, now)
        assert row in covered
        assert after.table.oid == view.table.oid
        assert len(stored) == len(data)
        hidden = bytearray(data)
        for other in covered:
            start, end = after.table.offset[other], after.table.offset[other] + after.table.length[other]
            hidden[start:end] = stored[start:end]
        assert stored == bytes(hidden)
        assert index_source(BytesSource(stored))[0].oid == view.table.oid
        assert errors(store) == old_errors
        with Store.in_memory() as fresh:
            assert facts(store, now) == facts(fresh, Box(directory, fresh).put(stored, "covered.jsonl"))
        changes = box.changes()
        assert box.sync().outcome == "unchanged"
        assert box.changes() == changes
        box.append(b"\n" + message_line("99999999", None, "user", "at the end", ms=NOW))
        assert box.sync().outcome == "appended"
        assert errors(store) == old_errors


def test_entry_of_version_1_goes_from_the_migrated_file_too(box: Box, tmp_path: Path) -> None:
    """A migration gives entries ids, and changes nothing that they say."""
    said = [json.dumps({"role": "user", "content": text}) for text in ("Begin.", SECRET * 9)]
    stamps = [iso(CLOCK + number) for number in range(2)]
    old = [f'{{"type":"message","timestamp":"{at}","message":{text}}}' for at, text in zip(stamps, said, strict=True)]
    box.put(header_line(version=None) + "\n".join([*old, ""]).encode())
    new = [line.replace("{", f'{{"id":"{number}aaaaaaa","parentId":null,', 1) for number, line in enumerate(old)]
    stream = box.put(header_line() + "\n".join([*new, ""]).encode())
    assert stream.generation == 2
    forget_named(box, "1aaaaaaa")
    assert secret_places(tmp_path) == []
    assert [len(box.store.table_of(each).forgotten_rows()) for each in box.store.streams()] == [1, 1]
    assert errors(box.store) == []


def test_sync_that_began_before_takes_nothing_in_that_was_forgotten_meanwhile(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.put(with_secret())
    real = FileSync._read

    def slow(self: FileSync, *arguments: Any) -> Any:
        read = real(self, *arguments)
        monkeypatch.setattr(FileSync, "_read", real)
        forget_named(box, "bbbbbbbb")
        return read

    monkeypatch.setattr(FileSync, "_read", slow)
    stream = box.put(with_secret(), "copy.jsonl")
    assert view_of(box.store, stream).table.forgotten_rows() == [2]
    assert secret_places(tmp_path) == []


def test_store_is_as_if_it_had_never_seen_the_entry(box: Box) -> None:
    """Also where chunks are cut otherwise, from the entry on or to the end."""
    image = "iVBORw0KGgo" * 12_000
    block = {"type": "image", "data": image, "mimeType": "image/png"}
    data = header_line() + many_lines(3000) + message_line("99999991", None, "user", [block], ms=NOW + 9000)
    data += many_lines(3000, 5)
    before = box.put(data)
    assert before.tail_start > 0
    after = forget_named(box, "99999991")
    assert after.stream is not None
    with Store.in_memory() as other:
        new = Box(box.directory, other).put(bytes_of(box.store, after.stream), "covered.jsonl")
        assert facts(box.store, after.stream) == facts(other, new)
        shown = [layout_of(store.database, each) for store, each in ((box.store, after.stream), (other, new))]
        assert shown[0] == shown[1]
    assert errors(box.store) == []


def test_long_entry_goes(box: Box, tmp_path: Path) -> None:
    """One that is never held whole."""
    data = header_line() + message_line("aaaaaaaa", None, "user", SECRET + "x" * (17 << 20)) + many_lines(3)
    before = view_of(box.store, box.put(data)).table.oid
    after = forget_named(box, "aaaaaaaa")
    assert after.table.oid == before
    assert box.sync(full=True).outcome == "unchanged"
    assert secret_places(tmp_path) == []
    assert errors(box.store) == []


@pytest.mark.parametrize("grows", [True, False])
def test_plan_is_made_again_when_there_is_more_than_there_was(box: Box, tmp_path: Path, grows: bool) -> None:
    view = view_of(box.store, box.put(with_secret()))
    plan = plan_forget(view, 2)
    box.put(with_secret(), "copy.jsonl")
    if grows:
        box.append(message_line("dddddddd", "cccccccc", ms=CLOCK + 4))
        assert box.sync().outcome == "appended"
    done = forget(view, plan, 2, NOW)
    finish(box.store)
    assert len(plan.places) == 1
    assert len(done.places) == 2
    assert secret_places(tmp_path) == []
    assert errors(box.store) == []
