"""What all parts share: made-up sessions, stores that know them, and how pi and pivcs are run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.measure import Once, Runs, run_process
from benchmarks.reading import HERE, MANAGER

STORE = "store.db"


@dataclass(slots=True)
class Bench:
    """One run of the benchmarks. `interop` is None when the real pi is left out."""

    interop: Path | None
    scratch: Path
    rounds: int
    seed: int = 1
    _sessions: dict[str, Path] = field(default_factory=dict)

    def session(self, size: str) -> Path:
        """Return a session file of a size, written when it is asked for first."""
        if size not in self._sessions:
            path = self.scratch / f"{size}.jsonl"
            # In a process of its own: see `run_process` for why this one stays small.
            self.python("benchmarks.generate", "--size", size, "--seed", str(self.seed), path)
            self._sessions[size] = path
        return self._sessions[size]

    def store_dir(self, size: str) -> Path:
        """Return the directory of a store that knows the session of a size as it is now."""
        directory = self.scratch / f"store-{size}"
        self.pivcs(directory, "sync", self.session(size))
        return directory

    def python(self, module: str, *arguments: str | Path, environment: dict[str, str] | None = None) -> Once:
        """Run a Python module as a process."""
        return run_process([sys.executable, "-m", module, *arguments], self.sealed() | (environment or {}))

    def pivcs(self, store: Path, *arguments: str | Path) -> Once:
        """Run a command of pivcs as a process, with the store in a directory."""
        return self.python("pivcs", *arguments, environment={"PIVCS_DIR": str(store)})

    def pi(self, file: Path) -> Once:
        """Let the real pi open a session file."""
        assert self.interop is not None
        command = [self.interop / "node", HERE / "peers/pi_open.mjs", self.interop / MANAGER, file]
        return run_process(command, self.sealed())

    def sealed(self) -> dict[str, str]:
        """Return an environment in which nobody's own sessions, store or settings are seen."""
        home = self.scratch / "home"
        home.mkdir(exist_ok=True)
        return {
            "HOME": str(home),
            "PI_CODING_AGENT_DIR": str(home / "agent"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
        }


def emptied(directory: Path) -> Path:
    """Return a directory's path after everything in it was deleted."""
    shutil.rmtree(directory, ignore_errors=True)
    return directory


def size_of_store(directory: Path) -> int:
    """Return the bytes of a store, its log included."""
    return sum(path.stat().st_size for path in directory.glob(f"{STORE}*"))


def has_command(name: str) -> bool:
    """Whether pivcs has a command."""
    from pivcs.cli import COMMANDS

    return name in COMMANDS


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, each row as soon as it is there."""
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def ratio(part: float, whole: float | None) -> str:
    """Return a ratio with two or three digits that mean something; nothing without a whole."""
    if not whole:
        return ""
    quotient = part / whole
    return f"{quotient:.2f}" if quotient >= 0.1 else f"{quotient:.3f}" if quotient >= 0.01 else f"1/{1 / quotient:,.0f}"


def spread(seconds: Sequence[float]) -> str:
    """Return the smallest and the largest of some times."""
    return f"{min(seconds):.3f}-{max(seconds):.3f}"


def milliseconds(seconds: Sequence[float]) -> tuple[str, str]:
    """Return the median and the 95th of a hundred, in milliseconds."""
    ordered = sorted(seconds)
    return f"{1000 * median(ordered):.2f}", f"{1000 * ordered[(len(ordered) - 1) * 95 // 100]:.2f}"


def megabytes(size: float) -> str:
    """Return a size in units of 1,000,000 bytes."""
    return f"{size / 1e6:,.0f}" if size >= 1e7 else f"{size / 1e6:.1f}"


def seconds_of(runs: Runs) -> tuple[str, str]:
    """Return the median and the range of some runs."""
    return f"{runs.median:.3f}", spread(runs.seconds)


def work_of(runs: Runs) -> str:
    """Return the median of the processor time."""
    return f"{median(runs.work):.3f}"


def interop_or_none(*, wanted: bool) -> Path | None:
    """Return where the real pi is; None when it is not wanted. Raises FileNotFoundError."""
    if not wanted:
        return None
    place = Path(os.environ.get("PIVCS_INTEROP_DIR") or HERE.parent / ".cache/interop")
    if not (place / MANAGER).exists():
        raise FileNotFoundError(f"the real pi is not in '{place}': run .ci/interop-install, or give --without-pi")
    return place
