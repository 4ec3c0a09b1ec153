"""`pivcs fork`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, resolve_warned, session_option, split_target
from pivcs.ops.fork import fork, fork_into
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.written_text import written_document, written_lines
from pivcs.session.world import World


@click.command("fork")
@click.argument("arguments", metavar="[SESSION] [REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("--at", is_flag=True, help="Let the new session end at REV itself, also when that is a prompt.")
@click.option(
    "--into",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Copy the whole session, all branches, for the project in DIR.",
)
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    at: bool,
    into: Path | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Write a session as pi's /fork and /clone do: a new file beside the old one.

    Where REV is a prompt the new session ends before it, and its text is shown, to be changed and given anew; at any
    other entry, by default HEAD, it ends there. pi writes the entries of a fork anew and moves labels to the end;
    `pivcs checkout` keeps the lines as they are.
    """
    session, words = split_target(arguments, session)
    if len(words) > 1:
        raise click.UsageError(f"unexpected argument '{words[1]}'")
    if into is not None and (words or at):
        raise click.UsageError("--into copies the whole session: no revision, please")
    view = open_session(session)
    row = resolve_warned(view, words[0] if words else "HEAD") if into is None else None
    world = World.real()
    if into is not None:
        written = fork_into(view, into, world=world)
    else:
        assert row is not None
        written = fork(view, row, at=at, world=world)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(written_document(written)), b"\n"])
    else:
        output.lines(written_lines(view, row, written, output.looks))
