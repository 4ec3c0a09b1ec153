"""Files of any size are read in pieces. The number is that of the list; the original has 600 MB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.builders import header_line, message_line
from tests.cli.conftest import child_environment

MEMORY = """
import sys
from pathlib import Path
from pivcs.ops.view import open_file
from tests.memory import peak
with open_file(Path(sys.argv[1])) as view:
    print(len(view.table), view.head, view.table.end)
    print(peak())
"""


def test_memory_follows_the_number_of_entries_not_of_bytes(tmp_path: Path):
    """case 55"""
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.write(header_line())
        for number in range(4_000):
            file.write(message_line(f"{number:08x}", f"{number - 1:08x}" if number else None, content="word " * 5_000))
    size = path.stat().st_size
    assert size > 100_000_000
    found = subprocess.run(
        [sys.executable, "-c", MEMORY, path], capture_output=True, env=child_environment(), check=True, timeout=60
    )
    counts, peak = found.stdout.split(b"\n")[:2]
    assert counts.split() == [b"4001", b"4000", str(size).encode()]
    assert int(peak) < 80_000_000
