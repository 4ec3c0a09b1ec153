"""`pivcs merge-base`."""

from __future__ import annotations

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, warn
from pivcs.cli.target import open_session, session_option, split_target
from pivcs.ops.merge_base import is_ancestor, merge_base
from pivcs.ops.names import Names
from pivcs.ops.revision import InAnotherStream, Resolver
from pivcs.render.documents import encode
from pivcs.render.ref_documents import merge_base_document
from pivcs.render.text import one_line


@click.command("merge-base")
@click.argument("arguments", metavar="[SESSION] A B", nargs=-1, required=True, shell_complete=proposed)
@session_option
@click.option("--is-ancestor", "asks", is_flag=True, help="Write nothing; exit 0 if A is on the path to B, 1 if not.")
@click.option("-o", "--oid", is_flag=True, help="Write the object id instead of the entry id.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON document, see docs/json.md.")
@click.pass_context
def command(
    context: click.Context,
    arguments: tuple[str, ...],
    session: str | None,
    asks: bool,
    oid: bool,
    as_json: bool,
) -> None:
    """Write the last entry that the paths to two entries share: where they part.

    The exit code is 1 when they share none.
    """
    session, revisions = split_target(arguments, session)
    if len(revisions) != 2:
        raise click.UsageError(f"two revisions, please, not {len(revisions)}")
    resolver = Resolver(open_session(session))
    first, second = (resolver.node(text) for text in revisions)
    for warning in (*first.warnings, *second.warnings):
        warn(warning)
    view = first.view
    if view is not second.view:
        raise InAnotherStream(f"'{revisions[0]}' and '{revisions[1]}' are in different sources or generations")
    if asks and not as_json:
        context.exit(0 if is_ancestor(view, first.row, second.row) else 1)
    base = merge_base(view, first.row, second.row)
    output = Output(colour="never", pager=False, utc=False)
    if as_json:
        output.bytes([encode(merge_base_document(view, first.row, second.row, base)), b"\n"])
    elif base is not None:
        output.lines([view.table.object_id(base).hex if oid else one_line(Names(view).name_of(base, branches=False))])
    if base is None or (asks and base != first.row):
        context.exit(1)
