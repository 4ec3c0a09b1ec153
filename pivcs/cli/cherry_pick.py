"""`pivcs cherry-pick`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import NewFile, Output, output_options, warn
from pivcs.cli.target import command_line, now, open_session, resolve_warned, session_option, split_target
from pivcs.ops.cautions import cautions
from pivcs.ops.cherry_pick import cherry_pick
from pivcs.ops.revision import InAnotherStream
from pivcs.ops.revset import read
from pivcs.ops.writing import Writer
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.written_text import written_document, written_lines
from pivcs.session.world import World


@click.command("cherry-pick")
@click.argument("arguments", metavar="[SESSION] A..B", nargs=-1, shell_complete=proposed)
@session_option
@click.option("--onto", metavar="REV", required=True, help="The entry below which to replay.", shell_complete=proposed)
@click.option(
    "-o", "--output", metavar="FILE", type=NewFile(), help="Replay on the way to REV in a new FILE."
)
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    onto: str,
    output: Path | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Replay a stretch of conversation, A..B or a single entry, below REV.

    The messages become new entries with ids of their own, appended to the same file, where pi resumes below them; what
    became of each is listed. Tool calls and their results stay together: a stretch that separates them is refused. With
    it go edits of the context; labels, names and changes of the model stay behind. Appended conversation cannot be
    undone, but `pivcs switch` goes back to before it.
    """
    session, words = split_target(arguments, session)
    if len(words) != 1:
        raise click.UsageError("one range, please: A..B")
    view = open_session(session)
    chosen = read(view, words[0], now())
    if chosen.view is not view:
        raise InAnotherStream(f"'{words[0]}' is in '{chosen.view.where}', another source or generation of the session")
    target = resolve_warned(view, onto)
    for sentence in (*chosen.warnings, *cautions(view, target)):
        warn(sentence)
    written = cherry_pick(view, chosen.rows, target, Writer(now(), command_line(), warn, World.real()), output)
    shown = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        shown.bytes([encode(written_document(written)), b"\n"])
    else:
        shown.lines(written_lines(view, target, written, shown.looks))
