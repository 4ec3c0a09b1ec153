"""Transcripts: what the program prints, read and approved as a whole.

A transcript has commands (`$ pivcs ...`), each followed by its standard output, its standard error (`2> `) and, when it
is not 0, its exit code (`[exit 10]`). They run in a directory with the files of `sessions.py`; `$DIR` stands for
it, `␛` for an escape. A blank line and `#` begin comments before a command. PIVCS_UPDATE_GOLDEN=1 writes what the
program prints now: read the difference like code.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.cli import run
from tests.golden.sessions import MORE_SESSIONS, SESSIONS

HERE = Path(__file__).parent
UPDATE = os.environ.get("PIVCS_UPDATE_GOLDEN") == "1"
TRANSCRIPTS = sorted(HERE.glob("*.txt"))
FIXTURES = os.environ.get("PIVCS_FIXTURES")
OF_FIXTURES = sorted((HERE / "fixtures").glob("*.txt"))
"""Transcripts of sessions that the real client wrote; each is about the one that it is called after."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = Path(os.path.realpath(tmp_path)) / "sessions"
    directory.mkdir()
    for name, data in SESSIONS.items():
        (directory / name).write_bytes(data)
    for name in list(os.environ):
        if name.startswith(("PI_", "PIVCS_", "LC_")) or name in ("NO_COLOR", "COLUMNS", "PAGER", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "store"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.chdir(directory)
    yield directory
    monkeypatch.undo()
    time.tzset()


def commands_of(text: str) -> list[list[str]]:
    """Return the lines of comment before each command, and the command's line."""
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.startswith(("# ", "$ ")):
            found[-1].append(line)
        if line.startswith("$ "):
            found.append([])
    return found[:-1]


def printed(words: list[str], place: Path, capture: pytest.CaptureFixture[bytes]) -> str:
    assert words[0] == "pivcs"
    capture.readouterr()
    code = run(words[1:])
    sys.stdout.flush()
    out, err = (text.decode().replace(str(place), "$DIR").replace("\x1b", "␛") for text in capture.readouterr())
    done = out if not out or out.endswith("\n") else out + "\\\n"
    done += "".join(f"2> {line}\n" for line in err.splitlines())
    return done + (f"[exit {code}]\n" if code else "")


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(
    transcript: Path, place: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
):
    for name, data in MORE_SESSIONS.get(transcript.stem, {}).items():
        (place / name).write_bytes(data)
    check(transcript, place, capfdbinary, monkeypatch)


@pytest.mark.skipif(FIXTURES is None, reason="PIVCS_FIXTURES is not set")
@pytest.mark.parametrize("transcript", OF_FIXTURES, ids=lambda path: path.stem)
def test_transcript_of_a_fixture(
    transcript: Path, place: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
):
    name = f"{transcript.stem}.jsonl"
    (place / name).write_bytes((Path(str(FIXTURES)) / "pi" / name).read_bytes())
    check(transcript, place, capfdbinary, monkeypatch)


def check(
    transcript: Path, place: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the commands of a transcript and compare, or write down, what they print."""
    text = transcript.read_text(encoding="utf-8")
    made = []
    for lines in commands_of(text):
        words = shlex.split(lines[-1][2:])
        columns = words.pop(0).partition("=")[2] if words[0].startswith("COLUMNS=") else ""
        monkeypatch.setenv("COLUMNS", columns)
        made.append("".join(f"{line}\n" for line in lines) + printed(words, place, capfdbinary))
    now = "\n".join(made)
    if UPDATE:
        transcript.write_text(now, encoding="utf-8")
        text = now
    assert made, "a transcript without commands"
    assert now == text


def test_there_are_transcripts():
    assert len(TRANSCRIPTS) >= 5
    assert len(OF_FIXTURES) >= 12
