"""`pivcs show`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from pivcs.cli.output import Output, joined, output_options
from pivcs.cli.target import open_session, session_option, split_target
from pivcs.ops import log as ops
from pivcs.ops.revision import resolve, resolve_row
from pivcs.ops.view import SessionView
from pivcs.render.show_text import entry_json, entry_lines, line_lines
from pivcs.render.style import ColourWhen


@click.command("show")
@click.argument("arguments", metavar="[SESSION] [REV]...", nargs=-1)
@session_option
@click.option("--raw", is_flag=True, help="Write the bytes of the entry's line, as they are in the file.")
@click.option("--full", is_flag=True, help="Do not cut long texts.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    raw: bool,
    full: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show entries with everything they say: text, reasoning, tool calls with their changes, output.

    REV is a label, an entry id, an object id or its beginning, HEAD (the default), a line as L7; ~n and ^ go to
    ancestors. Control characters are made visible; --raw writes them as they are.
    """
    session, revisions = split_target(arguments, session)
    if raw and as_json:
        raise click.UsageError("--raw and --json do not go together")
    view = open_session(session)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes(entry_json(view, [ops.logged(view, resolve(view, text)) for text in revisions or ["HEAD"]]))
        return
    rows = [resolve_row(view, text) for text in revisions or ["HEAD"]]
    if raw:
        output.bytes(piece for row in rows for piece in _with_end(view, row))
        return

    def lines(row: int) -> list[str]:
        if view.table.is_node(row):
            return list(entry_lines(view, ops.logged(view, view.table.first_row(row)), output.looks, full=full))
        return list(line_lines(view, row, output.looks))

    output.lines(joined(map(lines, rows)))


def _with_end(view: SessionView, row: int) -> Iterator[bytes]:
    yield from view.iter_record(row)
    yield b"\n"
