"""A line of 200 MB: answered, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import header_line, message_line
from tests.cli.conftest import child_environment

SIZE = 200_000_000
LIMIT = 300_000_000
PIECE = b"QUJD" * 250_000


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An entry of 200 MB between two small ones, and 1 MB without end behind them."""
    path = tmp_path_factory.mktemp("long") / "s.jsonl"
    before, after = message_line("bbbbbbbb", "aaaaaaaa", content="XX").rstrip(b"\n").split(b"XX")
    with path.open("wb") as file:
        file.write(header_line() + message_line("aaaaaaaa") + before)
        for _ in range(SIZE // len(PIECE)):
            file.write(PIECE)
        file.write(after + b"\n" + message_line("cccccccc", "bbbbbbbb"))
        file.write(b'{"type":"message","text":"' + PIECE)
    return path


def run(*arguments: str | Path) -> tuple[subprocess.CompletedProcess[bytes], int]:
    """Run the program; returns what it gave and its peak memory in bytes."""
    code = (
        "import resource, sys; from pivcs.cli import run; code = run(sys.argv[1:]); "
        "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, env=child_environment(), timeout=120
    )
    code_text, peak = found.stderr.split()[-2:]
    assert code_text == b"0", found.stderr
    return found, int(peak) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["log", "--graph"], b"\n* bbbbbbbb user: (200,000,"),
        (["show", "bbbbbbbb"], b"too long to be shown"),
        (["status"], b"Lines:     4: 1 header, 3 entries\n\nline 5, offset 200000"),
    ],
    ids=["log", "show", "status"],
)
def test_long_line_is_answered_in_bounded_memory(long_file: Path, arguments: list[str], said: bytes):
    found, peak = run(arguments[0], long_file, *arguments[1:])
    assert said in found.stdout
    assert len(found.stdout) < 20_000
    assert peak < LIMIT


def test_long_record_is_written_raw_in_pieces(long_file: Path):
    code = (
        "import resource, sys\n"
        "from pivcs.cli import run\n"
        "code = run(sys.argv[1:])\n"
        "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "cat-file", long_file, "bbbbbbbb"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(),
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        size = 0
        while piece := child.stdout.read(1 << 20):
            size += len(piece)
        code_text, peak = child.stderr.read().split()
    assert code_text == b"0"
    assert SIZE < size < SIZE + 1000
    assert int(peak) * 1024 < LIMIT
