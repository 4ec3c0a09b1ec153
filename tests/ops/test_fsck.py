"""Every damage of the store and every change of a session file is found, named, and placed; what is good is not."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.access import AmbiguousSession
from pivcs.ops.fsck import choose, fsck
from pivcs.ops.fsck_finding import SEVERITIES, Finding
from pivcs.ops.locate import NoSession
from pivcs.store.pieces import PLAIN, pack
from tests.builders import (
    build_session,
    entry_id,
    header_line,
    line,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.ops.syncing import Box, cuts_of, many_lines, session, session_bytes, share, touch

BIG = session(9000)
"""Several chunks, two full segments, and an open one."""
SMALL = session(8)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Box:
    box = Box(tmp_path_factory.mktemp("stored"))
    box.put(BIG)
    return box


@pytest.fixture
def big(stored: Box) -> Box:
    """A copy of a store with `BIG`. Tests share the session file and write it as they need it."""
    copy = Box(stored.directory)
    stored.store.database.connection.backup(copy.store.database.connection)
    return copy


def found(box: Box, **options: bool) -> list[Finding]:
    return list(fsck(box.store, **options))


def ids(findings: list[Finding]) -> list[str]:
    return [finding.id for finding in findings]


def damage(box: Box, statement: str, *values: object) -> None:
    """Change the store behind its back."""
    connection = box.store.database.connection
    connection.execute("PRAGMA foreign_keys = OFF")
    assert connection.execute(statement, values).rowcount > 0


def line_start(data: bytes, number: int) -> int:
    """Return where a line begins, counted from 1."""
    return len(b"".join(data.splitlines(keepends=True)[: number - 1]))


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]


# The store against itself


@share(0.2)
@given(session_bytes(), st.lists(st.floats(0, 1), max_size=4))
def test_what_sync_wrote_is_good_however_often_it_ran(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, places: list[float]
):
    box = Box(tmp_path_factory.mktemp("box"))
    for cut in cuts_of(data, places):
        box.put(data[:cut])
    assert [finding for finding in found(box) if finding.severity == "error"] == []


def test_large_session_is_good_and_so_are_its_earlier_generations(box: Box):
    box.put(BIG[:700_000])
    box.put(BIG)
    box.put(SMALL)
    box.put(SMALL + many_lines(3, 5), "other.jsonl")
    assert found(box) == []


def chunk_at(box: Box, place: int) -> tuple[int, int, bytes]:
    """Return number, offset and raw bytes of a chunk of the first stream."""
    chunk, offset = box.store.database.connection.execute(
        "SELECT chunk, offset FROM stream_chunk ORDER BY offset LIMIT 1 OFFSET ?", (place,)
    ).fetchone()
    (size,) = box.store.database.connection.execute("SELECT size FROM chunk WHERE id = ?", (chunk,)).fetchone()
    return chunk, offset, BIG[offset : offset + size]


def test_chunk_that_does_not_unpack_is_named_with_its_place(big: Box):
    chunk, offset, _ = chunk_at(big, 1)
    (packed,) = big.store.database.connection.execute("SELECT data FROM chunk WHERE id = ?", (chunk,)).fetchone()
    damage(big, "UPDATE chunk SET data = ? WHERE id = ?", packed[:-20], chunk)
    (finding,) = found(big, sources=False)
    assert (finding.id, finding.source, finding.generation) == ("chunk-unreadable", str(big.path), 1)
    assert (finding.line, finding.offset) == (BIG[:offset].count(b"\n") + 1, offset)


def test_flipped_byte_in_a_chunk_is_found_by_its_hash_and_the_line_is_named(big: Box):
    chunk, offset, raw = chunk_at(big, 1)
    damage(big, "UPDATE chunk SET codec = ?, data = ? WHERE id = ?", PLAIN, flipped(raw, raw.index(b"turn")), chunk)
    findings = found(big, sources=False)
    # The object ids of all lines below it are others as well, which is no news but for the last one.
    assert ids(findings) == ["chunk-changed", "rows-differ", "facts-differ"]
    assert findings[0].offset == offset
    assert findings[1].line == BIG[:offset].count(b"\n") + 1


def test_wrong_hash_of_a_chunk_is_found(big: Box):
    chunk, offset, _ = chunk_at(big, 0)
    damage(big, "UPDATE chunk SET hash = ? WHERE id = ?", bytes(32), chunk)
    findings = found(big, sources=False)
    assert [(finding.id, finding.line, finding.offset) for finding in findings] == [("chunk-changed", 1, offset)]


def test_chunk_that_is_gone_is_named_once(big: Box):
    chunk, offset, _ = chunk_at(big, 1)
    damage(big, "DELETE FROM chunk WHERE id = ?", chunk)
    (finding,) = found(big, sources=False)
    assert (finding.id, finding.offset) == ("chunk-missing", offset)


def test_chunk_that_a_stream_has_lost_leaves_a_gap(big: Box):
    _, offset, _ = chunk_at(big, 1)
    damage(big, "DELETE FROM stream_chunk WHERE offset = ?", offset)
    findings = found(big, sources=False)
    assert ids(findings) == ["bytes-missing", "chunks-unused"]
    assert findings[0].offset == offset


def test_tail_that_was_cut_is_found(big: Box):
    (stream,) = big.store.streams()
    damage(big, "DELETE FROM tail")
    (finding,) = found(big, sources=False)
    assert (finding.id, finding.offset) == ("bytes-missing", stream.tail_start)


def test_tail_that_does_not_unpack_is_found(big: Box):
    (stream,) = big.store.streams()
    damage(big, "UPDATE tail SET data = x'00'")
    (finding,) = found(big, sources=False)
    assert (finding.id, finding.offset) == ("tail-unreadable", stream.tail_start)


def segment(box: Box, first: int) -> bytearray:
    row = box.store.database.connection.execute("SELECT data FROM segment WHERE first_row = ?", (first,)).fetchone()
    return bytearray(row[0])


def test_flipped_byte_in_a_segment_names_line_and_column(big: Box):
    data = segment(big, 4096)
    data[4096 + 10] ^= 64  # the flags of the eleventh row
    damage(big, "UPDATE segment SET data = ? WHERE first_row = 4096", bytes(data))
    (finding,) = found(big, sources=False)
    assert (finding.id, finding.line, finding.detail) == ("rows-differ", 4107, "row 4106: flags")
    assert finding.offset == line_start(BIG, 4107)


def test_swapped_segments_are_found(big: Box):
    first, second = bytes(segment(big, 0)), bytes(segment(big, 4096))
    damage(big, "UPDATE segment SET data = ? WHERE first_row = 0", second)
    damage(big, "UPDATE segment SET data = ? WHERE first_row = 4096", first)
    findings = [finding for finding in found(big, sources=False) if finding.id == "rows-differ"]
    assert len(findings) == 8192
    assert [finding.line for finding in findings[:2]] == [1, 2]


def test_segment_that_cannot_be_read_is_found(big: Box):
    damage(big, "UPDATE segment SET data = x'0102' WHERE first_row = 4096")
    assert [(finding.id, finding.line) for finding in found(big, sources=False)] == [("segment-unreadable", 4097)]


def test_missing_segments_are_found(big: Box):
    damage(big, "DELETE FROM segment WHERE first_row = 4096")
    assert [(finding.id, finding.line) for finding in found(big, sources=False)] == [("rows-missing", 4097)]
    damage(big, "DELETE FROM segment WHERE first_row >= 4096")
    assert [(finding.id, finding.line) for finding in found(big, sources=False)] == [("rows-missing", 4097)]


def test_id_that_would_not_be_recognised_is_found(big: Box):
    bucket, data = big.store.database.connection.execute("SELECT bucket, ids FROM known_id LIMIT 1").fetchone()
    numbers = array("Q")
    numbers.frombytes(data)
    lost = numbers.pop(1)
    damage(big, "UPDATE known_id SET ids = ? WHERE bucket = ?", numbers.tobytes(), bucket)
    (finding,) = found(big, sources=False)
    assert finding.id == "id-unknown"
    assert f"{lost >> 32:08x}" in finding.detail
    backwards = array("Q", sorted([*numbers, lost], reverse=True))
    damage(big, "UPDATE known_id SET ids = ? WHERE bucket = ?", backwards.tobytes(), bucket)
    assert "not in order" in found(big, sources=False)[0].detail
    damage(big, "UPDATE known_id SET ids = x'01' WHERE bucket = ?", bucket)
    assert ids(found(big, sources=False)) == ["id-unknown"]


@pytest.mark.parametrize(
    ("column", "value", "kind", "detail"),
    [
        ("line_end", 5, "facts-differ", "end of lines"),
        ("version1", 1, "facts-differ", "version"),
        ("last_oid", bytes(32), "facts-differ", "last record"),
        ("conversation", 0, "facts-differ", "position"),
        ("session", None, "key-differs", "none is kept"),
        ("summary", b'{"entries": 3}', "summary-differs", "entries"),
        ("probes", bytes(27) + b"\1", "probes-differ", ""),
    ],
)
def test_fact_that_the_bytes_contradict_is_found(box: Box, column: str, value: object, kind: str, detail: str):
    box.put(SMALL)
    damage(box, f"UPDATE stream SET {column} = ?", value)
    (finding,) = [finding for finding in found(box) if finding.id == kind]
    assert detail in finding.detail


def test_labels_and_branches_that_the_lines_contradict_are_found(box: Box):
    box.put(build_session("a-b", labels={"a": "good"}))
    assert found(box) == []
    damage(box, "UPDATE label SET text = x'62'")
    damage(box, "INSERT INTO branch VALUES (1, 'nowhere', 99, 0, 0)")
    damage(box, "INSERT INTO branch VALUES (1, 'label', 3, 0, 0)")
    assert [(finding.id, finding.detail) for finding in found(box)] == [
        ("labels-differ", ""), ("branch-lost", "label"), ("branch-lost", "nowhere"),
    ]  # fmt: skip


def test_reference_that_leads_nowhere_is_found(box: Box):
    box.put(SMALL)
    damage(box, "UPDATE stream SET session = 99")
    assert ids(found(box))[0] == "dangling-reference"


def test_damaged_file_is_a_finding_not_an_error(tmp_path: Path):
    from pivcs.store.store import Store

    box = Box(tmp_path, Store.open(tmp_path / "store.db", create=True))
    box.put(BIG)
    box.store.close()
    data = bytearray((tmp_path / "store.db").read_bytes())
    data[8192 * 3 : 8192 * 5] = b"\xa5" * 8192 * 2
    (tmp_path / "store.db").write_bytes(data)
    with Store.open(tmp_path / "store.db") as store:
        findings = list(fsck(store))
    assert "database-damaged" in ids(findings)


def test_unused_chunk_is_worth_knowing_only(box: Box):
    box.put(SMALL)
    codec, data = pack(b"nobody's")
    damage(box, "INSERT INTO chunk (hash, size, codec, data) VALUES (?, 8, ?, ?)", bytes(32), codec, data)
    (finding,) = found(box)
    assert (finding.id, finding.severity, finding.detail) == ("chunks-unused", "info", "1")


def test_every_generation_is_checked(box: Box):
    box.put(BIG)
    box.put(SMALL)
    chunk, _, _ = chunk_at(box, 0)
    damage(box, "UPDATE chunk SET hash = ? WHERE id = ?", bytes(32), chunk)
    assert [(finding.id, finding.generation) for finding in found(box)] == [("chunk-changed", 1)]


def test_checking_writes_nothing(big: Box):
    before = big.changes()
    big.store.database.connection.execute("PRAGMA query_only = ON")
    found(big, sources=False)
    assert big.changes() == before


def test_progress_reaches_about_what_was_announced(big: Box):
    from pivcs.ops.fsck import amount

    done: list[int] = []
    list(fsck(big.store, progress=done.append))
    assert amount(big.store.streams(), sources=True) == 3 * len(BIG)
    assert 2.9 * len(BIG) <= sum(done) <= 3 * len(BIG)


# Session files against the store

LINES = BIG.splitlines(keepends=True)


def swapped(*places: int) -> bytes:
    one, other = places
    changed = list(LINES)
    changed[one - 1], changed[other - 1] = changed[other - 1], changed[one - 1]
    return b"".join(changed)


def joined(*parts: list[bytes]) -> bytes:
    return b"".join(part for parts_ in parts for part in parts_)


NEW_LINE = message_line("12345678", None, content="not from pi")


@pytest.mark.parametrize("number", [1, 2, 4500, 9000, 9001])
def test_flipped_byte_is_named_with_line_and_offset(big: Box, number: int):
    at = line_start(BIG, number) + 30
    big.write(flipped(BIG, at))
    (finding,) = found(big)
    assert (finding.id, finding.line, finding.offset) == ("source-bytes-changed", number, at)
    assert f"1 of its bytes; the first was {BIG[at]:02x} and is {BIG[at] ^ 1:02x}" in finding.detail


@pytest.mark.parametrize("size", [0, 10, line_start(BIG, 4500), line_start(BIG, 4500) + 7, len(BIG) - 1])
def test_cut_is_named_with_line_and_offset(big: Box, size: int):
    big.write(BIG[:size])
    (finding,) = found(big)
    assert (finding.id, finding.line, finding.offset) == ("source-cut", BIG[:size].count(b"\n") + 1, size)


@pytest.mark.parametrize(("number", "count"), [(1, 1), (2, 1), (4500, 3), (9000, 1), (7000, 200)])
def test_missing_lines_are_named(big: Box, number: int, count: int):
    big.write(joined(LINES[: number - 1], LINES[number - 1 + count :]))
    (finding,) = found(big)
    assert (finding.id, finding.line) == ("source-line-missing", number)
    assert finding.detail.startswith(f"{count} missing")
    start = line_start(BIG, number)
    assert finding.offset is not None
    assert start <= finding.offset < start + len(LINES[number - 1])


@pytest.mark.parametrize(("one", "other"), [(2, 3), (1, 2), (4500, 4501), (4500, 4600), (9000, 9001)])
def test_swapped_lines_are_named(big: Box, one: int, other: int):
    big.write(swapped(one, other))
    (finding,) = found(big)
    assert (finding.id, finding.line) == ("source-lines-swapped", one)
    assert finding.detail.startswith(f"with line {other}")


@pytest.mark.parametrize(("number", "count"), [(1, 1), (4500, 1), (4500, 9), (9001, 1)])
def test_inserted_lines_are_named(big: Box, number: int, count: int):
    big.write(joined(LINES[: number - 1], [NEW_LINE] * count, LINES[number - 1 :]))
    (finding,) = found(big)
    assert (finding.id, finding.line) == ("source-line-inserted", number)
    assert finding.detail.startswith(f"{count} inserted")


def test_line_of_another_length_is_named(big: Box):
    big.write(joined(LINES[:99], [NEW_LINE], LINES[100:]))
    (finding,) = found(big)
    assert (finding.id, finding.line) == ("source-line-changed", 100)


def test_pending_bytes_are_compared_as_well(box: Box):
    data = SMALL + b'{"type":"mess'
    box.put(data)
    box.write(flipped(data, len(data) - 1))
    finding = found(box)[-1]
    assert (finding.id, finding.line, finding.offset) == ("source-bytes-changed", 10, len(data) - 1)


def test_change_that_left_size_and_times_alone_is_said_to_be_one(box: Box):
    import os

    box.put(SMALL)
    status = box.path.stat()
    with box.path.open("r+b") as file:
        file.seek(400)
        file.write(b"\0")
    os.utime(box.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    damage(box, "UPDATE stream SET file_ctime = ?", box.path.stat().st_ctime_ns)
    (finding,) = found(box)
    assert finding.detail.endswith("size and times of the file are as they were")


def test_long_line_is_compared_in_pieces(box: Box):
    data = SMALL + message_line("12345678", None, content="x" * (5 << 20)) + NEW_LINE
    box.put(data)
    at = len(SMALL) + (3 << 20)
    box.write(flipped(data, at))
    (finding,) = [each for each in found(box) if each.id.startswith("source")]
    assert (finding.id, finding.line, finding.offset) == ("source-bytes-changed", 10, at)


def replace_by_link(box: Box) -> None:
    box.path.rename(box.directory / "elsewhere")
    box.path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda box: box.path.unlink(), [("source-gone", "")]),
        (replace_by_link, [("source-gone", "a symbolic link is there")]),
        (lambda box: (box.path.unlink(), box.path.mkdir()), [("source-unreadable", None)]),
        (lambda box: box.append(NEW_LINE), [("source-ahead", str(len(NEW_LINE)))]),
        (lambda box: touch(box.path, 5), [("source-touched", "")]),
        (lambda box: None, []),
    ],
)
def test_state_of_a_file_whose_bytes_are_good(box: Box, change, expected):
    box.put(SMALL)
    change(box)
    findings = found(box)
    assert ids(findings) == [kind for kind, _ in expected]
    assert all(finding.severity != "error" for finding in findings)
    for finding, (_, detail) in zip(findings, expected, strict=True):
        assert detail is None or finding.detail == detail
    assert found(box, sources=False) == []


# What is unusual in session files


def test_lines_that_status_names_are_named(box: Box):
    data = SMALL + b"{torn\n" + line([1]) + header_line("x") + NEW_LINE[:-1] + NEW_LINE + b"pending"
    box.put(data)
    named = [(finding.id, finding.line) for finding in found(box)]
    assert named == [
        ("damaged-line", 10), ("foreign-line", 11), ("second-header", 12), ("glued-line", 13), ("pending-line", 14),
    ]  # fmt: skip


def chain(*lines: bytes) -> bytes:
    return header_line() + b"".join(lines)


U, C, R, X, D = (entry_id(name) for name in ("a", "b", "c", "d", "e"))


@pytest.mark.parametrize("late", ["result", "answer"])
def test_turn_that_another_chain_interrupted_shows_two_writers(box: Box, late: str):
    start = [message_line(U), tool_call_line(C, U, "bash", {"command": "ls"})]
    result = tool_result_line(R, C, "bash", "ok")
    other = message_line(X, U, content="the other program")
    answer = message_line(D, R, "assistant", "Done.")
    box.put(chain(*start, *([other, result, answer] if late == "result" else [result, other, answer])))
    (finding,) = found(box)
    assert (finding.id, finding.line, finding.detail) == ("two-writers", 5 if late == "result" else 6, "1")


def test_going_back_in_the_tree_is_no_second_writer(box: Box):
    box.put(build_session("a-b-c-d, b-e-f, a-g, d-h", kinds={"c": "tool", "d": "result"}))
    assert found(box) == []


def test_book_keeping_between_a_call_and_its_result_is_no_second_writer(box: Box):
    box.put(build_session("a-b-x-c-d", kinds={"b": "tool", "x": "thinking", "c": "result", "d": "assistant"}))
    assert found(box) == []


def test_version_1_entries_below_a_newer_header_are_named_once(box: Box):
    old = line({"type": "message", "timestamp": "x", "message": {"role": "user", "content": "Hi."}})
    box.put(header_line() + old * 5 + line({"note": 1}))
    assert [(finding.id, finding.line, finding.detail) for finding in found(box)] == [
        ("foreign-line", 7, ""), ("entries-without-id", 2, "5"),
    ]  # fmt: skip
    box.put(header_line(version=None) + old * 5, "old.jsonl")
    assert [finding for finding in found(box) if finding.source != str(box.path)] == []


# Which ones


def test_names_choose_sessions_and_files(box: Box):
    box.put(BIG)
    first = box.put(SMALL)
    other = box.put(session(5, session_id="another"), "other.jsonl")
    assert [stream.generation for stream in choose(box.store, [str(box.path)])] == [1, 2]
    assert choose(box.store, ["another"]) == [other]
    assert other.session is not None
    assert choose(box.store, [other.session.hex()[:12], str(box.directory / "other.jsonl")]) == [other]
    damage(box, "UPDATE stream SET version1 = 1 WHERE id = ?", other.id)
    assert ids(list(fsck(box.store, choose(box.store, ["another"])))) == ["facts-differ"]
    assert list(fsck(box.store, [first])) == []


def test_unknown_and_ambiguous_names_are_refused(box: Box):
    box.put(session(2, session_id="abc1"))
    box.put(session(2, session_id="abc2"), "other.jsonl")
    with pytest.raises(AmbiguousSession):
        choose(box.store, ["abc"])
    for name in ("abd", "", str(box.directory / "none.jsonl")):
        with pytest.raises(NoSession):
            choose(box.store, [name])


def test_every_finding_has_a_meaning_and_a_hint():
    from pivcs.render.fsck_text import MEANING
    from pivcs.render.status_text import _MEANING

    assert set(MEANING) == set(SEVERITIES)
    assert set(_MEANING) <= set(SEVERITIES)
    assert set(SEVERITIES.values()) == {"error", "warning", "info"}
