"""`pivcs rename`."""

from __future__ import annotations

import os

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, session_option, text_of, writer
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, changes_lines
from pivcs.render.style import ColourWhen


@click.command("rename")
@click.argument("arguments", metavar="[SESSION] NAME", nargs=-1)
@session_option
@click.option("--clear", is_flag=True, help="Take the session's name away.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    clear: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Name a session, as pi's /name does.

    A line is appended to the session file; the file keeps its own name. Line breaks become spaces, and white space at
    the ends goes. `pivcs undo` takes it back. A pi that has the file open does not see the name before it opens the
    file again.
    """
    from pivcs.ops.labelling import rename_session

    words = (*arguments, "") if clear else arguments
    if not 1 <= len(words) <= 2 or (len(words) == 2 and session is not None):
        raise click.UsageError("one name, please" if not clear else "--clear needs no name")
    *before, name = words
    if not clear and not text_of(name).strip():
        raise click.UsageError("a name is not empty; --clear takes it away")
    if session is None and not before and os.path.isfile(name):
        raise click.UsageError(f"'{name}' is a file: which name is the session to have? (-s names a session)")
    change = rename_session(open_session(before[0] if before else session), text_of(name), writer())
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    changes = [change] if change is not None else []
    if as_json:
        output.bytes([encode(changes_document(changes)), b"\n"])
    elif changes:
        output.lines(changes_lines(changes, output.looks))
    else:
        output.lines(["it has no name" if clear else "it has this name already"])
