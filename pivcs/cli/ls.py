"""`pivcs ls`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import reader, store_option, surroundings
from pivcs.ops.listing import ListedSession, Unreadable, by_activity, gone_sessions, known_elsewhere, list_sessions
from pivcs.ops.locate import NoSession, all_files, files_in, project_files
from pivcs.ops.project import project_directories
from pivcs.ops.through import files_through, keys_through, merged
from pivcs.render import documents
from pivcs.render.list_text import list_lines, session_document
from pivcs.render.style import ColourWhen
from pivcs.session.listitem import NotListed


@click.command("ls")
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="List the sessions of all projects.")
@store_option
@output_options
def command(
    paths: tuple[str, ...], everything: bool, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool
) -> None:
    """List sessions, latest activity first: those of the current project, of all projects, or the files named.

    Sessions whose file is gone are listed too, from the store, and those that came through the project's repository.
    `+1 imported` says that a session went on elsewhere, too: `pivcs branch --all` shows where.
    """
    skipped: list[NotListed] = []
    found: list[ListedSession] = []
    failed: list[Unreadable] = []
    opened = reader()
    files = list(_files(paths, skipped, everything=everything))
    if everything and not paths and opened.store is not None:
        files += known_elsewhere(opened.store, files)
    elif not paths:
        files = merged(files, files_through(opened.store, opened.surroundings.cwd))
    for item in list_sessions(opened, files):
        if isinstance(item, Unreadable):
            failed.append(item)
        else:
            found.append(item)
    if opened.store is not None and not paths:
        directories = None if everything else project_directories(opened.surroundings.cwd)
        found += gone_sessions(opened.store, directories, keys_through(opened.store, opened.surroundings.cwd))
    sessions = by_activity(found)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes(documents.streamed("pivcs.ls/1", {}, "sessions", map(session_document, sessions)))
    else:
        output.lines(list_lines(sessions, output.looks, with_cwd=everything or bool(paths)))
    for left_out in skipped:
        warn(left_out.message)
    for item in failed:
        warn(item.error.message)
    if not sessions and not failed:
        where = "there" if paths else "in any project" if everything else "for this project"
        raise NoSession(f"no session {where}", hint=None if everything else "`pivcs ls --all` looks in all projects")
    if failed:
        click.get_current_context().exit(failed[0].error.exit_code)


def _files(paths: Iterable[str], skipped: list[NotListed], *, everything: bool) -> Iterable[Path]:
    named = [Path(path) for path in paths]
    if named:
        return [file for path in named for file in (files_in(path, skipped) if path.is_dir() else [path])]
    around = surroundings()
    return all_files(around, skipped) if everything else project_files(around, skipped)
