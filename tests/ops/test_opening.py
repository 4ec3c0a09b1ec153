"""Opening a stored session by path, key or id: synced first, and shown also when that cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.access import AmbiguousSession
from pivcs.ops.locate import NoSession
from pivcs.session.source import SourceNotReadable
from pivcs.store.store import Store
from tests.builders import build_session, header_line, message_line
from tests.ops.syncing import NOW, Box, many_lines, session

DATA = build_session("a-b-c, b-d")
MORE = message_line("eeeeeeee", "dddddddd", ms=NOW)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def key_of(box: Box) -> str:
    (key,) = box.store.session_keys()
    return key.hex()


@pytest.mark.parametrize("length", [4, 8, 63, 64])
def test_session_is_found_by_the_beginning_of_its_key(box: Box, length: int) -> None:
    box.put(DATA)
    box.put(session(2, session_id="another"), "other.jsonl")
    key = box.store.current_streams()[0].session
    assert key is not None
    assert box.cat(key.hex()[:length]) == DATA


def test_session_is_found_by_the_beginning_of_its_id(box: Box) -> None:
    box.put(session(2, session_id="one-and-only"))
    assert box.cat("one-") == box.cat("one-and-only") == box.path.read_bytes()
    for text in ("one", "only", "one-and-only-", "zzzzzzzz"):
        with pytest.raises(NoSession):
            box.cat(text)


def test_key_of_several_sessions_is_refused(box: Box) -> None:
    for number in range(3):
        box.put(session(1, number, session_id=f"same-{number}"), f"{number}.jsonl")
    with pytest.raises(AmbiguousSession, match="'same' names 3 sessions"):
        box.cat("same")
    assert box.cat("same-1") == (box.directory / "1.jsonl").read_bytes()


def test_growth_is_seen_whatever_the_session_is_called(box: Box) -> None:
    box.put(DATA)
    key = key_of(box)
    grown = DATA
    for name in (key, key[:8], str(box.path), "019b7715-9000"):
        box.append(MORE)
        grown += MORE
        assert box.cat(name) == grown
    assert box.warnings == []


def test_growth_of_every_source_is_seen(box: Box) -> None:
    """The primary stream is known only when all sources have been looked at."""
    base = header_line() + many_lines(3)
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        box.put(base, name)
    key = key_of(box)
    for number, name in enumerate(("b.jsonl", "a.jsonl", "c.jsonl")):
        box.append(message_line("eeeeeeee", None, "user", name, ms=NOW + 5000 + number), name)
        assert box.cat(key) == (box.directory / name).read_bytes()
    assert box.warnings == []


def test_source_that_is_gone_is_told_when_it_is_shown(box: Box) -> None:
    box.put(DATA, "a.jsonl")
    box.put(DATA + MORE, "b.jsonl")
    key = key_of(box)
    (box.directory / "a.jsonl").unlink()
    assert box.cat(key) == DATA + MORE
    assert box.warnings == []
    (box.directory / "b.jsonl").unlink()
    assert box.cat(key) == DATA + MORE
    assert box.warnings == [f"no file is at '{box.directory}/b.jsonl' any more; showing what was last seen there"]
    box.warnings.clear()
    assert box.cat(box.directory / "a.jsonl") == DATA
    assert box.warnings == [f"no file is at '{box.directory}/a.jsonl' any more; showing what was last seen there"]
    box.append(MORE + MORE, "b.jsonl")
    assert box.cat(box.directory / "b.jsonl") == MORE + MORE


@pytest.mark.parametrize("then", [b"", b"\n", session(3, session_id="quite another")])
def test_session_whose_file_has_something_else_now_is_found(box: Box, then: bytes) -> None:
    box.put(DATA)
    key = key_of(box)
    box.write(then)
    for name in (key, key[:8], "019b7715"):
        assert box.cat(name) == DATA
    assert box.cat(box.path) == then
    assert box.cat(box.path, generation=1) == DATA


@pytest.mark.parametrize("known", [False, True])
def test_path_that_cannot_be_read_any_more_gives_what_was_seen(box: Box, known: bool) -> None:
    if known:
        box.put(DATA)
        box.path.unlink()
    box.path.mkdir()
    if not known:
        with pytest.raises(SourceNotReadable):
            box.cat(box.path)
        return
    assert box.cat(box.path) == box.cat(key_of(box)) == DATA
    assert len(box.warnings) == 2
    assert all("it is a directory; showing what was last seen there" in warning for warning in box.warnings)


def test_store_that_cannot_be_written_shows_what_it_knows(tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    with Store.open(place, create=True) as store:
        Box(tmp_path, store).put(DATA)
    with Store.open(place, read_only=True) as store:
        box = Box(tmp_path, store)
        box.append(MORE)
        for name in (str(box.path), key_of(box)):
            box.warnings.clear()
            assert box.cat(name) == DATA
            assert len(box.warnings) == 1
            assert "showing what is known" in box.warnings[0]
        other = box.write(session(3, session_id="not known"), "other.jsonl")
        with box.reader.open(str(other)) as view:
            assert len(view.table) == 4  # read from the file itself


def test_without_a_store_the_file_itself_is_read(box: Box) -> None:
    box.write(DATA)
    with box.reader._replace(store=None).open(str(box.path)) as view:
        assert view.store is None
        assert len(view.table) == 5
