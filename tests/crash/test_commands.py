"""Commands that write sessions are killed before each of their calls of the system: files are the old or the new ones.

`PIVCS_CRASH_ROUNDS` over 50 (as `.ci/soak` sets it) also kills them at that many random moments.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from pivcs.cli import run
from pivcs.ops.demo import CWD, demo_session
from tests.builders import header_line, line
from tests.crash.writing import kill_after, start

ROUNDS = int(os.environ.get("PIVCS_CRASH_ROUNDS", "50"))
CALLS = ("fsync", "ftruncate", "link", "mkdir", "open", "rename", "replace", "rmdir", "unlink", "write")
MOST = 200
"""Calls that no command comes near to."""

COMMANDS = {
    "append": ["append", "{session}", "--user", "Go on."],
    "label": ["label", "-s", "{session}", "good", "main"],
    "rename": ["rename", "-s", "{session}", "another name"],
    "new": ["new", "--cwd", "{project}", "--user", "Begin."],
    "checkout": ["checkout", "{session}", "main", "-o", "{project}/back.jsonl"],
    "checkout in place": ["checkout", "{session}", "main", "--in-place"],
    "switch": ["switch", "{session}", "main", "--summary", "It was too slow."],
    "fork": ["fork", "{session}", "main"],
    "fork into": ["fork", "{session}", "--into", "{project}"],
    "migrate": ["migrate", "{old}", "-o", "{project}/migrated.jsonl"],
    "cherry-pick": ["cherry-pick", "{session}", "main~6..main", "--onto", "HEAD"],
    "delete": ["delete", "{session}", "--yes", "--permanent"],
}
TAKEN = 20
"""Exit code when a file is there already: it was complete before the process was killed."""


class Place:
    """A project with a session of version 3 and one of version 1, and a store that knows both."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.sessions = root / "sessions"
        for directory in (self.project, self.sessions):
            directory.mkdir(parents=True)
        self.session = self.sessions / "session.jsonl"
        self.old = self.sessions / "old.jsonl"
        self.session.write_bytes(demo_session().replace(CWD.encode(), str(self.project).encode()))
        first = {"type": "message", "message": {"role": "user", "content": "Hi."}}
        self.old.write_bytes(header_line("old", version=None, cwd=str(self.project)) + line(first))
        self.before = {path: path.read_bytes() for path in (self.session, self.old)}
        assert run(["sync", "--quiet", str(self.sessions)]) == 0

    def arguments(self, name: str) -> list[str]:
        """Return a command line."""
        places = {"session": self.session, "old": self.old, "project": self.project}
        return [word.format(**places) for word in COMMANDS[name]]

    def check(self, *, may_be_gone: bool) -> None:
        """Every session file is whole and has what it had; the store is whole and has it, too."""
        for path, data in self.before.items():
            if not (may_be_gone and not path.exists()):
                assert path.read_bytes().startswith(data)
        for path in (*self.sessions.rglob("*.jsonl"), *self.project.rglob("*.jsonl")):
            data = path.read_bytes()
            assert data.endswith(b"\n"), path
            assert next(json.loads(each) for each in data.splitlines())["type"] == "session"
        assert run(["fsck", "--no-sources"]) == 0
        assert run(["cat", str(self.session)]) == 0
        if not self.session.exists():
            # It may have gone before the operation was written down; the store has it in any case.
            run(["undo"])
            if not self.session.exists():
                output = str(self.project / "again.jsonl")
                assert run(["checkout", str(self.session), "main", "-o", output]) in (0, TAKEN)


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _killed_before_call(arguments: list[str], number: int) -> bool:
    """Run a command in a child that is killed before one of its calls; returns whether it came so far."""

    def act() -> None:
        calls = 0

        def counted(name: str) -> None:
            original = getattr(os, name)

            def call(*given: object, **options: object) -> object:
                nonlocal calls
                calls += 1
                if calls == number:
                    _die()
                return original(*given, **options)

            setattr(os, name, call)

        for name in CALLS:
            counted(name)
        code = run(arguments)
        if code != 0:
            raise AssertionError(f"exit code {code}")

    _, status = os.waitpid(start(act), 0)
    assert status in (0, signal.SIGKILL), "the child process failed, see its output"
    return status == signal.SIGKILL


@pytest.fixture(autouse=True)
def sessions_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pi's directory be one of the test's own."""
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_the_old_or_the_new_file(
    tmp_path: Path, name: str, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = 0
    for number in range(1, MOST):
        root = tmp_path / str(number)
        monkeypatch.setenv("PIVCS_DIR", str(root / "store"))
        place = Place(root)
        if not _killed_before_call(place.arguments(name), number):
            break
        killed += 1
        place.check(may_be_gone=name == "delete")
        if name != "delete" or place.session.exists():
            assert run(place.arguments(name)) in (0, TAKEN)
        place.check(may_be_gone=name == "delete")
    else:
        pytest.fail(f"more than {MOST} calls")
    assert killed >= 1
    capfdbinary.readouterr()


def _run(arguments: list[str]) -> None:
    run(arguments)


@pytest.mark.skipif(ROUNDS <= 50, reason="by hand: .ci/soak")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_at_any_moment_leaves_the_old_or_the_new_file(
    tmp_path: Path, name: str, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = random.Random(name)
    for number in range(ROUNDS // len(COMMANDS)):
        root = tmp_path / str(number)
        monkeypatch.setenv("PIVCS_DIR", str(root / "store"))
        place = Place(root)
        begun = time.monotonic()
        run(["sync", "--quiet", str(place.sessions)])
        usual = 3 * (time.monotonic() - begun)
        kill_after(start(partial(_run, place.arguments(name))), moments.uniform(0, usual))
        place.check(may_be_gone=name == "delete")
        capfdbinary.readouterr()
