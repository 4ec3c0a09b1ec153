"""`pivcs export`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.export_choice import chosen_sessions, export_base, with_history
from pivcs.cli.forgotten_refs import refuse_forgotten
from pivcs.cli.leaving import check_leaving
from pivcs.cli.output import Output, output_options
from pivcs.cli.store_identity import store_id
from pivcs.cli.target import session_option
from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import ExportOptions, export
from pivcs.gitbridge.review_options import Granularity, Person, ReviewOptions, parse_person
from pivcs.ops.locate import NoSession
from pivcs.render.documents import encode
from pivcs.render.export_text import export_document, export_lines
from pivcs.render.style import ColourWhen

REFUSED = 1


@click.command("export")
@click.argument("destination", metavar="DEST", type=click.Path(path_type=Path))
@click.argument("sessions", metavar="[SESSION|SET]...", nargs=-1)
@click.option("--turns", "granularity", flag_value=Granularity.TURNS.value,
              help="Write one commit for each finished turn.")  # fmt: skip
@click.option("--per-prompt-merge", "granularity", flag_value=Granularity.PROMPTS.value,
              help="Write a commit for each entry, and a merge of these for each finished turn.")  # fmt: skip
@click.option("--base", metavar="COMMIT", help="Let the commits go on from a commit of DEST.")
@click.option("--snapshots", is_flag=True, help="Write the snapshots of the work tree, too, as refs of their own.")
@click.option("--author", metavar="'NAME <ADDRESS>'", help="Whom entries of the user are by. Default: user.")
@click.option("--force", is_flag=True, help="Set refs, too, that somebody else has moved in DEST.")
@session_option
@output_options
def command(
    destination: Path,
    sessions: tuple[str, ...],
    granularity: str | None,
    base: str | None,
    snapshots: bool,
    author: str | None,
    force: bool,
    session: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Write sessions into the git repository DEST for review: a commit for each entry, with branches, labels and tags.

    DEST is made when it is not there. Without SESSION all sessions of the current project are written; a session is a
    path, or the beginning of an id or a key. SET is a revision or an expression as `pivcs log` takes it, of the session
    that -s names or the current one, or SESSION::SET: only the names of these entries are written, with all that leads
    to them.

    Each commit has what was said as its message and on a page of its tree, beside the project's files as they are known
    at that entry. The same entries give the same commits everywhere, so a second export only adds. With --base the
    commits have a commit of a project as their root and all of its files in their trees, so that `git diff` compares
    them with the project's own branches; DEST is then the project's repository, or a clone of it.

    Everything that the sessions say is in there: look through it before you give it away. A warning says how many
    secrets `pivcs scan` finds in them.

    The exit code is 1 when a ref was left because somebody else has moved it, or has it checked out.
    """
    person = Person() if author is None else parse_person(author)
    chosen = chosen_sessions(sessions, session)
    refuse_forgotten(each.view for each in chosen)
    if not chosen:
        raise NoSession("no session belongs to the current project", hint="name session files, see `pivcs ls --all`")
    if base is not None:
        with_history(destination)
    check_leaving((each.view for each in chosen), yes=False, refuse=False)
    place = Destination.open(destination)
    review = ReviewOptions(Granularity(granularity or Granularity.ENTRIES), person=person)
    options = ExportOptions(review, snapshots=snapshots, force=force, store_id=store_id(chosen[0].view))
    if base is not None:
        options = export_base(options, place.repository, base)
    done = export(chosen, place, options)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    where = str(destination)
    if as_json:
        output.bytes([encode(export_document(done, where)), b"\n"])
    else:
        output.lines(export_lines(done, where, output.looks))
    outcomes = [moved.outcome for each in done.sessions for moved in each.moved]
    if "refused" in outcomes or (done.page is not None and done.page.outcome == "refused"):
        click.get_current_context().exit(REFUSED)
