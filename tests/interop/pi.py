"""The real pi as a peer: where it is, and asking it about session files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("pi_answers.mjs")
MANAGER = Path("node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js")

Answer = dict[str, object]


class Pi:
    """pi installed in a folder. One start of Node answers many requests; pi's home is the empty `scratch`."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder = folder
        self._scratch = scratch
        self._copies = 0

    def ask(self, requests: Sequence[dict[str, str]]) -> list[object]:
        """Return pi's answers to requests as `pi_answers.mjs` describes them, in order."""
        agent_dir = self._scratch / "agent"
        # pi must see neither the person's sessions nor their settings.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
        done = subprocess.run(
            [self._folder / "node", SCRIPT],
            input=json.dumps({"manager": str(self._folder / MANAGER), "requests": list(requests)}).encode(),
            env=kept | {"HOME": str(self._scratch), "PI_CODING_AGENT_DIR": str(agent_dir)},
            cwd=self._scratch,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        answers = json.loads(done.stdout)
        assert len(answers) == len(requests)
        return answers

    def open(self, files: Sequence[bytes]) -> list[Answer]:
        """Return what pi says after opening a copy of each file."""
        copies = [self.copy(data) for data in files]
        answers = self.ask([{"open": str(path)} for path in copies])
        for path in copies:
            path.unlink()
        return [answer for answer in answers if isinstance(answer, dict)]

    def copy(self, data: bytes) -> Path:
        """Write a file that pi may change, and return its path."""
        self._copies += 1
        path = self._scratch / f"copy-{self._copies}.jsonl"
        path.write_bytes(data)
        return path


def find_pi() -> Path:
    """Return the folder with Node and pi; without one the test is skipped, or fails with PIVCS_REQUIRE_INTEROP=1."""
    folder = Path(os.environ.get("PIVCS_INTEROP_DIR") or ROOT / ".cache/interop")
    if (folder / "node").exists() and (folder / MANAGER).exists():
        return folder
    missing = "the real pi is not installed: run .ci/interop-install"
    if os.environ.get("PIVCS_REQUIRE_INTEROP") == "1":
        pytest.fail(missing)
    pytest.skip(missing)
