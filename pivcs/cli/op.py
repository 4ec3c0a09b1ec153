"""`pivcs op`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_store, store_option
from pivcs.ops.operation_log import list_operations
from pivcs.render.documents import streamed
from pivcs.render.op_text import operation_document, operation_lines
from pivcs.render.style import ColourWhen


@click.command("op")
@click.argument("what", metavar="log", type=click.Choice(["log"]))
@store_option
@click.option("-n", "--max-count", "count", type=click.IntRange(min=0), help="Show at most this many.")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(["user", "undo", "redo", "sync"]),
    multiple=True,
    help="Show only operations of this kind; may be repeated.",
)
@click.option("--full", is_flag=True, help="List every change.")
@output_options
def command(
    what: str,  # one choice: others will come
    count: int | None,
    kinds: tuple[str, ...],
    full: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show what changed branches and tags, in all sessions of the store, newest first.

    Every change is part of an operation: a command (user), its undoing (undo, redo), or a sync, in which branches
    follow a session that has grown. `pivcs undo` is about commands only.
    """
    store = open_store()
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    found = list_operations(store, kinds=kinds, count=count)
    if as_json:
        output.bytes(streamed("pivcs.op/1", {}, "operations", map(operation_document, found)))
    else:
        output.lines(line for each in found for line in operation_lines(each, output.looks, full=full))
