"""The real pi as a writer: scripted runs with a clock and ids of our choosing, and what it makes of files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.interop.pi import MANAGER, Pi

SCRIPT = Path(__file__).with_name("pi_writing.mjs")


def ask_writer(pi: Pi, requests: Sequence[dict[str, Any]]) -> list[Any]:
    """Return pi's answers to requests as `pi_writing.mjs` describes them, in order. One start of Node."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
    scratch = pi._scratch
    done = subprocess.run(
        [pi._folder / "node", SCRIPT],
        input=json.dumps({"manager": str(pi._folder / MANAGER), "requests": list(requests)}).encode(),
        env=kept | {"HOME": str(scratch), "PI_CODING_AGENT_DIR": str(scratch / "agent")},
        cwd=scratch,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    answers = json.loads(done.stdout)
    assert isinstance(answers, list)
    assert len(answers) == len(requests)
    return answers


def rewrite(pi: Pi, texts: Sequence[str]) -> list[str]:
    """Return each JSON text as the engine writes it after reading it."""
    return [str(text) for text in ask_writer(pi, [{"text": text} for text in texts])]
