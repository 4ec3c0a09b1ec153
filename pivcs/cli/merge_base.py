"""`pivcs merge-base`."""

from __future__ import annotations

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, to_stderr
from pivcs.cli.sides import resolve_sides
from pivcs.cli.target import session_option, split_sides
from pivcs.ops.merge_base import parting
from pivcs.ops.names import Names
from pivcs.render.documents import encode
from pivcs.render.ref_documents import merge_base_document
from pivcs.render.text import one_line


@click.command("merge-base")
@click.argument("arguments", metavar="[SESSION] A B", nargs=-1, required=True, shell_complete=proposed)
@session_option
@click.option("--is-ancestor", "asks", is_flag=True, help="Write nothing; exit 0 if A is on the path to B, 1 if not.")
@click.option("--count", is_flag=True, help="Write how many entries only A's path has, and how many only B's.")
@click.option("-o", "--oid", is_flag=True, help="Write the object id instead of the entry id.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON document, see docs/json.md.")
@click.pass_context
def command(
    context: click.Context,
    arguments: tuple[str, ...],
    session: str | None,
    asks: bool,
    count: bool,
    oid: bool,
    as_json: bool,
) -> None:
    """Write the last entry that the paths to two entries share: where they part.

    A and B may be in different sessions, each named as SESSION::REV: what forks and copies have in common is recognised
    by object ids, and where these differ because a file was migrated or changed, by entry ids, types and times; a note
    says so. A..B and A...B are the same as A B. The exit code is 1 when they share none.
    """
    if asks and (count or oid):
        other = "--count" if count else "--oid"
        raise click.UsageError(f"--is-ancestor writes nothing, and so does not go with {other}")
    named, _ = split_sides(arguments, session)
    if len(named) != 2:
        raise click.UsageError(f"two revisions, please, not {len(named)}")
    first, second = resolve_sides(named)
    found = parting(first.view, first.row, second.view, second.row)
    is_ancestor = found.first == first.row
    if asks and not as_json:
        context.exit(0 if is_ancestor else 1)
    output = Output(colour="never", pager=False, utc=False)
    if as_json:
        output.bytes([encode(merge_base_document(first, second, found)), b"\n"])
    elif count:
        output.lines([f"{len(found.only_first)}\t{len(found.only_second)}"])
    elif found.first is not None:
        table = first.view.table
        name = table.object_id(found.first).hex if oid else Names(first.view).name_of(found.first, branches=False)
        output.lines([one_line(name)])
    if found.by == "relative" and not as_json:
        to_stderr("note: recognised by entry id, type and time; the object ids differ")
    if found.first is None or (asks and not is_ancestor):
        context.exit(1)
