"""Commits and sessions that are tied, for tests: what each entry wrote of a commit, by the names of entries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pivcs.gitbridge.commits import find_commits
from pivcs.gitbridge.link import Linker
from pivcs.gitbridge.link_result import CommitLink
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import find_repository
from tests.ops.views import view_of
from tests.talks import Talk


class Told(NamedTuple):
    """What ties one commit: how many of its lines each entry wrote, and how many none did."""

    entries: dict[str, int]
    hand: int


def links_of(root: Path, *talks: Talk, revisions: tuple[str, ...] = (), hand: bool = False) -> list[CommitLink]:
    """Return what ties the commits of a repository to sessions, newest first."""
    repository, git = find_repository(str(root)), Git.find(os.environ)
    with Linker(repository, git, [view_of(talk.data) for talk in talks], lambda _: None) as linker:
        return list(linker.links(list(find_commits(repository, git, revisions)), hand=hand))


def told(root: Path, talk: Talk, *revisions: str) -> list[Told]:
    """Return what is said of commits, newest first; of one session."""
    view = view_of(talk.data)
    return [
        Told({view.table.name(writer.row): lines for writer, lines in link.entries()}, link.hand)
        for link in links_of(root, talk, revisions=revisions)
    ]
