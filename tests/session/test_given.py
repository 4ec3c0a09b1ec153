"""Entries from outside: completed, checked, and written all or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.session import appending
from pivcs.session.given import as_entry
from pivcs.session.manager import Session
from pivcs.session.newentries import InvalidEntry
from pivcs.session.reading import EntryNotFound
from pivcs.session.wholefile import SessionNotWritable
from tests.builders import build_session
from tests.session.worlds import make_world

A, B = "aaaaaaaa", "bbbbbbbb"
CUSTOM = {"type": "custom", "customType": "x"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b"))
    return Session.open(path, world=make_world())


def test_entries_are_chained_and_get_pis_order_of_keys(session: Session) -> None:
    ids = session.append_entries([CUSTOM, {"type": "session_info", "name": "n"}, {**CUSTOM, "parentId": A}, CUSTOM])
    entries = [session.entry(ident) for ident in ids]
    assert [entry["parentId"] for entry in entries if isinstance(entry, dict)] == [B, ids[0], A, ids[2]]
    assert [list(entry) for entry in entries[:2] if isinstance(entry, dict)] == [
        ["type", "customType", "id", "parentId", "timestamp"],
        ["type", "id", "parentId", "timestamp", "name"],
    ]
    assert session.leaf == ids[-1]
    assert session.file is not None
    assert Session.open(session.file).entries == session.entries


def test_complete_entry_keeps_the_order_of_its_keys(session: Session) -> None:
    whole = {"id": "x", "zeta": 1, "timestamp": "2026-01-01T00:00:00.000Z", "parentId": None, "type": "custom"}
    whole["customType"] = "y"
    session.append_entries([whole])
    assert session.file is not None
    assert session.file.read_bytes().splitlines()[-1].startswith(b'{"id":"x","zeta":1,"timestamp":')


def test_entry_may_refer_to_one_before_it_and_to_none_after_it(session: Session) -> None:
    label = {"type": "label", "targetId": "x", "label": "l"}
    with pytest.raises(EntryNotFound) as caught:
        session.append_entries([CUSTOM, label, {**CUSTOM, "id": "x"}])
    assert caught.value.place == 1
    assert session.append_entries([{**CUSTOM, "id": "x"}, label])[0] == "x"
    assert session.label("x") == "l"


def test_what_a_check_raises_is_raised_and_nothing_is_written(session: Session) -> None:
    assert session.file is not None
    before = session.file.read_bytes()
    seen = []
    with session.file.open("ab") as file:
        file.write(build_session("c", header=b""))

    def check() -> None:
        seen.append(session.entry_count)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        session.append_entries([CUSTOM], check=check)
    assert seen == [3]
    assert session.file.read_bytes() == before + build_session("c", header=b"")
    assert session.leaf == B


@pytest.mark.parametrize("entries", [[CUSTOM, {"type": "custom"}], [CUSTOM, {**CUSTOM, "data": object()}]])
def test_one_bad_entry_keeps_all_from_being_written(session: Session, entries: list[dict[str, object]]) -> None:
    assert session.file is not None
    before = session.file.read_bytes()
    with pytest.raises((InvalidEntry, TypeError)):
        session.append_entries(entries)
    assert session.file.read_bytes() == before
    assert session.entry_count == 2


def test_entries_go_to_the_file_in_one_write(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def write(fd: int, data: bytes) -> int:
        written.append(data)
        return real(fd, data)

    real = os.write
    monkeypatch.setattr(appending.os, "write", write)
    session.append_entries([CUSTOM] * 5)
    assert [data.count(b"\n") for data in written] == [5]
    monkeypatch.setattr(appending.os, "write", lambda fd, data: real(fd, data[:20]))
    assert session.file is not None
    before = session.file.read_bytes()
    with pytest.raises(SessionNotWritable):
        session.append_entries([CUSTOM] * 5)
    assert session.file.read_bytes() == before
    assert session.entry_count == 7


def test_no_entries_write_nothing(session: Session) -> None:
    assert session.append_entries([]) == []
    assert session.leaf == B


def test_messages_become_entries_and_get_a_time() -> None:
    assert as_entry({"role": "user"}, 5) == {"type": "message", "message": {"role": "user", "timestamp": 5}}
    assert as_entry({"role": "user", "timestamp": 4}, 5)["message"] == {"role": "user", "timestamp": 4}
    assert as_entry({"role": "user", "type": "custom"}, 5) == {"role": "user", "type": "custom"}
    with pytest.raises(InvalidEntry):
        as_entry("text", 5)
