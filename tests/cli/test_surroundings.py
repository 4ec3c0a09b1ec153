"""What surrounds the program goes wrong: streams that are closed or full, a directory that is gone, names too long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.builders import build_session


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(build_session("a-b-c"))
    return path


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a script of /bin/sh in which `$P` is the program."""
    environ = {**os.environ, "P": f"{sys.executable} -m pivcs", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(["/bin/sh", "-c", script], cwd=cwd, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["log", "status", "ls", "sync --full", "--help", "log --help", "--version"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_full_output_is_said(file: Path, command: str) -> None:
    target = "" if "--help" in command or "--version" in command else " session.jsonl"
    done = shell(f"$P {command}{target} >/dev/full", file.parent)
    assert (done.returncode, done.stderr) == (20, "pivcs: cannot write to standard output: no space left on device\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_survived(file: Path, closed: str) -> None:
    done = shell(f"$P log session.jsonl {closed}", file.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert file.read_bytes() == build_session("a-b-c")


def test_directory_that_is_gone_is_said(file: Path, tmp_path: Path) -> None:
    shown = f"$P -C '{tmp_path}' log -n 1 --oneline session.jsonl"
    done = shell(f"mkdir d; cd d; rmdir ../d; $P ls; echo $?; {shown}", tmp_path)
    assert done.stdout == "20\ncccccccc (HEAD -> main) user: c\n"
    assert done.stderr.startswith("pivcs: the current directory cannot be told: ")
    assert "hint: change to another one" in done.stderr


@pytest.mark.parametrize("command", ["sync {}", "ls {}", "--store {}", "log {}/session.jsonl"])
def test_names_that_are_too_long_are_said(file: Path, command: str) -> None:
    words = command.format("x" * 300)
    done = shell(f"$P {'log ' + words + ' session.jsonl' if words.startswith('--') else words}", file.parent)
    assert done.returncode in (10, 20)
    assert "too long" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.04, 0.08])
def test_interrupt_while_modules_are_imported_ends_quietly(file: Path, delay: float) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = (
        "import sys; print('up', flush=True); sys.argv[1:] = ['log', 'session.jsonl']; "
        "import pivcs.__main__ as m; m.main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=file.parent, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate()
    # It may have been done before, or be in the interpreter's own hands still.
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert process.returncode == -signal.SIGINT or not complaint.strip()
