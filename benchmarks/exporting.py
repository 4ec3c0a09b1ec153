"""Writing commits into git beside git's own `fast-import`: `python -m benchmarks.exporting --commits 10000`.

    python -m benchmarks.exporting [--rounds N] [--commits N] [--only NAMES]

Made-up commits have the shape of review commits: each makes the page of its turn longer (a directory of pages for each
hundred turns), and every third edits one of 400 source files. All competitors write the same commits; their ids must be
the same. Trust the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from benchmarks.measure import Runs, machine, run_process
from benchmarks.vocabulary import COMMON, TECHNICAL, VERBS
from pivcs.gitbridge.deltas import splice_delta
from pivcs.gitbridge.objects import BLOB, COMMIT, FILE_MODE, TREE, Identity, commit_bytes, object_id
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.trees import EMPTY, Change, changed

COMMITS_PER_TURN: Final = 20
SOURCES: Final = 400


class Edit(NamedTuple):
    """A file after a commit: `data[start:end]` is what stands for `removed` bytes of what it was."""

    path: bytes
    data: bytes
    start: int
    end: int
    removed: int


class Commit(NamedTuple):
    """One commit on top of the one before."""

    time: int
    message: bytes
    edits: list[Edit]


def commits(count: int) -> Iterator[Commit]:
    """Yield the same commits every time."""
    chance = random.Random(7)
    words = [word.encode() for word in (*COMMON, *TECHNICAL, *VERBS)]

    pool = b" ".join(chance.choices(words, k=1 << 16))

    def prose(length: int) -> bytes:
        start = int(chance.random() * (len(pool) - length * 7))
        return pool[start : start + length * 7]

    sources: list[tuple[bytes, bytes]] = []
    for number in range(SOURCES):
        path = b"src/pkg%02d/mod%02d.py" % (number // 20, number % 20)
        sources.append((path, b"".join(b"    " + prose(8) + b"\n" for _ in range(chance.randrange(20, 200)))))
    page = b""
    first = [Edit(path, data, 0, len(data), 0) for path, data in sources]
    for number in range(count):
        turn, step = divmod(number, COMMITS_PER_TURN)
        if not step:
            page = b""
        piece = b"### " + prose(4) + b"\n\n" + prose(chance.randrange(20, 260)) + b"\n\n"
        path = b".pivcs/turns/%02d/%04d/00.md" % (turn // 100, turn)
        edits = [*first, Edit(path, page + piece, len(page), len(page) + len(piece), 0)]
        first = []
        page += piece
        if number % 3 == 2:
            place = chance.randrange(SOURCES)
            name, data = sources[place]
            start = chance.randrange(len(data))
            line = b"    " + prose(8) + b"\n"
            end = min(len(data), start + 60)
            data = data[:start] + line + data[end:]
            sources[place] = name, data
            edits.append(Edit(name, data, start, start + len(line), end - start))
        trailers = b"\n\nPivcs-Node: %064x\nPivcs-Entry: %08x\n" % (number, number)
        yield Commit(1_700_000_000 + number * 7, b"assistant: " + prose(6) + b"\n\n" + prose(40) + trailers, edits)


def identity(time: int) -> Identity:
    return Identity(b"pivcs", b"pivcs@example.org", time)


def by_pivcs(objects: Path, count: int, deflate: Callable[[bytes], bytes] | None = None) -> bytes:
    """Write with the pack writer of pivcs."""
    tip: list[bytes] = []
    tree = EMPTY
    blobs: dict[bytes, tuple[bytes, int]] = {}
    with PackWriter(objects, deflate=deflate) as writer:
        for commit in commits(count):
            changes: list[Change] = []
            for edit in commit.edits:
                base, size = blobs.get(edit.path, (None, 0))
                delta = None
                if base is not None and edit.start + edit.removed <= size:
                    new = edit.data[edit.start : edit.end]
                    delta = splice_delta(size, edit.start, edit.start + edit.removed, new)
                blob = writer.add(BLOB, edit.data, base, delta)
                blobs[edit.path] = blob, len(edit.data)
                changes.append((tuple(edit.path.split(b"/")), (FILE_MODE, blob)))
            tree = changed(writer, tree, changes)
            who = identity(commit.time)
            tip = [writer.add(COMMIT, commit_bytes(tree.ident, tip, who, who, commit.message))]
        writer.finish()
        writer.release()
    return tip[0]


def by_zlib(objects: Path, count: int) -> bytes:
    """Write with the pack writer of pivcs and Python's zlib."""
    import zlib

    return by_pivcs(objects, count, lambda data: zlib.compress(data, 1))


def by_fast_import(objects: Path, count: int) -> bytes:
    """Feed git's own importer."""
    process = subprocess.Popen(
        ["git", "-C", str(objects.parent), "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE
    )
    assert process.stdin is not None
    _feed(process.stdin, count)
    process.stdin.close()
    if process.wait():
        raise RuntimeError("git fast-import failed")
    shown = subprocess.run(
        ["git", "-C", str(objects.parent), "rev-parse", "refs/heads/main"], capture_output=True, check=True
    )
    return bytes.fromhex(shown.stdout.decode().strip())


def _feed(to: IO[bytes], count: int) -> None:
    for commit in commits(count):
        who = b"pivcs <pivcs@example.org> %d +0000" % commit.time
        out = [b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata %d\n" % (who, who, len(commit.message))]
        out.append(commit.message)
        for edit in commit.edits:
            out.append(b"M 100644 inline %s\ndata %d\n" % (edit.path, len(edit.data)))
            out += (edit.data, b"\n")
        to.write(b"".join(out))
    to.write(b"done\n")


def by_dulwich(objects: Path, count: int) -> bytes:
    """Write with dulwich's pack writer, which is given finished objects."""
    from dulwich.object_format import SHA1
    from dulwich.pack import UnpackedObject, write_pack_data, write_pack_index

    found: dict[bytes, UnpackedObject] = {}

    class Collecting(PackWriter):
        def add(self, kind: int, data: bytes, base: bytes | None = None, delta: bytes | None = None) -> bytes:
            ident = object_id(kind, data)
            if ident not in found:
                found[ident] = UnpackedObject(kind, decomp_chunks=[data], sha=ident)
            return ident

    tip: list[bytes] = []
    tree = EMPTY
    writer = Collecting(objects)
    for commit in commits(count):
        changes: list[Change] = [
            (tuple(edit.path.split(b"/")), (FILE_MODE, writer.add(BLOB, edit.data))) for edit in commit.edits
        ]
        tree = changed(writer, tree, changes)
        who = identity(commit.time)
        tip = [writer.add(COMMIT, commit_bytes(tree.ident, tip, who, who, commit.message))]
    (objects / "pack").mkdir(exist_ok=True)
    with (objects / "pack" / "pack-0.pack").open("wb") as file:
        entries, trailer = write_pack_data(
            file, iter(found.values()), SHA1, num_records=len(found), compression_level=1
        )
    with (objects / "pack" / "pack-0.idx").open("wb") as file:
        rows = sorted((ident, offset, crc) for ident, (offset, crc) in entries.items())
        write_pack_index(file, rows, trailer)
    return tip[0]


def by_nobody(objects: Path, count: int) -> bytes:
    """Only make the commits, and write nothing: what all competitors spend before they begin."""
    for commit in commits(count):
        _ = commit
    return object_id(TREE, b"")


WRITERS: Final[dict[str, Callable[[Path, int], bytes]]] = {
    "pivcs": by_pivcs,
    "pivcs-zlib": by_zlib,
    "fast-import": by_fast_import,
    "dulwich": by_dulwich,
    "model": by_nobody,
}


def check(repository: Path) -> None:
    """Let git look at every object."""
    subprocess.run(["git", "-C", str(repository), "fsck", "--strict", "--full"], check=True, capture_output=True)


def compare(scratch: Path, names: Sequence[str], rounds: int, count: int) -> None:
    """Run the competitors in turn and print a table."""
    runs = {name: Runs() for name in names}
    tips: dict[str, bytes] = {}
    sizes: dict[str, int] = {}
    for number in range(rounds):
        for name in names:
            repository = scratch / f"{name}.git"
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", repository], check=True)
            once = run_process([sys.executable, "-m", "benchmarks.exporting", "--run", name, repository / "objects",
                                "--commits", str(count)])  # fmt: skip
            runs[name].add(once)
            tips[name] = once.output.strip()
            sizes[name] = sum(path.stat().st_size for path in (repository / "objects").rglob("*.*"))
            if name != "model" and number == 0:
                tip = tips[name].decode()
                subprocess.run(["git", "-C", repository, "update-ref", "refs/heads/main", tip], check=True)
                check(repository)
            shutil.rmtree(repository)
    if len({tip for name, tip in tips.items() if name != "model"}) > 1:
        raise RuntimeError(f"the competitors wrote different commits: {tips}")
    slow = runs["fast-import"].median if "fast-import" in names else None
    print(f"\n{count:,} commits\n\n| writer | seconds | commits/s | times fast-import | peak MB | pack MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in names:
        took = runs[name].median
        ratio = f"{slow / took:.2f}" if slow is not None else ""
        print(f"| {name} | {took:.2f} | {count / took:,.0f} | {ratio} | {runs[name].peak / 1e6:.0f} "
              f"| {sizes[name] / 1e6:.1f} |")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exporting", description="Writing commits beside git.")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3, help="rounds whose median counts (default: 3)")
    parser.add_argument("--only", default=",".join(WRITERS), help=f"some of {','.join(WRITERS)} (default: all)")
    parser.add_argument("--run", nargs=2, metavar=("WRITER", "OBJECTS"), help="let one writer write (for the above)")
    chosen = parser.parse_args(arguments)
    if chosen.run:
        print(WRITERS[chosen.run[0]](Path(chosen.run[1]), chosen.commits).hex())
        return
    names = chosen.only.split(",")
    if unknown := sorted(set(names) - set(WRITERS)):
        parser.error(f"no writer '{unknown[0]}'; there are {', '.join(WRITERS)}")
    print(f"{machine()}; medians of {chosen.rounds} alternating rounds.")
    with tempfile.TemporaryDirectory() as scratch:
        compare(Path(scratch), names, chosen.rounds, chosen.commits)


if __name__ == "__main__":
    main()
