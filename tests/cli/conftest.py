"""The program in this process, or as a process of its own, in a home directory that is empty."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from pivcs.cli import run
from tests.conftest import open_databases

REPOSITORY = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Result:
    """What a run gave."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def complaint(self) -> str:
        return self.err.decode()

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)


Program = Callable[..., Result]


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty home, no settings of the user, and a fixed zone."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("COLUMNS", "NO_COLOR", "PAGER", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "LESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PIVCS_DIR", str(home / "store"))
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def pivcs(capfdbinary: pytest.CaptureFixture[bytes]) -> Program:
    """Run the command line in this process; whatever it does, it closes the stores that it opens."""

    def call(*arguments: object) -> Result:
        capfdbinary.readouterr()
        before = open_databases()
        code = run([str(argument) for argument in arguments])
        assert open_databases() <= before
        sys.stdout.flush()
        captured = capfdbinary.readouterr()
        return Result(code, captured.out, captured.err)

    return call


def process(
    *arguments: str | bytes | Path, environ: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the program as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pivcs", *arguments],
        capture_output=True,
        env=child_environment(environ),
        cwd=cwd,
        timeout=60,
    )


def child_environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process that finds the package from any directory."""
    return os.environ | {"PYTHONPATH": str(REPOSITORY)} | (more or {})
