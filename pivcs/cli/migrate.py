"""`pivcs migrate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import click

from pivcs.cli.complete import sessions
from pivcs.cli.output import NewFile, Output, output_options, warn
from pivcs.cli.target import open_session, session_option, split_session
from pivcs.ops.migrate import migrate
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.written_text import written_document, written_lines
from pivcs.session.world import World


@click.command("migrate")
@click.argument("arguments", metavar="[SESSION]", nargs=-1, shell_complete=sessions)
@session_option
@click.option(
    "-o", "--output", metavar="FILE", type=NewFile(), required=True, help="Write to FILE, a new one."
)
@click.option("--seed", type=int, metavar="N", help="Make the ids from N, so that they are the same every time.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    output: Path,
    seed: int | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Write a session of version 1 or 2 as one of version 3, to a new file.

    pi does so to the file itself when it opens it, and gives the entries of version 1 random ids. Here the old file
    stays as it is. What pi passes over (damaged lines) is not in the new file; how many lines that are is said.
    """
    view = open_session(split_session(arguments, session))
    world = World.real()
    if seed is not None:
        world = replace(world, random=Random(seed).randbytes)
    done = migrate(view, output, world=world)
    if done.left_out:
        lines = "line" if done.left_out == 1 else "lines"
        warn(f"{done.left_out} {lines} of '{view.where}' that pi passes over: not in the new file")
    shown = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        shown.bytes([encode(written_document(done.written)), b"\n"])
    else:
        shown.lines(written_lines(view, None, done.written, shown.looks))
