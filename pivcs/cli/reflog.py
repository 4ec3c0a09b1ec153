"""`pivcs reflog`."""

from __future__ import annotations

from itertools import islice

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, session_option, split_target
from pivcs.ops.reflog import moves_of
from pivcs.render.documents import session_document, streamed
from pivcs.render.reflog_text import move_document, move_lines
from pivcs.render.style import ColourWhen


@click.command("reflog")
@click.argument("arguments", metavar="[SESSION] [REF]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-n", "--max-count", "count", type=click.IntRange(min=0), help="Show at most this many moves.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    count: int | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show where HEAD, or the branch REF, has been, newest first.

    Each line begins with an entry's id and with what can be typed for this position, as HEAD@{2}. pi keeps no such
    history: HEAD's is found from the order of the lines, a branch's from the operations as well.
    """
    session, names = split_target(arguments, session)
    if len(names) > 1:
        raise click.UsageError(f"one branch, please, not {len(names)}: {' '.join(names)}")
    view = open_session(session)
    ref, found = moves_of(view, names[0] if names else "HEAD")
    moves = islice(found, count)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        head: dict[str, object] = {"session": session_document(view), "ref": ref}
        documents = (move_document(view, number, move) for number, move in enumerate(moves))
        output.bytes(streamed("pivcs.reflog/1", head, "moves", documents))
    else:
        output.lines(move_lines(view, ref, moves, output.looks))
