"""What `link`, `log --commits` and `show COMMIT` have in common: the repository, its sessions, and what ties them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import click

from pivcs.cli.bases import NONE
from pivcs.cli.file_target import project_views, quiet_base_of
from pivcs.cli.target import current_directory, open_session, reader
from pivcs.errors import PivcsError
from pivcs.gitbridge.commits import find_commits, refs_by_commit
from pivcs.gitbridge.link import Linker
from pivcs.gitbridge.link_notes import REF
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.refs_update import read_refs
from pivcs.gitbridge.repository import Repository, find_repository
from pivcs.gitbridge.stream_finding import found_refs
from pivcs.ops.access import primary_stream, view_of
from pivcs.ops.locate import NoSession
from pivcs.ops.log import MadeCommit
from pivcs.ops.view import SessionView

_FETCH_NOTES = f"git fetch REMOTE {REF}:{REF}"


class Here(NamedTuple):
    """The repository of the current directory, the `git` program, and the names of commits."""

    repository: Repository
    git: Git
    refs: dict[str, list[str]]


def here() -> Here:
    """Return the repository of the current directory. Raises `NoRepository`, `GitNotFound`, `GitFailed`."""
    repository = find_repository(current_directory())
    git = Git.find(os.environ)
    return Here(repository, git, refs_by_commit(repository, git))


def sessions_of(place: Here, session: str | None, *, required: bool = True) -> tuple[SessionView, ...]:
    """Return the session that is named, else those of the current project, with those whose streams are in its
    repository. Raises `NoSession`, with what to fetch, when there is none and one is `required`."""
    if session is not None:
        return (open_session(session),)
    views = project_views(None)
    views += _of_repository(place.repository, views)
    if not views and required:
        raise NoSession(
            "no session belongs to the current project, and without sessions nothing ties its commits to prompts",
            hint=_what_to_fetch(place.repository),
        )
    return views


def _of_repository(repository: Repository, views: Sequence[SessionView]) -> tuple[SessionView, ...]:
    """Return the sessions that the store has and that are below `refs/pivcs/`: a clone may be at another place."""
    opened = reader()
    store = opened.store
    if store is None:
        return ()
    known = {view.key.digest for view in views if view.key is not None}
    try:
        keys = {ref.key for ref in found_refs(repository)} - known
    except PivcsError:  # refs that cannot be read hide no session that is elsewhere
        return ()
    streams = [primary_stream(store, key) for key in sorted(keys)]
    return tuple(view_of(store, stream) for stream in streams if stream is not None)


def _what_to_fetch(repository: Repository) -> str:
    sessions = "`pivcs fetch` brings the sessions that somebody pushed"
    try:
        is_noted = REF in read_refs(repository, "refs/notes/")
    except PivcsError:
        is_noted = False
    if is_noted:
        return f"{sessions}; `git log --notes=pivcs` shows what is noted of commits"
    return f"{sessions}; `{_FETCH_NOTES}` the notes, which `git log --notes=pivcs` shows"


def linker_of(place: Here, views: Sequence[SessionView], base: str | None) -> Linker:
    """Return what ties commits to sessions; closed with the command.

    A base is only what was named: to find one by time would make times decide, and links differ between machines.
    """
    linker = Linker(place.repository, place.git, views, quiet_base_of(base or NONE))
    click.get_current_context().call_on_close(linker.close)
    return linker


def mark_commits(view: SessionView, base: str | None) -> None:
    """Let a session know which commits of HEAD its entries' changes went into, for logs to show."""
    place = here()
    linker = linker_of(place, [view], base)
    made: dict[int, list[MadeCommit]] = {}
    commits = list(find_commits(place.repository, place.git, (), since=linker.began()))
    for link in linker.links(commits):
        for writer, lines in link.entries():
            commit = link.commit.ident
            made.setdefault(writer.row, []).append(MadeCommit(commit, tuple(place.refs.get(commit, ())), lines))
    view.commits = {row: tuple(commits) for row, commits in made.items()}
