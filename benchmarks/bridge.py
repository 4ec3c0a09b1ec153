"""Sessions into git as whole commands: `python -m benchmarks.bridge export 100000` and `archive`, `fetch`.

    python -m benchmarks.bridge export [ENTRIES]     a session exported, then one turn more each time
    python -m benchmarks.bridge archive [SIZE] [N]   a session of SIZE and N of 100 kB, beside `git add`, `git commit`
    python -m benchmarks.bridge fetch [N]            N sessions at a remote, and nothing new, beside `git fetch`

All as whole processes with a store that is synced; medians of `--rounds` where more than one run is possible. `pivcs
export --help` is what starting the program takes. The output is Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.generate import session_lines, size_of
from benchmarks.measure import Once, Runs, machine, run_process

PIVCS = (sys.executable, "-m", "pivcs")
AUTHOR = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
          "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
SMALL = 100_000


class Bench:
    """A directory with a project, its sessions and a store, and a table of what commands took."""

    def __init__(self, root: Path, rounds: int) -> None:
        self.root = root
        self.rounds = rounds
        self.project = root / "project"
        self.sessions = root / "sessions"
        for directory in (self.project, self.sessions):
            directory.mkdir()
        self.environment = {**AUTHOR, "PIVCS_DIR": str(root / "store"), "HOME": str(root),
                            "PI_CODING_AGENT_SESSION_DIR": str(self.sessions)}  # fmt: skip
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *arguments: str, at: Path | None = None) -> Once:
        return run_process(["git", "-C", at or self.project, *arguments], self.environment)

    def pivcs(self, *arguments: str | Path, at: Path | None = None) -> Once:
        return run_process([*PIVCS, "-C", at or self.project, *arguments], self.environment)

    def heading(self, text: str) -> None:
        """Begin a table."""
        print(f"\n{text}\n\n| what | seconds | processor, s | peak MB |\n| --- | --- | --- | --- |", flush=True)

    def told(self, what: str, runs: Sequence[Once]) -> None:
        """Print a row of the table: medians."""
        row = Runs()
        for run in runs:
            row.add(run)
        work = sorted(row.work)[len(row.work) // 2]
        print(f"| {what} | {row.median:.2f} | {work:.2f} | {row.peak / 1e6:.0f} |", flush=True)

    def write(self, name: str, size: int, seed: int) -> Path:
        """Write a session of the project in a process of its own, which keeps this one small."""
        path = self.sessions / f"{name}.jsonl"
        made = ("from pathlib import Path; from benchmarks.bridge import make; "
                f"make(Path({str(path)!r}), {size}, {seed}, {str(self.project)!r})")  # fmt: skip
        run_process([sys.executable, "-c", made])
        return path


def make(path: Path, size: int, seed: int, cwd: str) -> None:
    with path.open("wb") as out:
        out.writelines(session_lines(size, seed=seed, cwd=cwd))


def grow(path: Path, number: int) -> None:
    """Append a turn of two entries."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - (1 << 20)))
        last = file.read().rstrip(b"\n").rsplit(b"\n", 1)[-1]
    parent = json.loads(last)["id"]
    with path.open("a") as out:
        for role, first in (("user", 0xE0000000), ("assistant", 0xE0000001)):
            ident = f"{first + 2 * number:08x}"
            message = {"role": role, "content": [{"type": "text", "text": f"More, {number}. " * 20}], "timestamp": 1}
            if role == "assistant":
                message |= {"stopReason": "stop", "model": "m", "provider": "p", "api": "a", "usage": {}}
            entry = {"type": "message", "id": ident, "parentId": parent, "timestamp": "2026-12-01T00:00:00.000Z"}
            out.write(json.dumps({**entry, "message": message}, separators=(",", ":")) + "\n")
            parent = ident


def export(bench: Bench, entries: int) -> None:
    path = bench.write("one", round(entries * 2270), 1)
    bench.pivcs("sync", path)
    review = bench.root / "review"
    with path.open("rb") as file:
        lines = sum(1 for _ in file)
    bench.heading(f"{lines - 1:,} entries, {path.stat().st_size / 1e6:.0f} MB")
    bench.told("first `pivcs export`", [bench.pivcs("export", review, path)])
    bench.told("`pivcs export`, nothing new", [bench.pivcs("export", review, path) for _ in range(bench.rounds)])
    runs = []
    for number in range(bench.rounds):
        grow(path, number)
        bench.pivcs("sync", path)
        runs.append(bench.pivcs("export", review, path))
    bench.told("`pivcs export`, one turn more", runs)
    bench.told("`pivcs export --help`", [bench.pivcs("export", "--help") for _ in range(bench.rounds)])
    bench.told("`git fsck --strict`", [bench.git("fsck", "--strict", "--full", at=review)])


def archive(bench: Bench, size: int, count: int) -> None:
    path = bench.write("large", size, 1)
    bench.pivcs("sync", path)
    copy = bench.project / "large.jsonl"
    copy.write_bytes(path.read_bytes())
    bench.heading(f"One session of {size / 1e6:.0f} MB")
    bench.told("`git add`, `git commit` of the file", [_added(bench)])
    bench.told("first `pivcs archive`", [bench.pivcs("archive", "--yes", path)])
    bench.told("`pivcs archive`, nothing new", [bench.pivcs("archive", "--yes", path) for _ in range(bench.rounds)])
    grown = []
    for number in range(bench.rounds):
        grow(path, number)
        bench.pivcs("sync", path)
        grown.append(bench.pivcs("archive", "--yes", path))
    bench.told("`pivcs archive`, one turn more", grown)
    path.unlink()
    copy.unlink()
    for number in range(count):
        make(bench.sessions / f"{number}.jsonl", SMALL, number, str(bench.project))
        (bench.project / f"{number}.jsonl").write_bytes((bench.sessions / f"{number}.jsonl").read_bytes())
    bench.pivcs("sync")
    bench.heading(f"{count:,} sessions of {SMALL / 1e3:.0f} kB")
    bench.told("`git add`, `git commit` of the files", [_added(bench)])
    bench.told("first `pivcs archive`", [bench.pivcs("archive", "--yes")])
    bench.told("`pivcs archive`, nothing new", [bench.pivcs("archive", "--yes") for _ in range(bench.rounds)])


def _added(bench: Bench) -> Once:
    first, second = bench.git("add", "-A"), bench.git("commit", "-q", "-m", "sessions")
    return Once(first.seconds + second.seconds, max(first.peak, second.peak), b"", first.work + second.work)


def fetch(bench: Bench, count: int) -> None:
    for number in range(count):
        make(bench.sessions / f"{number}.jsonl", SMALL, number, str(bench.project))
    bench.git("commit", "-q", "--allow-empty", "-m", "start")
    far = bench.root / "far.git"
    bench.git("clone", "-q", "--bare", ".", str(far))
    bench.git("remote", "add", "origin", str(far))
    bench.heading(f"{count:,} sessions of {SMALL / 1e3:.0f} kB")
    bench.told("first `pivcs push`", [bench.pivcs("push", "--yes")])
    bench.told("`pivcs push`, nothing new", [bench.pivcs("push", "--yes") for _ in range(bench.rounds)])
    other = bench.root / "other"
    bench.git("clone", "-q", str(far), str(other))
    bench.environment["PIVCS_DIR"] = str(bench.root / "other-store")
    bench.told("first `pivcs fetch`", [bench.pivcs("fetch", at=other)])
    bench.told("`pivcs fetch`, nothing new", [bench.pivcs("fetch", at=other) for _ in range(bench.rounds)])
    bench.told("`git fetch`, nothing new", [bench.git("fetch", "-q", at=other) for _ in range(bench.rounds)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bridge", description="Sessions into git.")
    parser.add_argument("part", choices=("export", "archive", "fetch"))
    parser.add_argument("numbers", nargs="*", metavar="N")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    numbers = [size_of(each) for each in chosen.numbers]
    print(f"{machine()}.\n")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Path(scratch), chosen.rounds)
        if chosen.part == "export":
            export(bench, *(numbers or [100_000]))
        elif chosen.part == "archive":
            archive(bench, *(numbers + [100 << 20, 1000][len(numbers) :]))
        else:
            fetch(bench, *(numbers or [1000]))


if __name__ == "__main__":
    main()
