"""Where files begin that a session did not write itself: `--base`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pivcs.cli.output import warn
from pivcs.cli.target import current_directory, text_of
from pivcs.ops.view import SessionView
from pivcs.session.times import parse_time
from pivcs.workspace.base import Base

if TYPE_CHECKING:
    from pivcs.gitbridge.process import Git
    from pivcs.gitbridge.repository import Repository

F = TypeVar("F", bound=Callable[..., Any])

NONE = "none"


def base_option(command: F) -> F:
    """Give a command `--base`, as `base`."""
    return click.option(
        "--base",
        metavar="COMMIT|none",
        help="The commit that had the files before the session. Default: what git says was checked out when it began.",
    )(command)


def base_for(view: SessionView, option: str | None) -> tuple[Base | None, str]:
    """Return the base that `--base` asks for, or without it the commit that was checked out when the session began, and
    a note that says which it is or why there is none.

    The repository is that of the session's working directory; for a commit that is named also that of the current
    directory, which stands for the session's where that is in none. The base is closed with the command. Raises
    `NoRepository`, `UnknownCommit`, `OtherHash`, `MissingObject` for a commit that is named.
    """
    from pivcs.errors import PivcsError
    from pivcs.gitbridge.base import GitBase
    from pivcs.gitbridge.began import checked_out_at
    from pivcs.gitbridge.repository import resolve_commit

    if option == NONE:
        return None, "no base, as asked"
    if option is None:
        began = checked_out_at(view.header.cwd, parse_time(view.header.timestamp))
        if began.repository is None or began.commit is None:
            return None, f"no base: {began.reason}"
        try:
            base = GitBase(began.repository, began.commit, began.repository.prefix)
        except PivcsError as error:
            return None, f"no base: {error.message}"
        reason = began.reason
    else:
        repository, reason = _repository(view)
        commit = resolve_commit(repository, text_of(option), _git())
        base = GitBase(repository, commit, repository.prefix)
    click.get_current_context().call_on_close(base.close)
    return base, f"base: {base.label}, {reason}"


def snapshots_on(view: SessionView, row: int) -> dict[int, Base]:
    """Return the nearest snapshot on the way to a row by the row at which it was taken; of several there the latest.

    Nothing when there is none. Warns of one that cannot be read, and takes the next. It is closed with the command.
    """
    if view.store is None or view.stream is None or view.stream.session is None:
        return {}
    from pivcs.store.snapshots import snapshots_of

    records = {record.oid: record for record in snapshots_of(view.store, view.stream.session)}
    if not records:
        return {}
    from pivcs.errors import PivcsError
    from pivcs.gitbridge.snapshots import snapshot_base

    for each in reversed(view.table.path(row)):
        record = records.get(view.table.digest(each))
        if record is None:
            continue
        try:
            base = snapshot_base(view.store, record)
        except PivcsError as error:
            warn(f"{error.message}; going on without it")
            continue
        click.get_current_context().call_on_close(base.close)
        return {each: base}
    return {}


def _repository(view: SessionView) -> tuple[Repository, str]:
    from pivcs.gitbridge.repository import NoRepository, find_repository

    if view.header.cwd:
        try:
            return find_repository(view.header.cwd), "as named"
        except NoRepository as error:
            here = current_directory()
            try:
                return find_repository(here), f"of the current directory: {error.message}"
            except NoRepository:
                raise error from None
    return find_repository(current_directory()), "of the current directory: the session names none"


def _git() -> Git | None:
    from pivcs.gitbridge.process import Git, GitNotFound

    try:
        return Git.find(os.environ)
    except GitNotFound:
        return None
