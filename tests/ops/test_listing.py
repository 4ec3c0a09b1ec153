"""What `ls` says of each file, with and without a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.ops.access import Reader
from pivcs.ops.listing import ListedSession, Unreadable, by_activity, list_sessions, one_row_each
from pivcs.session.layout import Surroundings
from pivcs.store.store import Store
from tests.builders import CLOCK, SESSION_ID, build_session, header_line, message_line


@pytest.fixture(params=["store", "no store"])
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reader]:
    def complain(text: str) -> None:
        raise AssertionError(text)

    surroundings = Surroundings({}, str(tmp_path / "home"), str(tmp_path))
    if request.param == "no store":
        yield Reader(None, surroundings, CLOCK, complain)
        return
    store = Store.open(tmp_path / "store" / "store.db", create=True)
    yield Reader(store, surroundings, CLOCK, complain)
    store.close()


def listed(reader: Reader, path: Path, data: bytes) -> ListedSession:
    path.write_bytes(data)
    (item,) = list_sessions(reader, [path])
    assert isinstance(item, ListedSession)
    return item


def test_summary_of_a_good_session(reader: Reader, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    found = listed(reader, path, build_session("a-b-c, b-d", texts={"a": "Go."}, labels={"c": "x"}))
    facts = found.facts
    assert (facts.id, facts.cwd, facts.name, facts.first_prompt) == (SESSION_ID, "/home/dev/project", None, "Go.")
    assert (facts.entries, facts.tips, found.state, facts.time) == (5, 2, (), CLOCK + 5000)
    assert (found.path, found.size) == (path, path.stat().st_size)
    assert found.key is not None


STATES = [
    (b"", ("empty",)),
    (b"{", ("pending", "no header")),
    (b"\n", ("no header",)),
    (build_session("a", header=b""), ("no header",)),
    (build_session("a") + b"{torn\n", ("damaged",)),
    (build_session("a") + message_line("b")[:-1] + message_line("c"), ("damaged",)),
    (build_session("a") + b"{torn\ntail", ("damaged", "pending")),
    (header_line(), ()),
]


@pytest.mark.parametrize(("data", "state"), STATES)
def test_state_says_what_is_unusual(reader: Reader, tmp_path: Path, data: bytes, state: tuple[str, ...]):
    assert listed(reader, tmp_path / "s.jsonl", data).state == state


def test_list_agrees_with_itself_while_a_file_grows(reader: Reader, tmp_path: Path):
    path, growing, other = tmp_path / "s.jsonl", b"", tmp_path / "other.jsonl"
    lines = build_session("a-b-c, b-d, x", labels={"c": "l"}, kinds={"d": "name"}, extra=[b"{torn\n", b"\n"])
    alone = Reader(None, reader.surroundings, CLOCK, reader.warn)
    for line in lines.splitlines(keepends=True):
        for piece in (line[:20], line[20:]):
            growing += piece
            found, expected = listed(reader, path, growing), listed(alone, other, growing)
            assert (found.facts, found.size, found.key) == (expected.facts, expected.size, expected.key)
            assert found.state == expected.state


def test_unreadable_file_does_not_stop_the_list(reader: Reader, tmp_path: Path):
    good = tmp_path / "good.jsonl"
    good.write_bytes(build_session("a"))
    found = list(list_sessions(reader, [tmp_path / "none.jsonl", good, tmp_path]))
    assert [type(item) for item in found] == [Unreadable, ListedSession, Unreadable]
    assert [item.path for item in found] == [tmp_path / "none.jsonl", good, tmp_path]


def test_newest_activity_first_and_sessions_without_time_last(reader: Reader, tmp_path: Path):
    found = []
    for name, times in (("z", []), ("b", [5]), ("a", []), ("c", [9, 1])):
        data = header_line(name) + b"".join(message_line(f"{at:08x}", ms=CLOCK + at) for at in times)
        found.append(listed(reader, tmp_path / name, data))
    assert [item.path.name for item in by_activity(found)] == ["c", "b", "a", "z"]


def test_what_was_imported_of_a_session_stands_in_the_row_of_its_file(reader: Reader, tmp_path: Path):
    file = listed(reader, tmp_path / "s.jsonl", build_session("a-b"))
    copy = listed(reader, tmp_path / "t.jsonl", build_session("a-b"))
    other = listed(reader, tmp_path / "u.jsonl", build_session("a", header=header_line("other")))
    first, second = (file._replace(path=Path(f"git:{n}"), state=("imported",), origin=n) for n in ("x", "y"))
    alone = other._replace(state=("imported",), origin="x")
    assert one_row_each([first, file, second, other]) == [(file, ("x", "y")), (other, ())]
    assert one_row_each([first, second, alone]) == [(first, ("y",)), (alone, ())]
    assert one_row_each([file, copy]) == [(file, ()), (copy, ())]
    keyless = listed(reader, tmp_path / "v.jsonl", b"")
    assert one_row_each([keyless, keyless]) == [(keyless, ()), (keyless, ())]
