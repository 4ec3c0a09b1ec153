"""The list of sessions, and the session to continue, beside the real pi."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from pivcs.session.layout import encode_cwd
from pivcs.session.listing import list_directory, most_recent
from pivcs.session.listitem import Listed
from pivcs.session.times import time_of
from tests.builders import CLOCK, CWD, entry_line, header_line, iso, message_line
from tests.interop.odd_sessions import odd_session
from tests.interop.pi import Answer, Pi

pytestmark = pytest.mark.interop

CONTENTS: tuple[object, ...] = (
    "a string",
    "",
    [],
    [{"type": "text", "text": "one"}, {"type": "image", "data": ""}, {"type": "text", "text": "two"}],
    [{"type": "text", "text": ""}],
    [{"type": "text"}],
    [{"type": "thinking", "thinking": "hm"}],
)
WRONG_CONTENTS: tuple[object, ...] = (None, 7, {}, [None])
STAMPS: tuple[object, ...] = (CLOCK + 5, 0, -1, "soon", None, CLOCK + 0.5)


def listed_session(random: Random) -> bytes:
    cwd = random.choice((CWD, CWD, CWD, "/home/dev/other", ""))
    more = {"parentSession": "/home/dev/parent.jsonl"} if random.random() < 0.2 else {}
    lines = [header_line(f"session-{random.getrandbits(32)}", cwd=cwd, **more)]
    for place in range(random.randrange(6)):
        ident = f"{place:08x}"
        wrong = random.random() < 0.03
        content = random.choice(WRONG_CONTENTS if wrong else CONTENTS)
        role = random.choice(("user", "assistant", "toolResult", "system", "bashExecution"))
        stamp = random.choice(STAMPS) if random.random() < 0.3 else CLOCK + random.randrange(10**9)
        lines.append(message_line(ident, None, role, content, ms=CLOCK + random.randrange(10**9), timestamp=stamp))
    if random.random() < 0.3:
        lines.append(entry_line("session_info", "77777777", name=random.choice((" a name\n", "", "\ufeff"))))
    if random.random() < 0.1:
        lines[-1] = lines[-1].replace(b"\n", random.choice((b"\r\n", b"\r", b"")))
    return b"".join(lines)


def our_item(item: Listed) -> Answer:
    created = None if item.created is None else iso(item.created)
    return {
        "path": str(item.path),
        "id": item.id,
        "cwd": item.cwd,
        "name": item.name,
        "parentSessionPath": item.parent_session,
        "created": created,
        "modified": iso(item.modified),
        "messageCount": item.message_count,
        "firstMessage": item.first_message,
        "allMessagesText": item.all_messages_text,
    }


def their_item(item: object) -> Answer:
    assert isinstance(item, dict)
    return {"name": None, "parentSessionPath": None} | item


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """500 session files, each with a file time of its own."""
    random = Random(44)
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in range(500):
        path = folder / f"s{number:03}.jsonl"
        path.write_bytes(listed_session(random) if number % 2 else odd_session(random))
        stamp = CLOCK // 1000 + random.randrange(10**6)
        os.utime(path, (stamp, stamp))
    return folder


def test_list_is_the_one_that_pi_shows(pi: Pi, directory: Path) -> None:
    (theirs,) = pi.ask([{"list": str(directory), "cwd": CWD}])
    assert isinstance(theirs, list)
    assert 300 < len(theirs) < 500
    assert [our_item(item) for item in list_directory(directory, cwd=CWD).sessions] == [
        their_item(item) for item in theirs
    ]


def test_continued_session_is_the_one_that_pi_continues(pi: Pi, directory: Path) -> None:
    newest = sorted(directory.iterdir(), key=lambda path: path.stat().st_mtime)
    newest[-1].write_bytes(b"no header\n")
    os.utime(newest[-1], (CLOCK // 1000 + 10**7, CLOCK // 1000 + 10**7))
    answers = pi.ask([{"recent": str(directory)}, {"recent": str(directory), "cwd": "/home/dev/other"}])
    ours = [most_recent(directory), most_recent(directory, cwd="/home/dev/other")]
    assert [str(path) for path in ours] == answers
    assert ours[0] != ours[1]


def test_directory_of_a_working_directory_is_the_one_that_pi_makes(pi: Pi) -> None:
    cwds = ["/home/dev/project", "/", "/home/dev/my project", "/a/b-c", "/a-b/c", "/x:y\\z", "/Ünï/日本", "/.a/b.c"]
    answers = pi.ask([{"directory": cwd} for cwd in cwds])
    assert [Path(str(answer)).name for answer in answers] == [encode_cwd(cwd) for cwd in cwds]


def test_times_are_read_as_pi_reads_them(pi: Pi, tmp_path: Path) -> None:
    texts = ["2026-01-01T00:00:00.000Z", "2026-01-01", "2026-02-30T00:00:00.000Z", "2026-01-01T00:00:00+01:00", "soon"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.jsonl").write_bytes(header_line().replace(iso(CLOCK).encode(), text.encode()))
    (theirs,) = pi.ask([{"list": str(tmp_path), "cwd": CWD}])
    assert isinstance(theirs, list)
    created = {Path(item["path"]).stem: item["created"] for item in theirs}
    ours = {str(number): time_of(text) for number, text in enumerate(texts)}
    assert {name: None if time is None else iso(time) for name, time in ours.items()} == created
    assert datetime.fromisoformat(created["0"]) == datetime(2026, 1, 1, tzinfo=UTC)
