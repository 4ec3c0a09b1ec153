"""Which paths git ignores: of these neither a commit nor a snapshot tells whether there was a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pivcs.errors import PivcsError
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import NoRepository, find_repository


def ignored_paths(directory: Path, paths: Iterable[str], git: Git) -> frozenset[str]:
    """Return those of the paths below a directory that its repository ignores and does not track.

    None outside of a repository. One of which git cannot tell counts as ignored: it may be somebody's.
    """
    asked = sorted({os.fsencode(path) for path in paths})
    if not asked:
        return frozenset()
    try:
        find_repository(str(directory))
    except NoRepository:
        return frozenset()
    found: list[bytes] = []
    waiting = [asked]
    while waiting:
        part = waiting.pop()
        try:
            out = git.run(
                # Paths that are taken literally are magic, too, which this command knows only little of; `./` hides it.
                "--no-literal-pathspecs", "check-ignore", "-z", "--stdin",
                cwd=directory, stdin=b"".join(b"./" + path + b"\0" for path in part), ok=(0, 1),
            )  # fmt: skip
            found += [path.removeprefix(b"./") for path in out.split(b"\0") if path]
        except PivcsError:  # one that it cannot answer, as behind a symbolic link, keeps it from answering any
            if len(part) == 1:
                found += part
            else:
                waiting += [part[: len(part) // 2], part[len(part) // 2 :]]
    return frozenset(map(os.fsdecode, found))
