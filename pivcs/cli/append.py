"""`pivcs append`."""

from __future__ import annotations

import sys

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import open_session, session_option, split_session, text_of, writer
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.text import visible


@click.command("append")
@click.argument("arguments", metavar="[SESSION]", nargs=-1)
@session_option
@click.option("--user", "prompt", metavar="TEXT", help="Append this message of the user, and do not read the input.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    prompt: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Append entries to a session and show their ids.

    Standard input has a JSON object a line: an entry as in a session file, or a message (an object with a role). Ids,
    parents and times that are absent are filled in; each entry becomes a child of the one before it, the first a child
    of where the session stands. All lines are checked before the first is written, and all are written at once.

    Session files only grow, so this cannot be undone; `pivcs switch` goes back to before it. A pi that has the file
    open does not see the lines before it opens the file again.
    """
    from pivcs.ops.making import append_to, read_entries, user_message
    from pivcs.render.written_text import written_document

    if prompt is not None and not prompt.strip():
        raise click.UsageError("--user needs something that the user says")
    writing = writer()
    numbers = None
    if prompt is not None:
        entries = [user_message(text_of(prompt), writing.world)]
    elif sys.stdin.isatty():
        raise click.UsageError("nothing to append: --user TEXT, or JSON lines on standard input")
    else:
        entries, numbers = read_entries(sys.stdin.buffer.read().split(b"\n"), writing.world, warn)
    view = open_session(split_session(arguments, session))
    written = append_to(view, entries, writing, numbers)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(written_document(written)), b"\n"])
    else:
        output.lines(visible(ident, keep="") for ident in written.appended)
