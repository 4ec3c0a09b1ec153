"""`pivcs label`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, session_option, split_session
from pivcs.ops.label_list import list_labels
from pivcs.render.branch_text import label_document, label_lines
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen


@click.command("label")
@click.argument("arguments", metavar="[SESSION]", nargs=-1)
@session_option
@output_options
def command(
    arguments: tuple[str, ...], session: str | None, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool
) -> None:
    """List the labels of a session, in the order of the entries that have them.

    Labels are pi's own and are set in pi; this command only lists them. A label's text names its entry in every
    command, quoted where the shell needs it; label:"TEXT" says that a label is meant.
    """
    view = open_session(split_session(arguments, session))
    labels = list_labels(view)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(label_document(view, labels)), b"\n"])
    else:
        output.lines(label_lines(view, labels, output.looks))
