"""`pivcs delete`."""

from __future__ import annotations

import sys

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, session_option, split_session, writer
from pivcs.errors import StateError
from pivcs.render.deleted_text import deleted_document, deleted_lines
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.text import visible


class NotConfirmed(StateError):
    """Nobody can be asked whether a file is to be deleted."""


@click.command("delete")
@click.argument("arguments", metavar="SESSION", nargs=-1)
@session_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--permanent", is_flag=True, help="Remove the file for good, instead of moving it to the trash.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    yes: bool,
    permanent: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Move a session's file to the system's trash.

    What is in it stays in the store, which has every byte of it before the file goes: `pivcs log` and `pivcs cat` work
    as before, and `pivcs undo` writes the file again. Other copies of the session stay where they are.
    """
    from pivcs.ops.trash import delete_file

    named = split_session(arguments, session)
    if named is None:
        raise click.UsageError("say which session to delete")
    view = open_session(named)
    if not yes:
        if not sys.stdin.isatty():
            raise NotConfirmed(f"'{view.where}' is not deleted without a question", hint="--yes deletes it")
        shown = visible(view.where, keep="")
        asked = f"Delete '{shown}' for good?" if permanent else f"Move '{shown}' to the trash?"
        click.confirm(asked, abort=True, err=True)
    deleted = delete_file(view, writer(), permanently=permanent)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(deleted_document(deleted)), b"\n"])
    else:
        output.lines(deleted_lines(deleted, output.looks))
