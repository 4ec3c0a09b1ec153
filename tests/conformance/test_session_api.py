"""What `Session` writes, byte for byte, given the ids and times of the real client."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pivcs.session.manager import Session
from pivcs.session.times import parse_time
from pivcs.session.values import NotASession
from tests.conformance.conftest import Case, cases, fixtures
from tests.session.worlds import make_world


def copy_of(case: Case, tmp_path: Path) -> Path:
    copy = tmp_path / case.path.name
    shutil.copyfile(case.path, copy)
    return copy


def at(timestamp: str) -> int:
    found = parse_time(timestamp)
    assert found is not None
    return found


def lines_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line.decode("utf-8", "surrogatepass")) for line in data.splitlines() if line.strip()]


def named(name: str) -> Case:
    for case in cases():
        if case.path.stem == name:
            return case
    raise LookupError(name)


def test_opening_leaves_the_file_alone(case: Case, tmp_path: Path) -> None:
    copy = copy_of(case, tmp_path)
    before = copy.stat()
    if case.expected["open"]["ok"]:
        session = Session.open(copy, world=make_world())
        assert session.leaf == case.expected["leafId"] or case.expected.get("idsNormalized")
        assert session.name == case.expected["name"]
        assert session.entry_count == case.expected["distinctIds"]
    else:
        with pytest.raises(NotASession):
            Session.open(copy, world=make_world())
    after = copy.stat()
    assert copy.read_bytes() == case.data
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert list(tmp_path.iterdir()) == [copy]


def test_an_appended_message_is_written_as_the_client_writes_it(opened: Case, tmp_path: Path) -> None:
    expected = opened.expected["append"]
    line = json.loads(expected["line"])
    copy = copy_of(opened, tmp_path)
    effect = opened.expected["open"]["effect"]
    normalized = bool(opened.expected.get("idsNormalized"))
    ids = [*(f"e{place}".rjust(8, "0") for place in range(1, 16) if normalized), line["id"]]
    if effect == "header written":
        ids.insert(0, "0" * 32)
    session = Session.open(copy, world=make_world(clock=at(line["timestamp"]), step=0, ids=ids))
    assert session.append_message(line["message"]) == line["id"]
    written = copy.read_bytes()
    own = written.splitlines(keepends=True)[-1]
    if normalized:
        assert json.loads(own)["parentId"] == expected["parentId"].rjust(8, "0")
    else:
        assert own.decode("utf-8", "surrogatepass") == expected["line"]
    if effect == "appended":
        assert written == opened.data + b"\n" + own
    elif effect == "none":
        assert written == opened.data + own
    elif effect == "header written":
        assert [value["type"] for value in lines_of(written)] == ["session", "message"]
    again = Session.open(copy, world=make_world())
    assert (again.leaf == line["id"]) is expected["reopenedLeafIsIt"]
    assert again.entries == session.entries


def test_an_old_file_is_rewritten_as_the_client_rewrites_it_when_something_is_appended(
    migration: Case, tmp_path: Path
) -> None:
    expected = migration.path.with_suffix(".migrated.jsonl").read_bytes()
    entries = [value for value in lines_of(expected) if value["type"] != "session"]
    ids = [entry["id"] for entry in entries if migration.expected.get("idsNormalized")]
    copy = copy_of(migration, tmp_path)
    session = Session.open(copy, world=make_world(ids=[*ids, "feedbeef"]))
    assert copy.read_bytes() == migration.data
    session.append_session_info("new")
    *before, last = copy.read_bytes().splitlines(keepends=True)
    assert b"".join(before) == expected
    assert json.loads(last)["parentId"] == entries[-1]["id"]
    assert list(tmp_path.iterdir()) == [copy]


@pytest.mark.skipif(fixtures() is None, reason="no fixtures")
@pytest.mark.parametrize("name", ["fork_at_user", "fork_clone"])
def test_a_forked_session_has_the_bytes_of_the_client(name: str, tmp_path: Path) -> None:
    child = named(name)
    family = child.expected["family"]
    parent = copy_of(named(family["parent"]), tmp_path)
    lines = child.data.splitlines(keepends=True)
    header, *entries = lines_of(child.data)
    old = {json.loads(line).get("id") for line in parent.read_bytes().splitlines()}
    new = [entry for entry in entries if entry["id"] not in old]
    labels = [entry for entry in new if entry["type"] == "label"]
    world = make_world(
        clock=at(header["timestamp"]), step=0, ids=[header["id"], *(entry["id"] for entry in labels)]
    )
    if "fork" in family["how"]:
        session = Session.fork(parent, family["selected"], world=world)
    else:
        parent_session = Session.open(parent)
        session = Session.fork(parent, family["selected"], position="at", world=world)
        assert parent_session.id != session.id
    assert session.file is not None
    assert session.file.name == child.expected["piFileName"]
    written = session.file.read_bytes().replace(
        str(parent).encode(), header["parentSession"].encode()
    )
    assert written == b"".join(lines[: len(lines) - len(new) + len(labels)])
    messages = new[len(labels) :]
    assert messages
    for entry in messages:
        later = make_world(clock=at(entry["timestamp"]), step=0, ids=[entry["id"]])
        session = Session.open(session.file, world=later)
        session.append_message(entry["message"])
    assert session.file is not None
    assert session.file.read_bytes().splitlines(keepends=True)[1:] == lines[1:]


@pytest.mark.skipif(fixtures() is None, reason="no fixtures")
def test_a_fork_into_another_directory_has_the_bytes_of_the_client(tmp_path: Path) -> None:
    child = named("fork_other_project")
    parent = copy_of(named(child.expected["family"]["parent"]), tmp_path)
    header = lines_of(child.data)[0]
    world = make_world(clock=at(header["timestamp"]), step=0, ids=[header["id"]], home=tmp_path)
    session = Session.fork_from(parent, header["cwd"], world=world)
    assert session.file is not None
    assert session.file.name == child.expected["piFileName"]
    assert session.file.parent == Path(world.surroundings.project_dir(header["cwd"]))
    written = session.file.read_bytes().replace(str(parent).encode(), header["parentSession"].encode())
    assert written == child.data
    assert session.leaf == child.expected["leafId"]


@pytest.mark.skipif(fixtures() is None, reason="no fixtures")
def test_an_exported_branch_has_the_bytes_of_the_client(tmp_path: Path) -> None:
    child = named("export_branch")
    family = child.expected["family"]
    parent = copy_of(named(family["parent"]), tmp_path)
    clock = at(lines_of(child.data)[0]["timestamp"])
    session = Session.open(parent, world=make_world(clock=clock, step=0))
    output = session.export_branch(tmp_path / "new" / "export.jsonl", family["leaf"])
    assert output.read_bytes() == child.data
