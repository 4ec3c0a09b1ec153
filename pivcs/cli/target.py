"""Which session and which revisions a command line names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from pivcs.ops.locate import locate, looks_like_path
from pivcs.ops.view import SessionView, open_file
from pivcs.session.layout import Surroundings

F = TypeVar("F", bound=Callable[..., Any])
SEPARATOR = "::"


def surroundings() -> Surroundings:
    """Return what pi's directories depend on, from the process."""
    return Surroundings(os.environ, str(Path.home()), os.getcwd(), windows=os.name == "nt")


def session_option(command: F) -> F:
    """Give a command `-s/--session`."""
    return click.option(
        "-s",
        "--session",
        metavar="PATH|ID",
        help="The session: a file, or a session id or its beginning. Default: the latest of the current project.",
    )(command)


def split_target(arguments: Sequence[str], session: str | None) -> tuple[str | None, list[str]]:
    """Return the session and the revisions that arguments name.

    An argument that is a path names the session, `SESSION::REV` both; anything else is a revision. Raises click's usage
    error when two different sessions are named.
    """
    revisions: list[str] = []
    for argument in arguments:
        named, separator, revision = argument.partition(SEPARATOR)
        if separator and named:
            if revision:
                revisions.append(revision)
        elif looks_like_path(argument):
            named = argument
        else:
            revisions.append(argument.removeprefix(SEPARATOR))
            continue
        if session is not None and session != named:
            raise click.UsageError(f"two sessions are named: '{session}' and '{named}'")
        session = named
    return session, revisions


def open_session(session: str | None) -> SessionView:
    """Open the session that an argument names, or the current project's latest.

    Raises `NoSession`, `SourceNotReadable`.
    """
    return open_file(locate(session, surroundings()))
