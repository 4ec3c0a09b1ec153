"""`fsck`, `gc` and `store` on the command line: what they say, their exit codes, and that looking changes nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program

SESSION = build_session("a-b-c-d")


@pytest.fixture
def session(pivcs: Program, tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(SESSION)
    assert pivcs("sync", "-q", path).code == 0
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store" / "store.db"


def execute(store: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute(statement, values)
    connection.close()


def test_good_store_is_said_to_be_good(pivcs: Program, session: Path):
    found = pivcs("fsck")
    assert (found.code, found.lines) == (0, [f"1 stream, {len(SESSION) / 1000:.1f} kB: all good"])


def test_changed_file_is_an_error_with_line_offset_and_hint(pivcs: Program, session: Path):
    at = SESSION.index(b'"text":"c"') + 8
    session.write_bytes(SESSION[:at] + b"X" + SESSION[at + 1 :])
    found = pivcs("fsck")
    assert found.code == 1
    assert found.lines[:2] == [
        str(session),
        f"  error: line 4, offset {at}: the file was changed in this line "
        "(1 of its bytes; the first was 63 and is 58) [source-bytes-changed]",
    ]
    hint = "`pivcs cat FILE` gives the bytes that were there; `pivcs sync` keeps both"
    assert f"  source-bytes-changed  {hint}" in found.lines
    assert found.lines[-1].endswith(": 1 error")
    document = pivcs("fsck", "--json", session)
    assert document.code == 1
    (finding,) = document.json["findings"]
    assert (finding["id"], finding["line"], finding["offset"]) == ("source-bytes-changed", 4, at)
    assert pivcs("fsck", "--no-sources").code == 0
    assert pivcs("sync", session).code == 0
    assert pivcs("fsck").code == 0


def test_warnings_do_not_count_as_errors(pivcs: Program, session: Path):
    session.write_bytes(SESSION + b"{torn \x1b[31m\n" + header_line("x"))
    assert pivcs("sync", session).code == 0
    found = pivcs("fsck")
    assert found.code == 0
    assert found.lines[-1].endswith(": 2 warnings")
    assert b"\x1b" not in found.out


def test_many_findings_alike_are_cut_short_unless_all_are_asked_for(pivcs: Program, session: Path):
    session.write_bytes(SESSION + b"{torn\n" * 30)
    assert pivcs("sync", session).code == 0
    assert pivcs("fsck").text.count("[damaged-line]") == 10
    assert "(+20 findings; --all shows them)" in pivcs("fsck").text
    assert pivcs("fsck", "--all").text.count("[damaged-line]") == 30
    assert len(pivcs("fsck", "--json").json["findings"]) == 30


def test_sessions_and_files_can_be_chosen(pivcs: Program, session: Path, tmp_path: Path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(build_session("a", header=header_line("other")) + b"{torn\n")
    assert pivcs("sync", other).code == 0
    assert pivcs("fsck", session).text.startswith("1 stream")
    assert "damaged-line" in pivcs("fsck", "other").text
    assert "damaged-line" in pivcs("fsck", session, other).text
    missing = pivcs("fsck", tmp_path / "none.jsonl")
    assert (missing.code, "`pivcs sync`" in missing.complaint) == (10, True)


def test_damaged_store_is_named_and_still_answers(pivcs: Program, session: Path, store: Path):
    execute(store, "UPDATE tail SET data = substr(data, 2)")
    found = pivcs("fsck")
    assert found.code == 1
    assert "[tail-unreadable]" in found.text


def test_what_is_no_store_is_refused(pivcs: Program, store: Path):
    assert pivcs("fsck").code == 20
    assert pivcs("gc").code == 20
    assert pivcs("store", "info").code == 20
    assert not store.exists()
    store.parent.mkdir()
    store.write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    assert pivcs("fsck").code == 30


def test_checking_and_looking_leave_the_store_as_it_is(pivcs: Program, session: Path, store: Path):
    before = store.read_bytes(), store.stat().st_mtime_ns
    for command in (["fsck"], ["gc"], ["store", "info"]):
        assert pivcs(*command).code == pivcs(*command, "--json").code == 0
    assert (store.read_bytes(), store.stat().st_mtime_ns) == before
    assert os.listdir(store.parent) == ["store.db"]


def test_read_only_store_can_be_checked(pivcs: Program, session: Path, store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert pivcs("fsck").code == 0
    assert pivcs("store", "info", "--json").json["read_only"] is True
    assert pivcs("gc").code == 0
    refused = pivcs("gc", "--apply")
    assert (refused.code, "cannot write store" in refused.complaint) == (20, True)


def test_collecting_says_first_and_does_when_told(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a") + message_line("bbbbbbbb", content="many words " * 5000))
    assert pivcs("sync", path).code == 0
    assert pivcs("gc").lines[-1].endswith("`pivcs gc --apply` does it")
    done = pivcs("gc", "--apply")
    assert done.code == 0
    assert done.lines[-1].startswith("store: ")
    assert " -> " in done.lines[-1]
    again = pivcs("gc")
    assert len(again.lines) == 1
    assert again.text.startswith("nothing to do; ")
    assert pivcs("gc", "--apply", "--json").json["loose"] == 0
    assert pivcs("cat", path).out == path.read_bytes()


def test_facts_are_shown(pivcs: Program, session: Path, store: Path):
    lines = pivcs("store", "info").lines
    assert lines[0] == f"Store:     {store}"
    assert "Sessions:  1" in lines
    assert f"Streams:   1 generation, {len(SESSION) / 1000:.1f} kB, 5 rows" in lines
    found = pivcs("store", "info", "--json").json
    assert found["ratio"] == round(found["file_size"] / len(SESSION), 4)


def test_backup_is_private_and_answers_as_the_store_does(pivcs: Program, session: Path, tmp_path: Path):
    target = tmp_path / "copy.db"
    assert pivcs("store", "backup", target).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    session.unlink()
    assert pivcs("cat", "--store", target, session).out == SESSION
    refused = pivcs("store", "backup", target)
    assert (refused.code, "exists already" in refused.complaint) == (10, True)


def test_moved_store_is_found_as_the_message_says(
    pivcs: Program, session: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    moved = pivcs("store", "move", tmp_path / "new place")
    assert moved.code == 0
    assert not store.exists()
    assert moved.lines[-1].strip() == f"export PIVCS_DIR='{tmp_path}/new place'"
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "new place"))
    session.unlink()
    assert pivcs("cat", session).out == SESSION


def test_moving_onto_a_store_or_itself_is_refused(pivcs: Program, session: Path, store: Path, tmp_path: Path):
    assert pivcs("store", "move", store.parent).code == 10
    assert pivcs("sync", "-q", "--store", tmp_path / "other", session).code == 0
    assert pivcs("store", "move", tmp_path / "other").code == 10
    assert pivcs("fsck").code == 0


def test_moving_the_store_of_a_project_says_what_stays(
    pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("PIVCS_DIR")
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    assert pivcs("init").code == 0
    moved = pivcs("store", "move", tmp_path / "elsewhere")
    assert moved.code == 0
    assert f"it was the store of the project in {project}" in moved.text
