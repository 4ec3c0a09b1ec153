"""`pivcs archive`."""

from __future__ import annotations

import click

from pivcs.cli.complete import sessions as complete_sessions
from pivcs.cli.forget_completing import complete_in, forgotten_state, remember_archived
from pivcs.cli.forgotten_refs import leaving_reader, leaving_views, refuse_forgotten
from pivcs.cli.leaving import check_leaving, yes_option
from pivcs.cli.output import Output, output_options
from pivcs.cli.store_identity import store_id
from pivcs.cli.target import current_directory, store_option
from pivcs.gitbridge.archive import archive
from pivcs.gitbridge.archive_review import archive_review
from pivcs.gitbridge.repository import find_repository
from pivcs.ops.locate import NoSession
from pivcs.render.archive_text import archive_document, archive_lines
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen

REFUSED = 1


@click.command("archive")
@click.argument("sessions", metavar="[SESSION]...", nargs=-1, shell_complete=complete_sessions)
@click.option("--review", "with_review", is_flag=True, help="Write review commits, too, below refs/pivcs/KEY/review/.")
@click.option("--force", is_flag=True, help="Set refs, too, that name something else than what was written there.")
@yes_option
@store_option
@output_options
def command(
    sessions: tuple[str, ...],
    with_review: bool,
    force: bool,
    yes: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Put the project's sessions into its own git repository, below refs/pivcs/.

    Every byte of them goes along, with all that was read, typed and answered, older generations too, and the names of
    branches and tags that you made. Without SESSION all sessions of the current project are taken; a session is a path,
    or the beginning of an id or a key. HEAD, branches, index, work tree, configuration and hooks of the repository are
    not touched. An ordinary push does not take refs/pivcs/ along: `git push REMOTE 'refs/pivcs/*:refs/pivcs/*'` does,
    and `pivcs import` brings the sessions back from any copy.

    With --review the commits that `pivcs export` makes for reading are written, too, and
    `git log refs/pivcs/KEY/review/main` shows them.

    The sessions are looked through for secrets first, as `pivcs scan` does; when there are any that are not allowed,
    nothing is written unless --yes is given, and the exit code is 20. It is 1 when a ref was left, or a stream in the
    repository is damaged.
    """
    state = forgotten_state()
    if sessions:
        opened = leaving_reader()
        views = tuple(opened.open(session) for session in sessions)
        refuse_forgotten(views)
    else:
        views = leaving_views()
    if not views:
        raise NoSession("no session belongs to the current project", hint="name session files, see `pivcs ls --all`")
    repository = find_repository(current_directory())
    check_leaving(views, yes=yes, refuse=True)
    complete_in(repository)
    done = archive(views, repository, store_id(views[0]), force=force)
    remember_archived(state, done)
    review = archive_review(views, repository, force=force) if with_review else None
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    where = str(repository.root or repository.common_dir)
    if as_json:
        output.bytes([encode(archive_document(done, where, review)), b"\n"])
    else:
        output.lines(archive_lines(done, where, output.looks, review))
    outcomes = [ref.outcome for each in done.sessions for ref in each.refs]
    outcomes += [moved.outcome for each in review or () for moved in each.moved]
    if "refused" in outcomes or any(each.damaged for each in done.sessions):
        click.get_current_context().exit(REFUSED)
