"""Files that move, are copied and linked: when a path goes on with a known source, and when it is another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.ops.access import primary_stream
from pivcs.ops.sync import note_absent
from tests.builders import build_session, header_line, message_line
from tests.ops.syncing import NOW, Box, facts, many_lines, session
from tests.store.filling import bytes_of, digest
from tests.store.limits import small_limits

DATA = build_session("a-b-c, b-d")
MORE = message_line("eeeeeeee", "dddddddd")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


@pytest.mark.parametrize("grown", [b"", MORE, many_lines(30)], ids=["same", "longer", "much longer"])
@pytest.mark.parametrize("noticed", [False, True])
@pytest.mark.parametrize("small", [False, True])
def test_renamed_file_goes_on(box: Box, grown: bytes, noticed: bool, small: bool) -> None:
    with small_limits(in_memory=300 if small else 1 << 20):
        stream = box.put(DATA, "old.jsonl")
        old, new = box.directory / "old.jsonl", box.directory / "new.jsonl"
        old.rename(new)
        box.append(grown, "new.jsonl")
        if noticed:
            box.sync(old)
        synced = box.sync(new)
        assert (synced.outcome, synced.moved_from) == ("appended" if grown else "unchanged", str(old))
        assert synced.stream is not None
        assert (synced.stream.id, synced.stream.generation, synced.stream.source) == (stream.id, 1, stream.source)
        assert box.cat(new) == DATA + grown
        assert [source.path for source in box.store.sources()] == [os.fsencode(new)]
        assert not box.store.sources()[0].gone
        assert box.events() == ["gone", "moved"] if noticed else ["moved"]
        before = box.changes()
        assert box.sync(new).outcome == "unchanged"
        assert box.changes() == before


def test_renamed_file_without_header_goes_on(box: Box) -> None:
    stream = box.put(many_lines(3), "old.jsonl")
    (box.directory / "old.jsonl").rename(box.directory / "new.jsonl")
    synced = box.sync(box.directory / "new.jsonl")
    assert synced.stream is not None
    assert (synced.outcome, synced.stream.id) == ("unchanged", stream.id)
    assert box.events() == ["moved"]


@pytest.mark.parametrize("data", [DATA[:-9], DATA.replace(b'"a"', b'"A"'), DATA[:-1] + b" \n"])
def test_file_at_a_new_path_with_other_bytes_is_another_source(box: Box, data: bytes) -> None:
    first = box.put(DATA, "old.jsonl")
    (box.directory / "old.jsonl").unlink()
    stream = box.put(data, "new.jsonl")
    assert (stream.generation, stream.session) == (1, first.session)
    assert len(box.store.sources()) == 2
    assert box.cat(box.directory / "old.jsonl") == DATA
    assert box.cat(box.directory / "new.jsonl") == data
    assert "moved" not in box.events()


def test_copy_is_another_source_of_the_session(box: Box) -> None:
    first, second = box.put(DATA, "a.jsonl"), box.put(DATA, "sub/b.jsonl")
    assert first.session == second.session
    assert first.source != second.source
    assert facts(box.store, first) == facts(box.store, second)
    assert box.events() == []


def test_hard_links_are_two_sources_that_both_grow(box: Box) -> None:
    box.put(DATA, "a.jsonl")
    a, b = box.directory / "a.jsonl", box.directory / "b.jsonl"
    os.link(a, b)
    assert box.sync(b).outcome == "new"
    box.append(MORE, "a.jsonl")
    assert [box.sync(path).outcome for path in (a, b, a, b)] == ["appended", "appended", "unchanged", "unchanged"]
    assert box.cat(a) == box.cat(b) == DATA + MORE
    a.unlink()
    assert [box.sync(path).outcome for path in (a, b)] == ["gone", "unchanged"]
    assert box.events() == ["gone"]


def test_symbolic_link_is_the_file_that_it_names(box: Box) -> None:
    box.put(DATA, "a.jsonl")
    link = box.directory / "link.jsonl"
    link.symlink_to("a.jsonl")
    assert box.sync(link).outcome == "unchanged"
    assert len(box.store.sources()) == 1
    box.append(MORE, "a.jsonl")
    assert box.sync(link).outcome == "appended"
    assert box.cat(link) == box.cat(box.directory / "a.jsonl") == DATA + MORE


def test_file_that_moved_behind_a_link_goes_on(box: Box) -> None:
    stream = box.put(DATA, "a.jsonl")
    a, b = box.directory / "a.jsonl", box.directory / "b.jsonl"
    a.rename(b)
    a.symlink_to(b)
    synced = box.sync(a)
    assert synced.stream is not None
    assert (synced.outcome, synced.moved_from, synced.stream.id) == ("unchanged", str(a), stream.id)
    assert box.cat(a) == box.cat(b) == DATA
    assert box.events() == ["moved"]
    assert note_absent(box.store, 1) == []


def test_dangling_link_is_a_source_that_is_gone(box: Box) -> None:
    box.put(DATA, "a.jsonl")
    link = box.directory / "link.jsonl"
    link.symlink_to("a.jsonl")
    (box.directory / "a.jsonl").unlink()
    assert box.sync(link).outcome == "gone"
    assert box.cat(link) == DATA


def test_link_that_names_itself_is_an_error_or_gone(box: Box) -> None:
    box.path.symlink_to(box.path.name)
    with pytest.raises(Exception, match="cannot read"):
        box.sync()


def test_new_file_at_the_old_path_starts_the_next_generation_there(box: Box) -> None:
    """The moved one is not the old source any more: a file is at the old path."""
    box.put(DATA, "a.jsonl")
    (box.directory / "a.jsonl").rename(box.directory / "b.jsonl")
    other = session(3, 5, session_id="another")
    box.write(other, "a.jsonl")
    assert box.sync(box.directory / "b.jsonl").outcome == "new"
    assert box.sync(box.directory / "a.jsonl").outcome == "rewritten"
    assert box.cat(box.directory / "a.jsonl", generation=1) == box.cat(box.directory / "b.jsonl") == DATA


def test_two_sources_that_agree_or_part(box: Box) -> None:
    """The latest entry decides, then the length, then the smaller BLAKE3."""
    base = header_line() + many_lines(3)
    late = message_line("aaaaaaaa", None, "user", "late", ms=NOW + 10_000)
    later = message_line("bbbbbbbb", None, "user", "later", ms=NOW + 20_000)

    def primary() -> bytes:
        key = box.store.current_streams()[0].session
        assert key is not None
        stream = primary_stream(box.store, key)
        assert stream is not None
        assert box.cat(key.hex()) == bytes_of(box.store, stream)
        return bytes_of(box.store, stream)

    box.put(base, "a.jsonl")
    box.put(base, "b.jsonl")
    assert primary() == base
    box.put(base + late, "a.jsonl")
    assert primary() == base + late
    box.put(base + later, "b.jsonl")
    assert primary() == base + later
    longer = base + late + later
    box.put(longer, "a.jsonl")
    assert primary() == longer
    other = base + later + late
    box.put(other, "b.jsonl")
    assert len(other) == len(longer)
    assert primary() == min(longer, other, key=digest)
    box.put(base, "b.jsonl")
    assert primary() == longer


def test_sources_are_numbered_in_the_order_in_which_they_were_seen(box: Box) -> None:
    contents = [DATA, DATA + MORE, DATA + MORE + MORE]
    for number, data in enumerate(contents):
        box.put(data, f"{9 - number}.jsonl")
    key = box.store.session_keys()[0].hex()
    assert [box.cat(key, source=number) for number in (1, 2, 3)] == contents
    with pytest.raises(Exception, match="no source 4: it has 1 to 3"):
        box.cat(key, source=4)
    box.put(DATA, "8.jsonl")
    assert [box.cat(key, source=2, generation=number) for number in (1, 2)] == [DATA + MORE, DATA]
    with pytest.raises(Exception, match="no generation 3: there is 1 to 2"):
        box.cat(key, source=2, generation=3)


def test_sessions_with_the_same_id_are_two(box: Box) -> None:
    """The id alone is not unique: callers may choose it."""
    first = box.put(session(2, ms=1_000_000_000_000), "a.jsonl")
    second = box.put(session(2, ms=1_000_000_001_000), "b.jsonl")
    assert first.session != second.session
    assert len(box.store.session_keys()) == 2
