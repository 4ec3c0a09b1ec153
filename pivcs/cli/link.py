"""`pivcs link`."""

from __future__ import annotations

import click

from pivcs.cli.complete import sessions as complete_sessions
from pivcs.cli.linking import here, linker_of, sessions_of
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import store_option, text_of
from pivcs.gitbridge.commits import find_commits
from pivcs.gitbridge.link_notes import write_notes
from pivcs.render.documents import Document, streamed
from pivcs.render.link_documents import LinkTeller, commit_document, noted_document, sessions_documents
from pivcs.render.link_text import link_lines, noted_line, places_lines
from pivcs.render.style import ColourWhen

NOTHING = 1


@click.command("link")
@click.argument("commits", metavar="[COMMIT|RANGE]...", nargs=-1)
@click.option("--notes", is_flag=True, help="Write the links as git notes, to refs/notes/pivcs.")
@click.option("--all", "everything", is_flag=True, help="Look at the commits of all branches and tags.")
@click.option(
    "--base",
    metavar="COMMIT",
    help="The commit that had the files before the sessions. Default: none, only what the sessions tell counts.",
)
@click.option(
    "-s",
    "--session",
    metavar="PATH|ID|KEY",
    shell_complete=complete_sessions,
    help="Look at this session only. Default: all sessions of the project, and those in its repository.",
)
@store_option
@output_options
def command(
    commits: tuple[str, ...],
    notes: bool,
    everything: bool,
    base: str | None,
    session: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show which commits of the project's repository were made by which entries of its sessions.

    A commit is compared with its first parent, and the lines that it adds with those that entries wrote: a file that
    is what an entry left is that entry's, a line that of whoever wrote it last. The rest was changed by hand, or
    nobody knows by whom. Nothing is remembered, so commits that were amended, rebased, squashed or cherry-picked are
    tied as any other. Without COMMIT these are the commits from the sessions' first entry on; a RANGE is as A..B.
    Commits that pivcs exported are passed by, and so is what is below `.pivcs/`.

    With --notes each commit gets a note that names sessions, entries and files, without any text of the session.
    Writing them again changes nothing; what others have noted stays. `git log --notes=pivcs` shows notes, and
    `git push REMOTE refs/notes/pivcs` takes them along. Nothing else of the repository is touched.

    The exit code is 1 when no entry has a part in any of the commits.
    """
    if everything and commits:
        raise click.UsageError(f"--all and '{commits[0]}' do not go together")
    place = here()
    linker = linker_of(place, sessions_of(place, session), base)
    since = None if commits else linker.began()
    found = list(find_commits(
        place.repository, place.git, [text_of(text) for text in commits], since=since, everything=everything
    ))  # fmt: skip
    links = list(linker.links(found))
    noted = write_notes(place.repository, links, linker.views) if notes else None
    teller = LinkTeller(linker.views)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        head: Document = {
            "repository": str(place.repository.root or place.repository.git_dir),
            "sessions": sessions_documents(linker.views, linker.places),
            "notes": noted_document(noted),
        }
        looked = (link for link in links if commits or link.commit.exported is None)
        documents = (commit_document(teller, link, place.refs) for link in looked)
        output.bytes(streamed("pivcs.link/1", head, "commits", documents))
    else:
        lines = [*places_lines(linker.views, linker.places, output.looks)] if links else []
        output.lines([*lines, *link_lines(teller, links, place.refs, output.looks, untied=bool(commits))])
        if noted is not None:
            output.lines([noted_line(noted, output.looks)])
    if not any(link.is_tied for link in links):
        click.get_current_context().exit(NOTHING)
