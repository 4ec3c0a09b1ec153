"""What a small command does not wait for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.builders import build_session
from tests.cli.conftest import child_environment

HEAVY = ("msgspec", "wcwidth", "hypothesis", "pytest", "dulwich", "difflib", "asyncio", "http", "email")


def imported_by(*arguments: str) -> set[str]:
    code = (
        "import sys; from pivcs.cli import run; code = run(sys.argv[1:]); "
        "print(code, *sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, env=child_environment(), timeout=60, text=True
    )
    code_text, *modules = found.stderr.split()
    assert code_text == "0"
    return set(modules)


def test_small_log_imports_nothing_that_it_does_not_use(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c, b-d", labels={"c": "x"}))
    for arguments in (["log"], ["log", "--graph"], ["log", "--oneline", "--max-count=1"], ["status"]):
        modules = imported_by(*arguments, str(path))
        assert "blake3" in modules
        assert not modules & set(HEAVY), (arguments, modules & set(HEAVY))


def test_a_command_imports_no_other_command():
    code = "import sys, pivcs.cli; print(*[name for name in sys.modules if name.startswith('pivcs.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, env=child_environment(), text=True)
    assert set(found.stdout.split()) == {"pivcs.cli", "pivcs.errors"}
