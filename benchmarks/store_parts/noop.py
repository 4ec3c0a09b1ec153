"""A sync of a thousand sessions with nothing new, beside `git status` of the same files committed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.generate import session_lines
from benchmarks.measure import Once, Runs, alternate, run_process
from benchmarks.peers.turns import GIT
from benchmarks.store_parts.bench import STORE, Bench, print_table, ratio, seconds_of, work_of

SESSIONS, PROJECTS, SIZE = 1_000, 20, 20_000
ALL, INSIDE, STATUS, START = "`pivcs sync --all`", "the same, in process", "`git status`", "`pivcs sync --help`"


def noop(bench: Bench, sizes: Sequence[str]) -> None:
    """Print how long a sync without news takes; the sizes play no part. Raises RuntimeError when it writes."""
    columns = ["what", "seconds", "range", "of `git status`", "CPU seconds"]
    title = f"Sync of {SESSIONS:,} sessions in {PROJECTS} projects with nothing new"
    print_table(title, columns, _rows(bench))


def write_sessions(root: Path, count: int, size: int) -> None:
    """Write sessions, equal but for their headers, into directories for projects, and commit them with git."""
    lines = list(islice(session_lines(size), 10_000))
    header = json.loads(lines[0])
    for number in range(count):
        project = root / f"--home-dev-project-{number % PROJECTS:02}--"
        project.mkdir(parents=True, exist_ok=True)
        own = {**header, "id": f"{header['id'][:-6]}{number:06x}", "cwd": f"/home/dev/project-{number % PROJECTS:02}"}
        first = json.dumps(own, separators=(",", ":")).encode() + b"\n"
        (project / f"2026-01-01T00-00-00-000Z_{own['id']}.jsonl").write_bytes(first + b"".join(lines[1:]))


def _rows(bench: Bench) -> Iterator[Sequence[str]]:
    agent, store = bench.scratch / "agent", bench.scratch / "noop"
    root = agent / "sessions"
    write_sessions(root, SESSIONS, SIZE)
    environment = {"PI_CODING_AGENT_DIR": str(agent), "PIVCS_DIR": str(store)}

    def git(*arguments: str) -> Once:
        return run_process(["git", "-C", root, *arguments], bench.sealed() | GIT)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "sessions")
    bench.python("pivcs", "sync", "--all", environment=environment)
    before = fingerprint(store)
    competitors = {
        STATUS: lambda: git("status", "--porcelain"),
        ALL: lambda: bench.python("pivcs", "sync", "--all", environment=environment),
        START: lambda: bench.python("pivcs", "sync", "--help", environment=environment),
    }
    results = alternate(competitors, max(bench.rounds, 9))
    inside = bench.python("benchmarks.peers.sync_all", str(max(bench.rounds, 9)), agent, store / STORE)
    results[INSIDE] = Runs(json.loads(inside.output), inside.peak)
    if fingerprint(store) != before:
        raise RuntimeError("a sync with nothing new has changed the store")
    for name, runs in results.items():
        work = work_of(runs) if runs.work else ""
        yield name, *seconds_of(runs), ratio(runs.median, results[STATUS].median), work


def fingerprint(directory: Path) -> dict[str, str]:
    """Return the names of a store's files and digests of their bytes; an empty log counts as none.

    SQLite's shared memory beside the log is no part of the store.
    """
    return {
        name: hashlib.sha256((directory / name).read_bytes()).hexdigest()
        for name in sorted(os.listdir(directory))
        if not name.endswith("-shm") and (directory / name).stat().st_size
    }
