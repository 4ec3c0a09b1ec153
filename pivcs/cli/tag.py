"""`pivcs tag`."""

from __future__ import annotations

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import command_line, now, open_session, session_option, split_target
from pivcs.ops import operations
from pivcs.ops.revision import resolve_target
from pivcs.ops.tag_list import list_tags
from pivcs.render.branch_text import tag_document, tag_lines
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, changes_lines
from pivcs.render.style import ColourWhen


@click.command("tag")
@click.argument("arguments", metavar="[SESSION] [NAME] [REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-d", "--delete", is_flag=True, help="Delete the tags named.")
@click.option("-f", "--force", is_flag=True, help="Let a tag that exists name REV.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    delete: bool,
    force: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """List the tags of a session, or create and delete them.

    A tag is a fixed name for an entry: NAME for REV, by default HEAD. It stays when the session grows, and also when
    the file is rewritten. Tags are pivcs's own; pi's labels are listed by `pivcs label`. Tags that came from other
    machines are listed, too. `pivcs undo` takes back what was done here.
    """
    session, words = split_target(arguments, session)
    if delete and not words:
        raise click.UsageError("--delete needs the names of tags")
    if not delete and len(words) > 2:
        raise click.UsageError(f"a name and a revision, please, not {len(words)} arguments: {' '.join(words)}")
    view = open_session(session)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if not words:
        tags = list_tags(view)
        if as_json:
            output.bytes([encode(tag_document(view, tags)), b"\n"])
        else:
            output.lines(tag_lines(view, tags, output.looks))
        return
    if delete:
        changes = operations.delete_tags(view, words, now=now(), command=command_line())
    else:
        target = resolve_target(view, words[1] if len(words) == 2 else "HEAD")
        for warning in target.warnings:
            warn(warning)
        oid = target.view.table.object_id(target.row)
        changes = [operations.set_tag(view, words[0], oid, force=force, now=now(), command=command_line())]
    if as_json:
        output.bytes([encode(changes_document(changes)), b"\n"])
    else:
        output.lines(changes_lines(changes, output.looks))
