"""`pivcs files`."""

from __future__ import annotations

import os

import click

from pivcs.cli.bases import base_for, base_option, snapshots_on
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.file_target import named_file
from pivcs.cli.output import Output, output_options, to_stderr
from pivcs.cli.target import SEPARATOR, open_session, resolve_warned, session_option, split_target, text_of
from pivcs.ops.files_at import files_at
from pivcs.ops.revision import UnknownRevision
from pivcs.ops.view import SessionView
from pivcs.render.documents import Document, session_document, streamed
from pivcs.render.files_text import file_document, files_lines, name_lines
from pivcs.render.style import ColourWhen
from pivcs.workspace.base import Base
from pivcs.workspace.state import FileState


@click.command("files")
@click.argument("arguments", metavar="[SESSION] [REV] [PATH]...", nargs=-1, shell_complete=proposed)
@session_option
@base_option
@click.option("--name-only", is_flag=True, help="Write only the paths of files that exist, or may exist.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    base: str | None,
    name_only: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """List the files that the session knows at REV, by default HEAD: how each is known, and who changed it last.

    'whole' was written or read as a whole, 'derived' follows from edits of a known file, 'patch' was edited but is not
    known as a whole, 'unknown' may have been changed by a command since, 'snapshot' is in a snapshot. PATH may be a
    file, a directory or a pattern.
    """
    session, words = _split_session(arguments, session)
    view = open_session(session)
    row, paths = _split(view, words)
    known, note = base_for(view, base)
    states = [] if row is None else _known(view, row, known, paths)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        head: Document = {
            "session": session_document(view), "entry": None if row is None else view.table.name(row), "base": note,
        }  # fmt: skip
        output.bytes(streamed("pivcs.files/1", head, "files", (file_document(view, state) for state in states)))
        return
    if name_only:
        output.lines(name_lines(states))
        return
    output.lines(files_lines(view, states, output.looks))
    if not states:
        to_stderr("no tool call of this path names a file")
    to_stderr(f"note: {note}")


def _split_session(arguments: tuple[str, ...], session: str | None) -> tuple[str | None, list[str]]:
    """Return the session, and the words behind it: only the first can name one, since files of the project follow."""
    if session is None and arguments and _is_session(arguments[0]):
        session, words = split_target(arguments[:1], None)
        return session, [*words, *map(text_of, arguments[1:])]
    return session, [text_of(argument) for argument in arguments]


def _is_session(argument: str) -> bool:
    """Whether an argument names a session rather than a file of the project."""
    if argument.endswith(".jsonl") or SEPARATOR in argument:
        return True
    if not os.path.isfile(argument):
        return False
    try:
        with open(argument, "rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False


def _known(view: SessionView, row: int, base: Base | None, paths: list[str]) -> list[FileState]:
    named = [named_file(view, path) for path in paths]
    return files_at(view, row, base, named, snapshots=snapshots_on(view, row))


def _split(view: SessionView, words: list[str]) -> tuple[int | None, list[str]]:
    """Return the entry and the paths: the first word is a revision if it can be one, `--` or not."""
    if not words:
        return view.head, []
    try:
        return resolve_warned(view, words[0]), words[1:]
    except UnknownRevision:
        if view.head is None:
            raise
        if len(words) == 1 and not _like_path(words[0]):
            raise
        return view.head, words


def _like_path(word: str) -> bool:
    return any(sign in word for sign in "/.*?[")
