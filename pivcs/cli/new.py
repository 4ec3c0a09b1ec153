"""`pivcs new`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pivcs.cli.output import NewFile, Output, output_options, warn
from pivcs.cli.target import text_of
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen, Role
from pivcs.render.text import visible


@click.command("new")
@click.option("--user", "prompt", metavar="TEXT", help="Begin with this message of the user.")
@click.option("--empty", is_flag=True, help="Write a file that has only a header.")
@click.option(
    "--cwd",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="The working directory of the session. Default: the current one.",
)
@click.option("--id", "session_id", metavar="ID", help="The session's id, instead of a new one.")
@click.option("--parent", metavar="FILE", type=click.Path(path_type=Path), help="The session that it comes from.")
@click.option("-o", "--output", metavar="FILE", type=NewFile(), help="Write to FILE.")
@output_options
def command(
    prompt: str | None,
    empty: bool,
    cwd: Path,
    session_id: str | None,
    parent: Path | None,
    output: Path | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Write a new session and show its path.

    The file is put where pi looks for the sessions of the working directory. Without --user and --empty, standard input
    has what it begins with, entries or messages as JSON lines, as `pivcs append` takes them; append adds more later. No
    file is ever replaced.
    """
    import shlex

    from pivcs.ops.making import new_session, read_entries, user_message
    from pivcs.render.written_text import resume, written_document
    from pivcs.session.world import World

    if prompt is not None and empty:
        raise click.UsageError("--user and --empty do not go together")
    if prompt is not None and not prompt.strip():
        raise click.UsageError("--user needs something that the user says; --empty writes a file without a message")
    world = World.real()
    numbers = None
    entries = [] if prompt is None else [user_message(text_of(prompt), world)]
    if prompt is None and not empty:
        if not sys.stdin.isatty():
            entries, numbers = read_entries(sys.stdin.buffer.read().split(b"\n"), world, warn)
        if not entries:
            said = "a session's file begins with a message: --user TEXT gives one, --empty does without"
            raise click.UsageError(said)
    written = new_session(
        cwd, world=world, entries=entries, numbers=numbers, session_id=session_id, parent=parent, output=output
    )
    shown = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        shown.bytes([encode(written_document(written)), b"\n"])
    else:
        how = visible(shlex.join(resume(written)), keep="")
        shown.lines([visible(str(written.path), keep=""), shown.looks.styler(Role.DIM, how)])
