"""`pivcs fetch`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.complete import remotes as complete_remotes
from pivcs.cli.damaged import fail_if_damaged
from pivcs.cli.forgotten_refs import warn_of_forgotten
from pivcs.cli.output import Output, output_options
from pivcs.cli.remote_target import remote_target
from pivcs.cli.target import now, open_store, store_option, surroundings
from pivcs.gitbridge.fetch import drop_forgotten, fetch, take_fetched
from pivcs.gitbridge.forgotten_refs import ForgottenRefs
from pivcs.gitbridge.importing import Imported, ImportedNames
from pivcs.render.documents import encode
from pivcs.render.share_text import fetch_document, fetch_lines
from pivcs.render.style import ColourWhen


@click.command("fetch")
@click.argument("remote", required=False, shell_complete=complete_remotes)
@click.option("--write", is_flag=True, help="Write the sessions that have no file here to where pi looks for them.")
@store_option
@output_options
def command(
    remote: str | None, write: bool, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool
) -> None:
    """Get the sessions that `pivcs push` sent to REMOTE, and take them into the store.

    REMOTE is found as by `pivcs push`. What it has below refs/pivcs/ is kept below refs/pivcs-remotes/; no other ref,
    no file and no setting of the repository changes. Sessions that came so belong to the project, wherever they were
    made: `pivcs ls`, `pivcs log` and others find them. Of a session that went on here and there `pivcs branch --all`
    lists the branches of both, those from there as `2/main`, and `pivcs log 2/main` shows one; `pivcs log --all` has
    those of one side. `pivcs tag` lists tags of both. Fetching again changes nothing.

    With --write they also become session files in pi's directory for the current one, so that pi can open them. A file
    that is there is never changed. The exit code is 30 when something that came is damaged; it is left out.
    """
    target = remote_target(remote)
    store = open_store()
    forgotten = ForgottenRefs(store)
    done = fetch(target.repository, target.remote, target.transport, forgotten)
    streams: list[Imported] = list(done.damaged)
    names: list[ImportedNames] = []
    for each in take_fetched(target.repository, target.remote, store, now=now()):
        (names if isinstance(each, ImportedNames) else streams).append(each)  # type: ignore[arg-type]
    held = drop_forgotten(target.repository, done, streams, forgotten)
    files: list[Path] = []
    if write:
        from pivcs.ops.writing_out import write_out

        files = write_out(store, surroundings(), now())
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(fetch_document(done, streams, names, files)), b"\n"])
    else:
        output.lines(fetch_lines(done, streams, names, files, output.looks))
    warn_of_forgotten(target.repository, done.remote, held)
    fail_if_damaged(streams)
