"""`pivcs undo`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import now, open_store, store_option
from pivcs.ops.operations import undo
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, undone_lines
from pivcs.render.style import ColourWhen


@click.command("undo")
@store_option
@output_options
def command(as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool) -> None:
    """Take back the latest command that changed branches or tags, in whatever session that was.

    Said again it takes back the one before. Undoing is an operation too: `pivcs redo` does again what was taken back,
    and `pivcs op log` lists it all. A branch or tag that has moved since is not touched: then nothing is.
    """
    store = open_store()
    done = undo(store, now=now())
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(changes_document(done.changes, done.operation)), b"\n"])
    else:
        output.lines(undone_lines(done, "undo", output.looks))
