"""A forgotten session is gone from the store for good, others are as they were, and it is not taken in again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.ops.access import view_of
from pivcs.ops.forget import finish, remember
from pivcs.ops.forget_session import SessionPlan, forget_session, plan_session
from pivcs.ops.listing import ListedSession, list_sessions
from pivcs.ops.operations import NotUndone, create_branch, set_tag, undo
from pivcs.store.store import BESIDE, Store
from tests.builders import build_session, header_line, message_line
from tests.ops.syncing import NOW, Box
from tests.ops.test_forget import SECRET, errors, secret_places, with_secret
from tests.store.filling import bytes_of

OTHER = "019b7715-9000-7000-8000-0000000000ff"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    with Store.open(tmp_path / "store.db", create=True) as store:
        (tmp_path / "sessions").mkdir()
        yield Box(tmp_path / "sessions", store)


def forget_it(box: Box) -> SessionPlan:
    """Forget the session in the box's file."""
    stream = box.sync().stream
    assert stream is not None
    plan = plan_session(view_of(box.store, stream))
    forget_session(box.store, plan, NOW)
    finish(box.store)
    return plan


def test_nothing_of_it_is_left(box: Box, tmp_path: Path) -> None:
    box.put(with_secret())
    stream = box.put(with_secret().replace(b"Begin.", b"Start."))
    view = view_of(box.store, stream)
    create_branch(view, "mine", 3, force=False, now=NOW, command=f"pivcs branch {SECRET}")
    set_tag(view, "t", view.table.object_id(3), force=False, now=NOW, command="pivcs tag t")
    plan = forget_it(box)
    assert (plan.streams, plan.entries, plan.names, len(plan.files)) == (2, 6, 2, 1)
    assert secret_places(tmp_path) == []
    assert secret_places(tmp_path, b"Thanks.") == []
    assert box.store.session_keys() == []
    assert box.store.sources() == []
    assert [each.command for each in box.store.refs.operations()] == [f"pivcs forget {plan.key.hex()[:16]}"]
    assert errors(box.store) == []
    assert box.path.read_bytes() == with_secret().replace(b"Begin.", b"Start.")


def test_file_is_not_taken_in_again_until_it_is_remembered(box: Box) -> None:
    box.put(with_secret())
    plan = forget_it(box)
    changes = box.changes()
    assert box.sync().outcome == "forgotten"
    box.append(message_line("dddddddd", "cccccccc"))
    assert box.sync(full=True).outcome == "forgotten"
    assert box.sync(box.write(with_secret(), "copy.jsonl")).outcome == "forgotten"
    assert box.changes() == changes
    (listed,) = list_sessions(box.reader, [box.path])
    assert isinstance(listed, ListedSession)
    assert "forgotten" in listed.state
    with box.reader.open(str(box.path)) as view:
        assert view.stream is None
        assert len(view.table) == 5
    assert "was forgotten" in box.warnings[-1]
    assert remember(box.store, plan.key.hex()) == ([plan.key], [])
    assert box.sync().outcome == "new"


def test_entries_that_a_fork_has_stay_there(box: Box) -> None:
    box.put(with_secret())
    fork = box.put(with_secret().replace(header_line(), header_line(OTHER)), "fork.jsonl")
    plan = forget_it(box)
    assert plan.shared == ((fork.session, 3),)
    assert [stream.session for stream in box.store.streams()] == [fork.session]
    assert SECRET.encode() in bytes_of(box.store, fork)
    assert errors(box.store) == []


def test_generations_of_a_path_that_another_session_had_are_numbered_anew(box: Box) -> None:
    box.put(build_session("a-b"))
    kept = box.put(build_session("a-b", header=header_line(OTHER)))
    assert kept.generation == 2
    box.write(build_session("a-b"), "other.jsonl")
    stream = box.sync(box.directory / "other.jsonl").stream
    assert stream is not None
    forget_session(box.store, plan_session(view_of(box.store, stream)), NOW)
    assert [(each.generation, each.session) for each in box.store.streams()] == [(1, kept.session)]
    assert box.sync().outcome == "unchanged"
    assert errors(box.store) == []


def test_undo_says_that_it_cannot(box: Box) -> None:
    box.put(with_secret())
    forget_it(box)
    with pytest.raises(NotUndone):
        undo(box.store, now=NOW)


def test_everything_beside_a_stream_is_known(box: Box) -> None:
    """A table that refers to streams and is left out would keep them from going, or keep what it has of them."""
    connection = box.store.database.connection
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    keys = {name: connection.execute(f"PRAGMA foreign_key_list({name})").fetchall() for name in tables}
    beside = {name for name, rows in keys.items() if "stream" in {row[2] for row in rows}}
    assert beside == {*BESIDE, "ref_change"}  # the latter is about sessions, too, and goes with them
