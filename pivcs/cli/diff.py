"""`pivcs diff`."""

from __future__ import annotations

import click

from pivcs.cli.bases import base_option
from pivcs.cli.comparing import Asked, show
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.sides import resolve_sides
from pivcs.cli.target import session_option, split_sides
from pivcs.ops.comparison import since_parting
from pivcs.ops.merge_base import NothingShared
from pivcs.render.comparison_text import SECTIONS, Wanted
from pivcs.render.comparison_turns import WIDE, Shape
from pivcs.render.style import ColourWhen


@click.command("diff")
@click.argument("arguments", metavar="[SESSION] A [B]...", nargs=-1, required=True, shell_complete=proposed)
@session_option
@click.option("--stat", is_flag=True, help="Show totals of each side, and counts of changed lines by file.")
@click.option("--messages", is_flag=True, help="Show the turns.")
@click.option("--files", is_flag=True, help="Show diffs of the files at A and at B.")
@click.option("--tools", is_flag=True, help="Show tools and commands, each with its first entry.")
@click.option("--context", is_flag=True, help="Show what the model would see at A and at B.")
@click.option("--cost", is_flag=True, help="Show tokens, cost and time.")
@click.option("--name-only", "names", flag_value="only", help="Show only the names of files that differ.")
@click.option("--name-status", "names", flag_value="status", help="The same with A, D, M, or ? where it is not known.")
@click.option("--side-by-side", "columns", is_flag=True, help="Show turns in two columns, on a terminal that is wide.")
@click.option("--full", is_flag=True, help="Do not fold long lists and texts.")
@click.option("-U", "--unified", "around", type=click.IntRange(min=0), default=3, show_default=True, metavar="N",
              help="Show N unchanged lines or messages around changed ones.")  # fmt: skip
@click.option("--word-diff", "words", is_flag=True, help="Mark changed words inside of the lines of files.")
@click.option("--exit-code", "tells", is_flag=True, help="Exit with 1 when the sides differ.")
@base_option
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    names: str | None,
    words: bool,
    columns: bool,
    full: bool,
    around: int,
    tells: bool,
    base: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
    **sections: bool,
) -> None:
    """Compare two branches, or any two entries, since they parted.

    The page tells where they parted, the turns of both sides (the same prompt tried again beside the first try, with
    changed words marked), how files differ, tools with their outcomes, and what each side cost. Options show some of
    these, or more of them.

    A alone is compared with HEAD. A..B is the same as A B; A...B tells of B alone, since it parted from A. Sides may be
    in different sessions, each as SESSION::REV. Of three and more, each is told since all of them parted.
    """
    named, dots = split_sides(arguments, session)
    if len(named) == 1:
        named = [*named, named[0]._replace(revision="HEAD")]
    targets = resolve_sides(named)
    if dots == "...":
        since = since_parting(targets[0], targets[1])
        if since is None:
            raise NothingShared(f"'{named[0].revision}' and '{named[1].revision}' have no entry in common")
        targets = list(since)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    width = output.looks.columns
    if columns and (width is None or width < WIDE):
        warn(f"--side-by-side needs a terminal of {WIDE} columns; see COLUMNS")
    chosen = frozenset(name for name in SECTIONS if sections[name])
    asked = Asked(Wanted(chosen, Shape(full, columns), around), names, words, base)
    differs = show(targets, asked, output, as_json=as_json)
    if tells and differs:
        click.get_current_context().exit(1)
