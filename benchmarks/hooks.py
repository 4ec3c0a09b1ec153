"""What the hooks add to `git commit`: `python -m benchmarks.hooks`.

Empty commits in two repositories in turn, one with the hooks of pivcs and one without, in the same process. What the
hooks start in the background is the real thing, and is waited for at the end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from benchmarks.measure import machine
from pivcs.gitbridge.hooks import install_hooks
from pivcs.gitbridge.hooks_place import own_place
from pivcs.gitbridge.repository import find_repository

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        program = place / "bin" / "pivcs"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -P -m pivcs \"$@\"\n")
        program.chmod(0o755)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environ |= {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(place)}
        environ |= {"PIVCS_DIR": str(place / "store"), "GIT_CONFIG_NOSYSTEM": "1"}
        plain, hooked = (_repository(place / word, environ) for word in ("plain", "hooked"))
        install_hooks(own_place(find_repository(str(hooked))), None)
        seconds: dict[Path, list[float]] = {plain: [], hooked: []}
        for _ in range(rounds + 1):
            for repository, found in seconds.items():
                begin = time.perf_counter()
                _git(repository, environ, "commit", "-q", "--allow-empty", "-m", "m")
                found.append(time.perf_counter() - begin)
        queue = hooked / ".git" / "pivcs"
        while any((queue / each).exists() for each in ("hooks.queue", "hooks.taken")):
            time.sleep(0.1)
        log = (queue / "hooks.log").read_text()
    print(f"{machine()}; medians of {rounds} rounds after one that does not count\n")
    print("| what | ms | middle half |")
    print("|---|---|---|")
    for repository, what in ((plain, "`git commit`"), (hooked, "`git commit` with the hooks")):
        found = seconds[repository][1:]
        first, _, third = quantiles(found, n=4)
        print(f"| {what} | {1000 * median(found):.1f} | {1000 * first:.1f}-{1000 * third:.1f} |")
    added = median(b - a for a, b in zip(seconds[plain][1:], seconds[hooked][1:], strict=True))
    print(f"\nadded: {1000 * added:.1f} ms; calls of `pivcs sync` afterwards: {log.count(' pivcs sync ')}")


def _repository(place: Path, environ: dict[str, str]) -> Path:
    place.mkdir()
    _git(place, environ, "init", "-q")
    for key, value in (("user.name", "a"), ("user.email", "a@example.com"), ("gc.auto", "0")):
        _git(place, environ, "config", key, value)
    return place


def _git(place: Path, environ: dict[str, str], *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=place, env=environ, check=True, capture_output=True)


if __name__ == "__main__":
    main()
