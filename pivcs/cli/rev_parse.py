"""`pivcs rev-parse`."""

from __future__ import annotations

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, warn
from pivcs.cli.target import now, open_session, session_option, split_target
from pivcs.errors import PivcsError
from pivcs.ops.log_rows import chosen_by
from pivcs.ops.names import Names
from pivcs.ops.revset import Selection
from pivcs.ops.view import SessionView
from pivcs.render.documents import encode
from pivcs.render.log_text import SHORT_OID
from pivcs.render.ref_documents import revisions_document
from pivcs.render.text import one_line


@click.command("rev-parse")
@click.argument("arguments", metavar="[SESSION] REV...", nargs=-1, required=True, shell_complete=proposed)
@session_option
@click.option("--short", "form", flag_value="short", help=f"Write {SHORT_OID} digits of each object id.")
@click.option("--entry", "form", flag_value="entry", help="Write entry ids.")
@click.option("--symbolic", "form", flag_value="symbolic", help="Write the shortest names that can be typed.")
@click.option("--verify", is_flag=True, help="Write nothing; exit 0 if each REV names exactly one entry, 1 if not.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON document, see docs/json.md.")
@click.pass_context
def command(
    context: click.Context,
    arguments: tuple[str, ...],
    session: str | None,
    form: str | None,
    verify: bool,
    as_json: bool,
) -> None:
    """Write the object ids of what revisions name, one a line; for scripts.

    REV may also be a range or a set (docs/revisions.md): all its entries are written, in the order of the file.
    """
    session, revisions = split_target(arguments, session)
    if not revisions:
        raise click.UsageError("a revision is needed")
    view = open_session(session)
    try:
        chosen = [chosen_by(view, text, now(), None) for text in revisions]
    except PivcsError:
        if verify:
            context.exit(1)
        raise
    if verify:
        context.exit(0 if all(len(each.rows) == 1 for each in chosen) else 1)
    for each in chosen:
        for warning in each.warnings:
            warn(warning)
    output = Output(colour="never", pager=False, utc=False)
    if as_json:
        output.bytes([encode(revisions_document(view, list(zip(revisions, chosen, strict=True)))), b"\n"])
    else:
        output.lines(one_line(name) for each in chosen for name in _names(view, each, form))


def _names(view: SessionView, chosen: Selection, form: str | None) -> list[str]:
    table = chosen.view.table
    if form == "symbolic":
        names = Names(chosen.view)
        return [names.name_of(row) for row in chosen.rows]
    if form == "entry":
        return [table.name(row) for row in chosen.rows]
    return [table.object_id(row).hex[: SHORT_OID if form == "short" else None] for row in chosen.rows]
