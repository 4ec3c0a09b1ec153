"""A line of 200 MB: answered, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.builders import header_line, message_line
from tests.cli.conftest import child_environment

SIZE = 200_000_000
LIMIT = 300_000_000
PIECE = b"QUJD" * 250_000
RUN = (
    "import sys; from pivcs.cli import run; from tests.memory import peak; "
    "code = run(sys.argv[1:]); print(code, peak(), file=sys.stderr)"
)


def long_file(path: Path) -> Path:
    """Write an entry of 200 MB between two small ones, and 1 MB without end behind them."""
    before, after = message_line("bbbbbbbb", "aaaaaaaa", content="XX").rstrip(b"\n").split(b"XX")
    with path.open("wb") as file:
        file.write(header_line() + message_line("aaaaaaaa") + before)
        for _ in range(SIZE // len(PIECE)):
            file.write(PIECE)
        file.write(after + b"\n" + message_line("cccccccc", "bbbbbbbb"))
        file.write(b'{"type":"message","text":"' + PIECE)
    return path


def test_every_command_answers_in_bounded_memory(tmp_path: Path):
    path = long_file(tmp_path / "s.jsonl")
    for arguments, said in (
        (["log", "--graph"], b"\n* bbbbbbbb user: (200,000,"),
        (["show", "bbbbbbbb"], b"too long to be shown"),
        (["status"], b"Lines:     4: 1 header, 3 entries\n"),
        (["status", "--json"], b'"kind":"pending-line","line":5,"offset":200000'),
    ):
        command = [sys.executable, "-c", RUN, arguments[0], path, *arguments[1:]]
        found = subprocess.run(command, capture_output=True, env=child_environment(), timeout=120)
        code, peak = found.stderr.split()
        assert code == b"0"
        assert said in found.stdout
        assert len(found.stdout) < 20_000
        assert int(peak) < LIMIT
    command = [sys.executable, "-c", RUN, "cat-file", path, "bbbbbbbb"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=child_environment()) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        size = 0
        while piece := child.stdout.read(1 << 20):
            size += len(piece)
        code, peak = child.stderr.read().split()
    assert code == b"0"
    assert SIZE < size < SIZE + 1000
    assert int(peak) < LIMIT
