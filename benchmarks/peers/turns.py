"""Record a session turn by turn, in three ways at once: `turns COUNT SIZE SCRATCH`. Prints a JSON object.

After each turn the same new lines are appended to three copies of the session; then `git add` and `git commit` record
the first, a `pivcs sync` process the second, and a sync in this process the third. In turn, so that what disturbs the
machine hits all three.
"""

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

from benchmarks.generate import session_lines, size_of
from pivcs.ops.sync import sync_file
from pivcs.store.store import Store

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def split(lines: list[bytes], count: int) -> list[bytes]:
    """Return the bytes of `count` turns of about as many lines each."""
    bounds = [len(lines) * number // count for number in range(count + 1)]
    return [b"".join(lines[start:stop]) for start, stop in pairwise(bounds)]


def size_on_disk(directory: Path) -> int:
    """Return the bytes of all files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def main() -> None:
    count, scratch = int(sys.argv[1]), Path(sys.argv[3])
    turns = split(list(session_lines(size_of(sys.argv[2]))), count)
    repository, stored = scratch / "repository", scratch / "stored"
    files = [repository / "session.jsonl", stored / "process.jsonl", stored / "inside.jsonl"]
    repository.mkdir(parents=True)
    stored.mkdir()
    environment = {**os.environ, **GIT, "HOME": str(scratch), "PIVCS_DIR": str(scratch / "by-process")}

    def run(*command: str | Path) -> None:
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)

    git = ("git", "-C", repository, "-c", "gc.auto=0")
    run("git", "init", "--quiet", repository)

    def by_git() -> None:
        run(*git, "add", "session.jsonl")
        run(*git, "commit", "--quiet", "-m", "turn")

    seconds: dict[str, list[float]] = {"git": [], "process": [], "inside": []}
    with Store.open(scratch / "inside/store.db", create=True) as store:
        ways = {
            "git": by_git,
            "process": lambda: run(sys.executable, "-m", "pivcs", "sync", "-q", files[1]),
            "inside": lambda: sync_file(store, files[2], 0),
        }
        for turn in turns:
            for file, (name, way) in zip(files, ways.items(), strict=True):
                with file.open("ab") as out:
                    out.write(turn)
                begin = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - begin)
    sizes = {
        "raw": sum(map(len, turns)),
        "git": size_on_disk(repository / ".git"),
        "process": size_on_disk(scratch / "by-process"),
        "inside": size_on_disk(scratch / "inside"),
    }
    begin = time.perf_counter()
    run(*git, "gc", "--quiet")
    packed = {"seconds": time.perf_counter() - begin, "size": size_on_disk(repository / ".git")}
    print(json.dumps({"seconds": seconds, "sizes": sizes, "git_gc": packed}))


if __name__ == "__main__":
    main()
