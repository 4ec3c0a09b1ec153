"""What `pivcs export` is to write: sessions, or some entries of one, and the base that they go on from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from pivcs.cli.forgotten_refs import leaving_reader, leaving_views
from pivcs.cli.target import SEPARATOR, now, open_session, text_of
from pivcs.errors import InputError
from pivcs.gitbridge.base import GitBase
from pivcs.gitbridge.exporting import ExportOptions
from pivcs.gitbridge.process import Git, GitNotFound
from pivcs.gitbridge.repository import NoRepository, Repository, find_repository, resolve_commit
from pivcs.gitbridge.review_targets import Chosen
from pivcs.ops.access import Reader
from pivcs.ops.locate import NoSession
from pivcs.ops.revset import select
from pivcs.ops.view import SessionView
from pivcs.session.source import SourceNotReadable
from pivcs.workspace.base import Base


def chosen_sessions(arguments: Sequence[str], session: str | None) -> list[Chosen]:
    """Return what some arguments name; without any the session that -s names, or all of the current project.

    Raises `NoSession`, `AmbiguousSession`, and what reading an expression raises.
    """
    if not arguments:
        return [Chosen(view) for view in (leaving_views() if session is None else (open_session(session),))]
    opened = leaving_reader()
    found: list[Chosen] = []
    for argument in arguments:
        each = _chosen(opened, text_of(argument), session)
        same = next((place for place, other in enumerate(found) if other.view.key == each.view.key), None)
        if same is None:
            found.append(each)
        else:
            found[same] = _joined(found[same], each)
    return found


def _chosen(opened: Reader, argument: str, session: str | None) -> Chosen:
    if session is not None:
        view, expression = opened.open(session), argument
    elif SEPARATOR in argument:
        named, _, expression = argument.partition(SEPARATOR)
        view = opened.open(named)
    else:
        try:
            return Chosen(opened.open(argument))
        except (NoSession, SourceNotReadable):
            try:
                view = opened.open(None)
                return Chosen(view, select(view, argument, now()))
            except InputError:
                pass
            raise
    return Chosen(view, select(view, expression, now()))


def _joined(first: Chosen, second: Chosen) -> Chosen:
    if first.rows is None or second.rows is None:
        return Chosen(first.view)
    return Chosen(first.view, sorted({*first.rows, *second.rows}))


def with_history(destination: Path) -> None:
    """Refuse a DEST that has nothing yet, so no commit to go on from. Raises `NoRepository`."""
    if not destination.exists() or (destination.is_dir() and not any(destination.iterdir())):
        raise NoRepository(
            f"there is no repository at '{destination}'", hint="--base wants the project's repository, or a clone of it"
        )


def export_base(options: ExportOptions, repository: Repository, base: str) -> ExportOptions:
    """Return options that let commits go on from a commit of a repository. Raises `UnknownCommit`."""
    try:
        git: Git | None = Git.find(os.environ)
    except GitNotFound:
        git = None
    commit = resolve_commit(repository, text_of(base), git)

    def base_of(view: SessionView) -> Base:
        opened = GitBase(repository, commit, _prefix_of(view))
        click.get_current_context().call_on_close(opened.close)
        return opened

    return options._replace(review=options.review._replace(base=commit), base_of=base_of, prefix_of=_prefix_of)


def _prefix_of(view: SessionView) -> str:
    """Return where the session's working directory is in its repository; its root where that is not on this machine."""
    if not view.header.cwd:
        return ""
    try:
        return find_repository(view.header.cwd).prefix
    except NoRepository:
        return ""
