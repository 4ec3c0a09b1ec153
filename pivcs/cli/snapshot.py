"""`pivcs snapshot`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import command_line, current_directory, now, open_session, session_option, split_session, text_of
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.snapshots import delete_snapshots, listed_snapshots, take_snapshot
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, changes_lines
from pivcs.render.snapshot_text import left_out_text, snapshot_document, snapshot_lines, taken_lines
from pivcs.render.style import ColourWhen


@click.command("snapshot")
@click.argument("arguments", metavar="[SESSION]", nargs=-1)
@session_option
@click.option("-m", "--message", metavar="TEXT", default="", help="What to remember it by.")
@click.option("-l", "--list", "listing", is_flag=True, help="List the session's snapshots instead.")
@click.option(
    "-d", "--delete", "numbers", metavar="NUMBER", type=click.IntRange(min=1), multiple=True,
    help="Delete the snapshot with a number instead; may be given several times.",
)  # fmt: skip
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    message: str,
    listing: bool,
    numbers: tuple[int, ...],
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Keep the project's files as they are now, beside the entry that the session is at.

    All files of the work tree that the session's working directory is in are stored with their exact bytes, but for
    those that git ignores; outside of a git repository it is the directory itself, and .gitignore files count. Nothing
    in the project's repository changes: files are kept beside the store. `pivcs restore` and `pivcs files` then know
    them exactly. `pivcs undo` removes the snapshot, `--delete` another one.
    """
    named = split_session(arguments, session)
    if listing + bool(numbers) + bool(message) > 1:
        raise click.UsageError("--message, --list and --delete exclude each other")
    view = open_session(named)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if listing:
        records = listed_snapshots(view)
        if as_json:
            output.bytes([encode(snapshot_document(view, records)), b"\n"])
        else:
            output.lines(snapshot_lines(view, records, output.looks))
        return
    if numbers:
        changes = delete_snapshots(view, numbers, now=now(), command=command_line())
        if as_json:
            output.bytes([encode(changes_document(changes)), b"\n"])
        else:
            output.lines(changes_lines(changes, output.looks))
        return
    taken = take_snapshot(
        view, view.header.cwd or current_directory(), text_of(message).encode("utf-8", "backslashreplace").decode(),
        git=Git.find(os.environ), home=Path.home(), now=now(), command=command_line(),
    )  # fmt: skip
    if taken.left_out:
        warn(left_out_text(taken.left_out))
    if as_json:
        output.bytes([encode(snapshot_document(view, [taken.record], taken.left_out)), b"\n"])
    else:
        output.lines(taken_lines(view, taken.record, output.looks))
