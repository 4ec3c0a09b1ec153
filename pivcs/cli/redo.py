"""`pivcs redo`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import now, open_store, store_option
from pivcs.ops.operations import redo
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, undone_lines
from pivcs.render.style import ColourWhen


@click.command("redo")
@store_option
@output_options
def command(as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool) -> None:
    """Do again what `pivcs undo` took back last, unless a command has changed something since.

    A name that has changed since is not touched: then nothing is.
    """
    store = open_store()
    done = redo(store, now=now(), warn=warn)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(changes_document(done.changes, done.operation)), b"\n"])
    else:
        output.lines(undone_lines(done, "redo", output.looks))
