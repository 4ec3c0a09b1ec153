"""`pivcs blame`."""

from __future__ import annotations

import click

from pivcs.cli.bases import base_option
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.file_target import blamed
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import session_option
from pivcs.render.blame_text import blame_documents, blame_lines
from pivcs.render.documents import Document, session_document, streamed
from pivcs.render.style import ColourWhen


@click.command("blame")
@click.argument("path", metavar="PATH")
@click.option("--at", "revision", metavar="REV", shell_complete=proposed, help="The file as it was at an entry.")
@base_option
@session_option
@output_options
def command(
    path: str,
    revision: str | None,
    base: str | None,
    session: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show who wrote each line of a file: entry, branch, time, model and the beginning of the prompt.

    Without --at it is the file as it is now. All sessions of the project are looked at, with all of their branches;
    with -s only one. A '?' behind a branch says that HEAD does not contain it. Lines that no entry wrote say what is
    known of them; those that were moved or reformatted since say so.
    """
    blame = blamed(path, revision, session, base)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        authors, lines = blame_documents(blame)
        head: Document = {
            "path": blame.path.text, "session": session_document(blame.views[0]), "authors": authors,
        }  # fmt: skip
        output.bytes(streamed("pivcs.blame/1", head, "lines", lines))
    else:
        output.lines(blame_lines(blame, output.looks))
