"""`pivcs checkout`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import NewFile, Output, output_options, warn
from pivcs.cli.switch import go_to, summary_of, summary_options
from pivcs.cli.target import open_session, resolve_warned, session_option, split_target
from pivcs.ops.cautions import cautions
from pivcs.ops.checkout import checkout
from pivcs.ops.revision import Target, resolve_target
from pivcs.ops.view import SessionView
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.written_text import written_document, written_lines
from pivcs.session.migrations import version_of
from pivcs.session.world import World


@click.command("checkout")
@click.argument("arguments", metavar="[SESSION] REV", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-o", "--output", metavar="FILE", type=NewFile(), help="Write to FILE.")
@click.option("--in-place", is_flag=True, help="Let pi resume at REV in the same file: one line is appended.")
@summary_options
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    output: Path | None,
    in_place: bool,
    summary: str | None,
    summary_from: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Write the way to REV as a session of its own, which pi opens at that point.

    The new file is put where pi looks for the sessions of the same working directory, and its path is shown; it has the
    lines of the path as they are, labels among them, and its header names the file that it comes from. No file is ever
    replaced. A session of version 1 or 2 stays one; pi makes it version 3 when it opens it.

    With --in-place one line is appended to the session's own file instead, so that pi resumes at REV the next time it
    opens it. `pivcs undo` goes back.

    With a summary, the entry that pi's /tree would write follows on REV: what was tried on the path that is left, from
    where it parts from REV's on, and which files were read and changed there.
    """
    session, words = split_target(arguments, session)
    if len(words) != 1:
        raise click.UsageError("one revision, please: the entry to check out")
    if in_place and output is not None:
        raise click.UsageError("--in-place and --output do not go together")
    view = open_session(session)
    shown = Output(colour=colour, pager=not no_pager, utc=utc)
    if in_place:
        row = resolve_warned(view, words[0])
        go_to(view, row, summary_of(view, row, summary, summary_from), shown, as_json=as_json)
        return
    has_summary = summary is not None or summary_from is not None
    target = Target(view, resolve_warned(view, words[0])) if has_summary else _anywhere(view, words[0])
    entry = summary_of(view, target.row, summary, summary_from)
    for sentence in cautions(target.view, target.row):
        warn(sentence)
    entries = [] if entry is None else [entry]
    written = checkout(target.view, target.row, world=World.real(), output=output, entries=entries)
    version = version_of(target.view.header.fields)
    if target.view.header_row is not None and version < 3:
        warn(f"the session is of version {version:g}; pi will rewrite the new file as version 3 when it opens it")
    if as_json:
        shown.bytes([encode(written_document(written)), b"\n"])
    else:
        shown.lines(written_lines(target.view, target.row, written, shown.looks))


def _anywhere(view: SessionView, text: str) -> Target:
    target = resolve_target(view, text)
    for warning in target.warnings:
        warn(warning)
    return target
