"""`pivcs cat-file`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output, warn
from pivcs.cli.target import open_session, session_option, split_target
from pivcs.errors import PivcsError, StateError
from pivcs.objects.oid import NO_PARENT
from pivcs.ops.revision import resolve_target


@click.command("cat-file")
@click.argument("arguments", metavar="[SESSION] REV", nargs=-1, required=True)
@session_option
@click.option("-t", "what", flag_value="type", help="Write the entry's type.")
@click.option("--size", "what", flag_value="size", help="Write the record's size in bytes.")
@click.option("-o", "--oid", "what", flag_value="oid", help="Write the object id.")
@click.option("-e", "--exists", "what", flag_value="exists", help="Write nothing; exit 0 if it exists, 1 if not.")
@click.option(
    "--hash-input",
    "what",
    flag_value="hash",
    help="Write what the object id is the hash of: the parent's 32 bytes, then the record.",
)
@click.pass_context
def command(context: click.Context, arguments: tuple[str, ...], session: str | None, what: str | None) -> None:
    """Write the bytes of one entry exactly as they stand in the file, without the line end; for scripts.

    `pivcs cat-file --hash-input REV | b3sum --derive-key "pivcs node v1"` checks an object id by hand.
    """
    session, revisions = split_target(arguments, session)
    if len(revisions) != 1:
        raise click.UsageError("exactly one revision is needed")
    view = open_session(session)
    try:
        target = resolve_target(view, revisions[0])
    except PivcsError:
        if what == "exists":
            context.exit(1)
        raise
    for warning in target.warnings:
        warn(warning)
    view, row = target.view, target.row
    table = view.table
    output = Output(colour="never", pager=False, utc=False)
    if what == "type":
        output.lines([str(view.entry(row).type)])
    elif what == "size":
        output.lines([str(table.length[row])])
    elif what == "oid":
        output.lines([table.object_id(row).hex])
    elif what == "hash":
        if row in table.forgotten_rows():
            raise StateError(f"'{revisions[0]}' was forgotten: what its object id is the hash of is not there any more")
        parent = table.parent_of(row)
        output.bytes([NO_PARENT if parent is None else table.digest(parent)])
        output.bytes(view.iter_record(row))
    elif what is None:
        output.bytes(view.iter_record(row))
