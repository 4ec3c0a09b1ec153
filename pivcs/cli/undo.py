"""`pivcs undo`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import now, open_store, store_option
from pivcs.errors import StateError
from pivcs.ops.appended import CannotTakeBack
from pivcs.ops.operations import NothingToUndo, undo
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, undone_lines
from pivcs.render.style import ColourWhen


@click.command("undo")
@click.argument("operation", metavar="[OPERATION]", type=click.IntRange(min=1), required=False)
@store_option
@output_options
def command(
    operation: int | None, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool
) -> None:
    """Take back the latest command that changed names or positions, in whatever session that was.

    Said again it takes back the one before; OPERATION, a number from `pivcs op log`, is taken back in its place.
    Undoing is an operation too: `pivcs redo` does again what was taken back. A name that has changed since is not
    touched: then nothing is.

    What appended a label, a name or a position to a session file is taken back by appending the opposite; a pi that has
    the file open does not see it before it opens the file again. What was said in a conversation stays in its file:
    `pivcs switch` goes back to before it.
    """
    store = open_store()
    try:
        done = undo(store, now=now(), number=operation, warn=warn)
    except NothingToUndo:
        raise
    except StateError as error:
        # The hint of an appending command is about doing it again, which undo cannot wait for.
        others = "`pivcs op log` has the numbers of other operations; `pivcs undo NUMBER` takes one of them back"
        error.hint = f"{error.hint}; {others}" if isinstance(error, CannotTakeBack) else others
        raise
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(changes_document(done.changes, done.operation)), b"\n"])
    else:
        output.lines(undone_lines(done, "undo", output.looks))
