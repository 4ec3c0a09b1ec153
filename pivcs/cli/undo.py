"""`pivcs undo`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import current_directory, now, open_store, store_option
from pivcs.errors import StateError
from pivcs.ops.appended import CannotTakeBack
from pivcs.ops.operations import NothingToUndo, chosen_operation, undo
from pivcs.ops.restore_undo import FilesChanged, write_kept
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, undone_lines
from pivcs.render.style import ColourWhen
from pivcs.render.text import visible


@click.command("undo")
@click.argument("operation", metavar="[OPERATION]", type=click.IntRange(min=1), required=False)
@click.option(
    "--dest", metavar="DIR",
    help="Take nothing back: write the files that a restore replaced or deleted into DIR, which is new or empty.",
)
@store_option
@output_options
def command(
    operation: int | None, dest: str | None, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool
) -> None:
    """Take back the latest command that changed names or positions, in whatever session that was.

    Said again it takes back the one before; OPERATION, a number from `pivcs op log`, is taken back in its place.
    Undoing is an operation too: `pivcs redo` does again what was taken back. A name that has changed since is not
    touched: then nothing is.

    What appended a label, a name or a position to a session file is taken back by appending the opposite; a pi that has
    the file open does not see it before it opens the file again. What was said in a conversation stays in its file:
    `pivcs switch` goes back to before it.

    Files that `pivcs restore` has changed, made or deleted are put back as they were before, byte for byte, if none of
    them has changed since.
    """
    store = open_store()
    if dest is not None:
        if as_json:
            raise click.UsageError("--dest and --json do not go together")
        written = write_kept(store, chosen_operation(store, operation).id, Path(current_directory(), dest))
        output = Output(colour=colour, pager=not no_pager, utc=utc)
        output.lines(visible(path, keep="") for path in written)
        return
    try:
        done = undo(store, now=now(), number=operation, warn=warn)
    except (NothingToUndo, FilesChanged):
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
