"""What becomes of one file that is synced again and again; of several files and places, see `test_sources`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.ops.sync import Failed, Synced, note_absent, sync_file, sync_files
from pivcs.session.source import SourceNotReadable
from pivcs.store.errors import StoreReadOnly
from pivcs.store.records import Event
from pivcs.store.store import Store
from tests.builders import build_session, header_line, message_line
from tests.ops.syncing import Box, facts, many_lines, session, touch
from tests.store.filling import bytes_of
from tests.store.limits import small_limits
from tests.store.other_user import as_other_user, hand_over

DATA = build_session("a-b-c, b-d")
MORE = message_line("eeeeeeee", "dddddddd")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_file_is_new_then_unchanged_then_appended(box: Box) -> None:
    box.write(DATA)
    first = box.sync()
    assert (first.outcome, first.rows, first.bytes) == ("new", 5, len(DATA))
    assert box.sync() == Synced(str(box.path), "unchanged", first.stream)
    box.append(MORE)
    grown = box.sync()
    assert (grown.outcome, grown.rows, grown.bytes) == ("appended", 1, len(MORE))
    assert grown.stream is not None
    assert first.stream is not None
    assert (grown.stream.id, grown.stream.session) == (first.stream.id, first.stream.session)
    assert box.cat(box.path) == DATA + MORE
    assert box.events() == []


def test_source_is_never_changed(box: Box) -> None:
    box.write(DATA)
    box.path.chmod(0o440)
    before = box.path.stat()
    box.sync()
    touch(box.path, 3)
    box.sync(full=True)
    after = box.path.stat()
    assert box.path.read_bytes() == DATA
    assert (before.st_ino, before.st_size, before.st_mode) == (after.st_ino, after.st_size, after.st_mode)
    assert after.st_mtime_ns - before.st_mtime_ns == 3_000_000_000


def test_file_that_was_only_touched_is_compared_once(box: Box) -> None:
    stream = box.put(DATA)
    touch(box.path, 5)
    synced = box.sync()
    assert (synced.outcome, synced.rows, synced.bytes) == ("unchanged", 0, 0)
    assert synced.stream is not None
    assert facts(box.store, synced.stream) == facts(box.store, stream)
    before = box.changes()
    assert box.sync().outcome == "unchanged"
    assert box.changes() == before
    assert box.events() == []


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (lambda data: data.replace(b'"a"', b'"A"'), "rewritten"),  # an edit of equal length
        (lambda data: b"\n" + data, "rewritten"),  # a line in front
        (lambda data: data[:300] + data[310:], "rewritten"),
        (lambda data: data[:300] + b"\n" + data[300:] + MORE, "rewritten"),
        (lambda data: data[:-1] + b"x", "rewritten"),
        (lambda data: data[:-1], "truncated"),
        (lambda data: data[:1], "truncated"),
        (lambda _: b"", "truncated"),
        (lambda _: b"{}\n", "rewritten"),
        (lambda data: data[:400] + b"}\n", "rewritten"),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("small", [False, True])
def test_file_that_was_changed_starts_the_next_generation(box: Box, change, outcome: str, small: bool) -> None:  # type: ignore[no-untyped-def]
    with small_limits(in_memory=300 if small else 1 << 20):
        first = box.put(DATA)
        data = change(DATA)
        box.write(data)
        synced = box.sync()
        assert synced.stream is not None
        assert (synced.outcome, synced.stream.generation, synced.bytes) == (outcome, 2, len(data))
        assert box.cat(box.path) == box.cat(box.path, generation=2) == data
        assert box.cat(box.path, generation=1) == DATA
        assert box.store.events_of([first.source]) == [
            Event(box.now, first.source, 2, outcome, f"{len(DATA)} -> {len(data)} bytes")
        ]
        assert box.sync().outcome == "unchanged"


def test_file_that_was_cut_and_grew_again_is_in_its_second_generation(box: Box) -> None:
    box.put(DATA)
    cut = DATA[: DATA.rindex(b"\n", 0, -1) + 1]
    box.put(cut)
    box.append(MORE)
    synced = box.sync()
    assert synced.outcome == "appended"
    assert synced.stream is not None
    assert synced.stream.generation == 2
    assert box.cat(box.path, generation=1) == DATA
    assert box.cat(box.path, generation=2) == cut + MORE
    box.put(b"")
    stream = box.put(DATA)
    assert stream.generation == 3  # it grew from nothing
    assert [box.cat(box.path, generation=number) for number in (1, 2, 3)] == [DATA, cut + MORE, DATA]
    assert box.events() == ["truncated", "truncated"]


def test_file_that_was_cut_and_grew_between_two_syncs_is_rewritten(box: Box) -> None:
    box.put(DATA)
    changed = DATA[:-100] + MORE * 3
    assert box.put(changed).generation == 2
    assert box.events() == ["rewritten"]


def test_migrated_file_keeps_what_it_was(box: Box) -> None:
    """pi writes a version 1 file anew when it opens it, with random ids."""
    old = header_line(version=1) + b"".join(
        b'{"type":"message","timestamp":"2026-01-01T00:00:0%d.000Z","message":{"role":"user","content":"%d"}}\n'
        % (n, n)
        for n in range(5)
    )
    first = box.put(old)
    new = header_line() + b"".join(message_line(f"{n * 77:08x}", f"{n * 77 - 77:08x}" if n else None) for n in range(5))
    second = box.put(new)
    assert first.session == second.session
    assert (first.version1, second.version1) == (True, False)
    assert box.cat(box.path, generation=1) == old
    assert box.cat(box.path, generation=2) == new
    assert first.session is not None
    assert box.cat(first.session.hex()) == new


def test_empty_file_is_kept_and_grows(box: Box) -> None:
    stream = box.put(b"")
    assert (stream.session, stream.size, stream.row_count, stream.generation) == (None, 0, 0, 1)
    assert box.sync().outcome == "unchanged"
    box.append(DATA)
    grown = box.sync()
    assert grown.stream is not None
    assert (grown.outcome, grown.stream.generation) == ("appended", 1)
    assert grown.stream.session is not None


def test_file_that_is_gone_is_kept_and_may_return(box: Box) -> None:
    stream = box.put(DATA)
    box.path.unlink()
    gone = box.sync()
    assert (gone.outcome, gone.stream) == ("gone", stream)
    before = box.changes()
    assert box.sync().outcome == "gone"
    assert box.changes() == before
    assert box.store.sources()[0].gone
    assert box.cat(box.path) == DATA
    box.write(DATA + MORE)
    back = box.sync()
    assert (back.outcome, back.bytes) == ("appended", len(MORE))
    assert not box.store.sources()[0].gone
    assert box.events() == ["gone", "returned"]


@pytest.mark.parametrize(("data", "outcome", "events"), [
    (DATA, "unchanged", ["gone", "returned"]),
    (DATA[:-9], "truncated", ["gone", "returned", "truncated"]),
    (MORE, "rewritten", ["gone", "returned", "rewritten"]),
])  # fmt: skip
def test_file_that_returns_is_compared_with_what_it_was(box: Box, data: bytes, outcome: str, events: list[str]) -> None:
    box.put(DATA)
    box.path.unlink()
    box.sync()
    box.write(data)
    assert box.sync().outcome == outcome
    assert box.events() == events
    assert box.cat(box.path) == data
    before = box.changes()
    assert box.sync().outcome == "unchanged"
    assert box.changes() == before


def test_file_replaced_by_another_with_the_same_bytes_is_the_same(box: Box) -> None:
    stream = box.put(DATA)
    box.write(DATA, "other").replace(box.path)
    synced = box.sync()
    assert synced.outcome == "unchanged"
    assert synced.stream is not None
    assert facts(box.store, synced.stream) == facts(box.store, stream)
    assert box.events() == []


def test_unknown_file_that_is_not_there_is_an_error(box: Box) -> None:
    with pytest.raises(SourceNotReadable, match="no such file"):
        box.sync()
    assert box.store.sources() == []


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("what", ["directory", "pipe"])
def test_what_is_no_file_is_an_error(box: Box, what: str, known: bool) -> None:
    if known:
        box.put(DATA)
        box.path.unlink()
    if what == "directory":
        box.path.mkdir()
    else:
        os.mkfifo(box.path)
    with pytest.raises(SourceNotReadable):
        box.sync()
    if known:
        assert box.events() == []
        box.path.rmdir() if what == "directory" else box.path.unlink()
        assert box.sync().outcome == "gone"


@pytest.mark.parametrize("shut", ["session.jsonl", "."])
def test_file_without_permission_is_an_error_and_not_gone(open_place: Path, shut: str) -> None:
    box = Box(open_place)
    stream = box.put(DATA, "in/session.jsonl")
    path = open_place / "in" / "session.jsonl"
    hand_over(path, path.parent)

    def sync() -> None:
        with pytest.raises(SourceNotReadable, match="permission denied"):
            box.sync(path, full=True)
        assert [type(each) for each in sync_files(box.store, [path], 1, full=True)] == [Failed]
        assert note_absent(box.store, 1) == []
        assert box.events() == []
        assert box.store.current_stream(stream.source) == stream
        assert box.cat(stream.session.hex()) == DATA if stream.session else False

    (open_place / "in" / shut).chmod(0o000)
    as_other_user(sync)
    (open_place / "in" / shut).chmod(0o755)


def test_failing_file_does_not_keep_the_others(box: Box) -> None:
    first, third = box.write(DATA, "a.jsonl"), box.write(DATA, "c.jsonl")
    results = list(sync_files(box.store, [first, box.directory / "b.jsonl", box.directory, third, first], 1))
    outcomes = [each.outcome if isinstance(each, Synced) else None for each in results]
    assert outcomes == ["new", None, None, "new", "unchanged"]
    assert isinstance(results[1], Failed)
    assert "no such file" in results[1].error.message


def test_files_that_are_gone_are_noted(box: Box) -> None:
    paths = [box.write(session(2, number), f"{number}.jsonl") for number in range(4)]
    assert all(isinstance(each, Synced) for each in sync_files(box.store, paths, 1))
    assert note_absent(box.store, 5) == []
    paths[1].unlink()
    paths[3].unlink()
    assert [os.fsdecode(each.path) for each in note_absent(box.store, 5)] == [str(paths[1]), str(paths[3])]
    assert note_absent(box.store, 6) == []
    assert [(event.time, event.kind) for event in box.store.events_of([2, 4])] == [(5, "gone"), (5, "gone")]


def test_read_only_store_refuses_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "store" / "store.db"
    with Store.open(path, create=True) as store:
        Box(tmp_path, store).put(DATA)
    with Store.open(path, read_only=True) as store:
        box = Box(tmp_path, store)
        assert box.sync().outcome == "unchanged"
        box.append(MORE)
        with pytest.raises(StoreReadOnly):
            box.sync()
        assert box.cat(box.path) == DATA
        assert len(box.warnings) == 1
        assert "showing what is known" in box.warnings[0]


def test_progress_tells_how_far_a_sync_is(box: Box) -> None:
    data = session(40)
    with small_limits(in_memory=1000):
        box.write(data)
        told: list[int] = []
        box.sync(progress=told.append)
        box.append(MORE)
        box.sync(progress=told.append)
        box.append(many_lines(30, seed=3))
        box.sync(progress=told.append)
    assert told == sorted(told)
    assert len(data) in told
    assert len(data + MORE) in told
    assert told[-1] == box.path.stat().st_size


def test_names_of_files_may_be_any_bytes(box: Box) -> None:
    path = Path(os.fsdecode(os.fsencode(box.directory) + b"/\xff\xfe\n'; DROP TABLE.jsonl"))
    path.write_bytes(DATA)
    assert sync_file(box.store, path, 1).outcome == "new"
    assert sync_file(box.store, path, 1).outcome == "unchanged"
    path.unlink()
    assert sync_file(box.store, path, 1).outcome == "gone"
    assert [bytes_of(box.store, stream) for stream in box.store.streams()] == [DATA]


def test_branch_is_named_after_its_line_in_the_whole_file(box: Box) -> None:
    """Version 1 has no ids; what was salvaged from a line above is no line of its own."""
    first, second = message_line("aaaaaaaa"), message_line("bbbbbbbb", "aaaaaaaa")
    box.put(first[:-1] + second + first + header_line(version=1))
    box.append(b'{"type":"message","message":{"role":"user","content":"fourth line"}}\n')
    stream = box.sync().stream
    assert stream is not None
    assert [branch.name for branch in box.store.refs.branches(stream)] == ["b-L4", "main"]


class TestLargeFiles:
    """Above two megabytes a few pieces tell whether the file is still what it was (small limits stand for that)."""

    @pytest.fixture(autouse=True)
    def _limits(self):  # type: ignore[no-untyped-def]
        with small_limits(whole=256):
            yield

    def test_edit_of_equal_length_is_seen_at_once(self, box: Box) -> None:
        """The size is the same but the time is not."""
        data = session(60)
        box.put(data)
        at = len(data) // 2 + 100
        box.write(data[:at] + b"X" + data[at + 1 :])
        assert box.sync().outcome == "rewritten"
        assert box.cat(box.path, generation=1) == data

    def test_edit_with_growth_is_seen_late_or_when_asked(self, box: Box) -> None:
        data = session(60)
        box.put(data)
        at = len(data) * 5 // 16  # between two pieces
        edited = data[:at] + b"X" + data[at + 1 :] + MORE
        with box.path.open("r+b") as file:  # the same file, changed in place
            file.write(edited)
        assert box.sync().outcome == "appended"
        assert box.cat(box.path) == data + MORE
        assert box.sync().outcome == "unchanged"
        assert box.sync(full=True).outcome == "rewritten"
        assert box.cat(box.path) == edited
        assert box.cat(box.path, generation=1) == data + MORE
        assert box.sync(full=True).outcome == "unchanged"

    @pytest.mark.parametrize("place", [0, 63, 0.25, 0.5, 0.75, -64, -1])
    def test_edit_in_one_of_the_pieces_is_seen(self, box: Box, place: float) -> None:
        data = session(60)
        box.put(data)
        at = int(place * len(data)) if 0 < place < 1 else int(place) % len(data)
        with box.path.open("r+b") as file:
            file.write(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :] + MORE)
        assert box.sync().outcome == "rewritten"

    def test_all_is_compared_when_the_file_has_doubled(self, box: Box) -> None:
        data = session(60)
        box.put(data)
        at = len(data) * 5 // 16
        with box.path.open("r+b") as file:
            file.write(data[:at] + b"X" + data[at + 1 :] + many_lines(70, seed=2))
        assert box.sync().outcome == "rewritten"

    def test_all_is_compared_when_the_file_is_another(self, box: Box) -> None:
        data = session(60)
        box.put(data)
        at = len(data) * 5 // 16
        box.write(data[:at] + b"X" + data[at + 1 :] + MORE, "other").replace(box.path)
        assert box.sync().outcome == "rewritten"

    def test_reading_for_one_more_line_does_not_grow_with_the_file(
        self, box: Box, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        costs = []
        for count in (200, 800):
            name = f"{count}.jsonl"
            path = box.write(session(count), name)
            box.sync(path)
            read: list[int] = []
            pread = os.pread
            with monkeypatch.context() as patch:
                patch.setattr(os, "pread", lambda fd, n, at, pread=pread, read=read: read.append(n) or pread(fd, n, at))
                box.append(MORE, name)
                assert box.sync(path).outcome == "appended"
            costs.append(sum(read))
        assert costs[0] == costs[1] < 1000


def test_source_that_moves_away_from_a_path_that_is_no_text_is_followed(tmp_path):
    old, new = Path(os.fsdecode(bytes(tmp_path) + b"/s\xe9.jsonl")), tmp_path / "new.jsonl"
    old.write_bytes(build_session("a-b"))
    with Store.in_memory() as store:
        sync_file(store, old, 0)
        old.rename(new)
        result = sync_file(store, new, 1)
        assert result.moved_from == str(old)
        assert [event.kind for event in store.events_of([1])] == ["moved"]
