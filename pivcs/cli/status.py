"""`pivcs status`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, session_option, split_session
from pivcs.ops.status import status_of
from pivcs.render import documents
from pivcs.render.status_text import status_document, status_lines
from pivcs.render.style import ColourWhen


@click.command("status")
@click.argument("arguments", metavar="[SESSION]", nargs=-1)
@session_option
@click.option("--all", "every", is_flag=True, help="List every finding.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    every: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show where a session stands: position, tree, kinds of lines, and what is wrong with the file.

    Every line is counted as exactly one of header, entry, glued, foreign, damaged or blank. Lines that are no entry are
    listed with their number and byte offset.
    """
    view = open_session(split_session(arguments, session))
    status = status_of(view)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([documents.encode(status_document(view, status)), b"\n"])
    else:
        output.lines(status_lines(view, status, output.looks, every=every))
