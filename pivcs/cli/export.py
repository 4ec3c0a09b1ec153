"""`pivcs export`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.file_target import project_views
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import reader, store_option
from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from pivcs.ops.locate import NoSession
from pivcs.render.documents import encode
from pivcs.render.export_text import export_document, export_lines
from pivcs.render.style import ColourWhen

REFUSED = 1


@click.command("export")
@click.argument("destination", metavar="DEST", type=click.Path(path_type=Path))
@click.argument("sessions", metavar="[SESSION]...", nargs=-1)
@click.option("--force", is_flag=True, help="Set refs, too, that somebody else has moved in DEST.")
@store_option
@output_options
def command(
    destination: Path,
    sessions: tuple[str, ...],
    force: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Write sessions into the git repository DEST for review: a commit for each entry, with branches, labels and tags.

    DEST is made when it is not there. Without SESSION all sessions of the current project are written; a session is a
    path, or the beginning of an id or a key. Each commit has what was said as its message and on a page of its tree,
    beside the project's files as they are known at that entry. The same entries give the same commits everywhere, so a
    second export only adds. Everything that the sessions say is in there: look through it before you give it away.

    The exit code is 1 when a ref was left because somebody else has moved it.
    """
    if sessions:
        opened = reader()
        views = tuple(opened.open(session) for session in sessions)
    else:
        views = project_views(None)
    if not views:
        raise NoSession("no session belongs to the current project", hint="name session files, see `pivcs ls --all`")
    place = Destination.open(destination)
    done = export(views, place, force=force)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    where = str(destination)
    if as_json:
        output.bytes([encode(export_document(done, where)), b"\n"])
    else:
        output.lines(export_lines(done, where, output.looks))
    if any(moved.outcome == "refused" for session in done.sessions for moved in session.moved):
        click.get_current_context().exit(REFUSED)
