from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pivcs.session.appending import SessionFileChanged, SessionFileGone
from pivcs.session.layout import Surroundings
from pivcs.session.listing import Listing
from pivcs.session.manager import Session
from pivcs.session.newentries import InvalidEntry, InvalidSessionId
from pivcs.session.reading import EntryNotFound
from pivcs.session.source import SourceNotReadable
from pivcs.session.state import SessionState
from pivcs.session.values import NotASession
from pivcs.session.wholefile import SessionFileExists, SessionNotWritable
from pivcs.session.world import World
from tests.builders import build_session, entry_id, header_line, line
from tests.session.worlds import make_world

A, B, C = entry_id("a"), entry_id("b"), entry_id("c")


def user(text: str = "text") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}


def system() -> dict[str, Any]:
    return {"role": "system", "content": "Be brief.", "timestamp": 1}


def fields(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "s.jsonl"
    found.write_bytes(build_session("a-b-c", labels={"b": "good"}))
    return found


def test_a_new_session_has_pi_s_directory_and_file_name(tmp_path: Path) -> None:
    world = make_world(clock=1_770_114_600_000, step=0, home=tmp_path)
    session = Session.create("/home/dev/my project/", world=world)
    assert session.cwd == "/home/dev/my project"
    assert session.file == (
        tmp_path / ".pi/agent/sessions/--home-dev-my project--"
        "/2026-02-03T10-30-00-000Z_019c230d-4c40-7000-8000-000000000000.jsonl"
    )
    assert session.header == {
        "type": "session", "version": 3, "id": "019c230d-4c40-7000-8000-000000000000",
        "timestamp": "2026-02-03T10:30:00.000Z", "cwd": "/home/dev/my project",
    }  # fmt: skip
    assert not (tmp_path / ".pi").exists()


def test_the_file_appears_with_the_first_message_of_a_person_or_a_model(tmp_path: Path) -> None:
    session = Session.create(tmp_path, tmp_path / "sessions", session_id="my.id", parent_session="/p.jsonl")
    session.append_model_change("p", "m")
    session.append_message(system())
    session.append_message({"role": "bashExecution", "command": "ls", "output": "", "timestamp": 1})
    session.append_custom("state", None)
    assert not session.is_saved
    assert not (tmp_path / "sessions").exists()
    session.append_message(user())
    assert session.is_saved
    assert session.file is not None
    assert session.file.name.endswith("_my.id.jsonl")
    assert list(session.file.parent.iterdir()) == [session.file]
    again = Session.open(session.file)
    assert again.header == session.header
    assert list(again.header) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert again.entries == session.entries
    assert again.cwd == str(tmp_path)


def test_a_file_that_came_into_its_place_is_kept_and_the_entry_is_not(tmp_path: Path) -> None:
    session = Session.open(tmp_path / "s.jsonl")
    session.append_session_info("name")
    (tmp_path / "s.jsonl").write_bytes(b"theirs")
    with pytest.raises(SessionFileExists):
        session.append_message(user())
    assert (tmp_path / "s.jsonl").read_bytes() == b"theirs"
    assert session.entry_count == 1
    assert fields(session.leaf_entry)["name"] == "name"


@pytest.mark.parametrize("session_id", ["", "-a", "a b", "a/b", "a\n"])
def test_an_id_that_pi_would_not_take_is_refused(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(InvalidSessionId):
        Session.create(tmp_path, tmp_path, session_id=session_id)


def test_an_open_session_knows_the_file(path: Path) -> None:
    session = Session.open(path)
    assert session.leaf == fields(session.entries[-1])["id"]
    assert session.path(B) == session.entries[:2]
    assert session.children(A) == (session.entry(B),)
    assert session.children(None) == (session.entry(A),)
    assert session.label(B) == "good"
    assert session.label(A) is None
    assert list(session.labels) == [B]
    assert A in session
    assert "unknown0" not in session
    assert session.tree().path(C) == (A, B, C)
    assert session.tree() is session.tree()
    assert session.session_dir == path.parent
    for ask in (session.entry, session.path, session.settings, session.build_context, session.branch,
                session.append_label, session.create_branched_session, session.build_context_entries):  # fmt: skip
        with pytest.raises(EntryNotFound, match="no entry 'unknown0'"):
            ask("unknown0")


def test_the_next_entry_goes_under_the_position(path: Path) -> None:
    before = path.read_bytes()
    session = Session.open(path)
    session.branch(A)
    assert path.read_bytes() == before
    first = session.append_message(user("under a"))
    session.reset_leaf()
    assert session.leaf is None
    assert session.build_context().messages == ()
    second = session.append_message(user("a root"))
    assert fields(session.entry(first))["parentId"] == A
    assert fields(session.entry(second))["parentId"] is None
    assert len(session.tree().roots) == 2
    assert path.read_bytes().startswith(before)
    assert Session.open(path).leaf == second


def test_names_and_labels_are_stored_as_pi_stores_them(path: Path) -> None:
    session = Session.open(path)
    session.append_session_info(" \ufeffone\r\n\ntwo ")
    assert session.name == "one two"
    session.append_session_info(" ")
    assert session.name is None
    session.append_label(A, "  ")
    session.append_label(B)
    assert session.labels == {A: ("  ", fields(session.entries[-2])["timestamp"])}
    assert "label" not in fields(session.leaf_entry)
    assert Session.open(path).labels == session.labels


def test_memory_holds_what_the_file_holds(path: Path) -> None:
    session = Session.open(path)
    data = {"b": (1, 2.0), "1": float("nan"), "big": 2**60 + 1}
    ident = session.append_custom("c", data)
    data["b"] = ()
    stored = fields(session.entry(ident))["data"]
    assert stored == {"1": None, "b": [1, 2], "big": 1152921504606847000}
    assert list(stored) == ["1", "b", "big"]
    assert Session.open(path).entry(ident) == session.entry(ident)


def test_what_pi_would_not_write_is_refused_and_changes_nothing(path: Path) -> None:
    session = Session.open(path)
    leaf, before = session.leaf, path.read_bytes()
    tool = session.append_message({"role": "bashExecution", "command": "ls", "timestamp": 1})
    session.branch(leaf or "")
    before = path.read_bytes()
    refused: list[Any] = [
        lambda: session.append_message({"role": "compactionSummary", "summary": "s"}),
        lambda: session.append_message({"content": "no role"}),
        lambda: session.append_message([]),  # type: ignore[arg-type]
        lambda: session.append_entry("session", {}),
        lambda: session.append_entry("future", {"id": "mine"}),
        lambda: session.append_context_edit(A, {}),
        lambda: session.append_context_edit(A, {"content": None}),
        lambda: session.append_context_edit(leaf or "", None),
    ]
    for attempt in refused:
        with pytest.raises(InvalidEntry):
            attempt()
    with pytest.raises(EntryNotFound, match="on the current path"):
        session.append_context_edit(tool, None)
    for value in (object(), {1: 2}):
        with pytest.raises(TypeError):
            session.append_custom("c", value)
    assert (session.leaf, path.read_bytes()) == (leaf, before)


def test_an_entry_of_any_type_can_be_appended(path: Path) -> None:
    session = Session.open(path)
    ident = session.append_entry("future", {"x": 1})
    assert list(fields(session.entry(ident))) == ["type", "id", "parentId", "timestamp", "x"]
    ident = session.append_entry("custom", {"customType": "pivcs.checkout"})
    assert list(fields(session.entry(ident))) == ["type", "customType", "id", "parentId", "timestamp"]


def test_if_writing_fails_the_session_is_as_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session.open(path)
    before = (session.entries, session.leaf, session.name, path.read_bytes())

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(SessionNotWritable):
        session.append_session_info("new")
    with pytest.raises(SessionNotWritable):
        session.branch_with_summary(A, "left")
    monkeypatch.undo()
    assert (session.entries, session.leaf, session.name, path.read_bytes()) == before
    summary = session.branch_with_summary(A, "left")
    assert fields(session.entry(summary))["fromId"] == before[1]
    session.reset_leaf()
    assert fields(session.entry(session.branch_with_summary(B, "s")))["fromId"] == "root"


def test_a_file_that_is_gone_or_rewritten_is_refused_until_it_is_read_again(path: Path) -> None:
    session = Session.open(path)
    session.branch(B)
    aside = path.rename(path.with_suffix(".aside"))
    with pytest.raises(SessionFileGone):
        session.append_session_info("x")
    aside.rename(path)
    session.append_session_info("x")
    path.write_bytes(build_session("a-b, a-9"))
    with pytest.raises(SessionFileChanged):
        session.append_session_info("y")
    leaf = session.leaf
    session.reload()
    assert session.entry_count == 3
    assert session.leaf == entry_id("9") != leaf
    session.branch(B)
    session.reload()
    assert session.leaf == B
    session.append_session_info("y")
    assert Session.open(path).name == "y"


def test_entries_of_others_are_taken_in_and_the_position_stays(path: Path) -> None:
    ours, theirs = Session.open(path), Session.open(path)
    theirs.branch(A)
    other = theirs.append_message(user("theirs"))
    theirs.append_session_info("their name")
    leaf = ours.leaf
    own = ours.append_message(user("ours"))
    assert fields(ours.entry(own))["parentId"] == leaf
    assert other in ours
    assert ours.name == "their name"
    assert Session.open(path).entries == ours.entries


def test_ids_of_others_are_not_given_again(path: Path) -> None:
    ids = ["11111111", "11111111", "22222222"]
    theirs = Session.open(path, world=make_world(ids=ids))
    ours = Session.open(path, world=make_world(ids=ids))
    assert theirs.append_custom("c") == "11111111"
    assert ours.append_custom("c") == "22222222"


def test_opening_an_empty_file_writes_its_header_with_the_first_entry_of_any_type(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()
    session, late = (Session.open(path, cwd="/home/dev/p") for _ in range(2))
    assert path.read_bytes() == b""
    session.append_model_change("p", "m")
    assert path.read_bytes().count(b"\n") == 2
    again = Session.open(path)
    assert again.entries == session.entries
    assert again.header == session.header
    with pytest.raises(SessionFileChanged):
        late.append_model_change("p", "m")


def test_an_old_file_is_rewritten_once_and_not_over_what_others_appended(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    old = header_line(version=2) + build_session("a-b", header=b"")
    path.write_bytes(old)
    first, second = Session.open(path), Session.open(path)
    first.append_custom("c")
    rewritten = path.read_bytes()
    assert rewritten.startswith(header_line())
    assert rewritten.count(b"\n") == 4
    first.append_custom("c")
    assert path.read_bytes().startswith(rewritten)
    with pytest.raises(SessionFileChanged):
        second.append_custom("c")
    path.write_bytes(old)
    third = Session.open(path)
    path.write_bytes(old + line({"type": "x", "id": "theirs00", "parentId": A}))
    with pytest.raises(SessionFileChanged):
        third.append_custom("c")
    assert list(tmp_path.iterdir()) == [path]


def test_after_a_last_entry_without_id_the_next_one_is_a_root_without_parent(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b") + b"123\n")
    session = Session.open(path)
    assert session.leaf is None
    assert session.leaf_is_undefined
    assert session.path() == ()
    assert session.build_context_entries() == (123,)
    ident = session.append_message(user())
    assert "parentId" not in fields(session.entry(ident))
    assert session.leaf == ident


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.jsonl").write_bytes(b"hello\n")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(NotASession, match="not a valid pi session"):
        Session.open(tmp_path / "text.jsonl")
    with pytest.raises(SourceNotReadable, match="it is a directory"):
        Session.open(tmp_path / "folder.jsonl")
    (tmp_path / "empty.jsonl").touch()
    for copy in (Session.clone, lambda path: Session.fork(path, A), lambda path: Session.fork_from(path, tmp_path)):
        with pytest.raises(SourceNotReadable, match="no such file"):
            copy(tmp_path / "gone.jsonl")
        with pytest.raises(NotASession):
            copy(tmp_path / "empty.jsonl")


def test_a_branched_session_holds_the_path_and_its_labels_and_the_old_file_stays(path: Path) -> None:
    session = Session.open(path)
    old, before = session.id, path.read_bytes()
    file = session.create_branched_session(B)
    assert file is not None
    assert file == session.file
    assert session.id != old
    assert session.header["parentSession"] == str(path)
    assert [fields(value)["type"] for value in session.entries] == ["message", "message", "label"]
    assert session.label(B) == "good"
    assert session.leaf == fields(session.entries[-1])["id"]
    assert path.read_bytes() == before
    assert Session.open(file).entries == session.entries
    session.append_message(user())
    assert Session.open(file).leaf == session.leaf


def test_a_path_without_conversation_is_written_with_its_first_message(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b", kinds={"a": "model", "b": "user"}))
    session = Session.open(path)
    file = session.create_branched_session(A)
    assert file is not None
    assert not file.exists()
    session.append_message(user())
    assert Session.open(file).entry_count == 2


def test_a_fork_before_the_first_message_is_an_empty_session_with_a_parent(path: Path) -> None:
    session = Session.fork(path, A)
    assert session.entries == ()
    assert session.header["parentSession"] == str(path)
    assert not session.is_saved
    assert Session.fork(path, C).entry_count == 3
    assert Session.fork(path, C, position="at").entry_count == 4
    with pytest.raises(InvalidEntry, match="no user message"):
        Session.fork(path, B)
    with pytest.raises(EntryNotFound):
        Session.fork(path, "unknown0")


def test_a_clone_holds_the_current_path(path: Path, tmp_path: Path) -> None:
    session = Session.clone(path, session_dir=tmp_path / "clones")
    assert [fields(value)["type"] for value in session.entries] == ["message"] * 3 + ["label"]
    assert session.file is not None
    assert session.file.parent == tmp_path / "clones"
    (tmp_path / "none.jsonl").write_bytes(header_line())
    with pytest.raises(InvalidEntry, match="nothing to clone"):
        Session.clone(tmp_path / "none.jsonl")


def test_a_version_1_source_is_migrated_when_it_is_forked(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    old = header_line(version=None) + b"".join(line({"type": "message", "message": user(text)}) for text in "ab")
    path.write_bytes(old)
    session = Session.fork_from(path, "/home/dev/other", tmp_path / "other", session_id="new-id")
    assert session.file is not None
    assert session.cwd == "/home/dev/other"
    again = Session.open(session.file)
    assert again.id == "new-id"
    assert len(again.path()) == 2
    assert path.read_bytes() == old
    with pytest.raises(InvalidSessionId):
        Session.fork_from(path, "/home/dev/other", tmp_path / "other", session_id="no id")


def test_an_export_replaces_nothing(path: Path, tmp_path: Path) -> None:
    session = Session.open(path)
    session.export_branch(tmp_path / "export.jsonl")
    exported = Session.open(tmp_path / "export.jsonl")
    assert exported.id == session.id
    assert exported.entries == session.entries
    with pytest.raises(SessionFileExists):
        session.export_branch(tmp_path / "export.jsonl")


def test_a_session_in_memory_has_no_file(tmp_path: Path) -> None:
    session = Session.in_memory(tmp_path)
    first = session.append_message(user())
    session.append_label(first, "l")
    assert (session.file, session.session_dir, session.is_saved) == (None, None, False)
    session.reload()
    assert session.create_branched_session(first) is None
    assert "parentSession" not in session.header
    assert [fields(value)["type"] for value in session.entries] == ["message", "label"]
    assert list(tmp_path.iterdir()) == []
    copy = Session.in_memory("/home/dev/p", [session.header, *session.entries])
    assert (copy.id, copy.entries) == (session.id, session.entries)
    assert Session.in_memory("/home/dev/p", session.entries, session_id="mine").id == "mine"


def test_a_compaction_carries_the_replayed_system_messages() -> None:
    session = Session.in_memory("/home/dev/p")
    session.append_message(system() | {"toolsAdded": [{"name": "read"}]})
    kept = session.append_message(user())
    session.append_compaction("all", kept, 10, details={"readFiles": []}, from_hook=False)
    entry = fields(session.leaf_entry)
    assert list(entry)[4:] == ["summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook", "systemMessage"]
    stamp = entry["systemMessage"]["timestamp"]
    assert entry["systemMessage"] == {
        "role": "system", "content": "Be brief.", "toolsAdded": [{"name": "read"}], "timestamp": stamp,
    }  # fmt: skip
    assert stamp > 1_700_000_000_000
    nothing = session.append_compaction("none", None, 5)
    assert fields(session.leaf_entry)["firstKeptEntryId"] == nothing
    assert [fields(message)["role"] for message in session.build_context().messages] == ["system", "compactionSummary"]


def test_the_newest_file_is_continued_and_without_one_a_session_begins(tmp_path: Path) -> None:
    world = make_world(home=tmp_path)
    session = Session.continue_recent("/home/dev/p", world=world)
    assert not session.is_saved
    session.append_message(user())
    assert Session.continue_recent("/home/dev/p", world=world).id == session.id
    # An explicit directory may hold sessions of other working directories.
    directory = session.file and session.file.parent
    assert directory is not None
    assert not Session.continue_recent("/home/dev/q", directory, world=world).is_saved


def test_sessions_are_listed_as_pi_lists_them(tmp_path: Path) -> None:
    world = make_world(home=tmp_path)
    ids = []
    for cwd in ("/home/dev/p", "/home/dev/p", "/home/dev/q"):
        session = Session.create(cwd, world=world)
        session.append_message(user())
        ids.append(session.id)

    def listed(listing: Listing) -> set[str | None]:
        return {item.id for item in listing.sessions}

    steps: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        steps.append((done, total))

    assert listed(Session.list("/home/dev/p", world=world, on_progress=progress)) == set(ids[:2])
    assert listed(Session.list_all(world=world, on_progress=progress)) == set(ids)
    assert steps == [(1, 2), (2, 2), (1, 3), (2, 3), (3, 3)]
    assert listed(Session.list_all(tmp_path / ".pi/agent/sessions", world=world)) == set(ids)
    both = tmp_path / ".pi/agent/sessions/--home-dev-q--"
    assert listed(Session.list("/home/dev/p", both, world=world)) == set()


def test_times_and_directories_of_the_process_are_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.chdir(tmp_path)
    session = Session.create(".")
    assert session.cwd == str(tmp_path)
    assert session.file is not None
    assert session.file.is_relative_to(tmp_path / "agent" / "sessions")
    assert World.real().surroundings == Surroundings(os.environ, str(Path.home()), str(tmp_path), windows=False)


def test_a_session_of_200_000_entries_builds_its_context() -> None:
    """Anything but linear work would not end here; the path is as deep as the session is long."""
    parents = [None, *(f"{place:08x}" for place in range(199_999))]
    said = [{"type": "message", "id": f"{place:08x}", "parentId": parents[place], "message": {"role": "user"}}
            for place in range(200_000)]  # fmt: skip
    session = Session.in_memory("/home/dev/p", said)
    assert session.entry_count == 200_000
    assert len(session.build_context().messages) == 200_000
    for _ in range(100):
        session.append_custom("c")
    session.append_compaction("s", f"{199_999:08x}", 1)
    assert len(session.path()) == 200_101
    assert len(session.build_context_entries()) == 102
    assert len(session.build_context().messages) == 2


def test_parents_in_a_circle_end() -> None:
    values = [{"type": "x", "id": "a", "parentId": "b"}, {"type": "x", "id": "b", "parentId": "a"}]
    state = SessionState(values)
    assert state.path("b") == values
    assert Session.in_memory("/home/dev/p", values).build_context_entries() == tuple(values)
