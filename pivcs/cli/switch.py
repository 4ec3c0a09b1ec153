"""`pivcs switch`, and what `pivcs checkout` shares with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import command_line, now, open_session, resolve_warned, session_option, split_target
from pivcs.ops import operations
from pivcs.ops.cautions import cautions
from pivcs.ops.checkout import Object, Written
from pivcs.ops.ref_names import check_ref_name
from pivcs.ops.summaries import ask_command, left_behind, summary_entry
from pivcs.ops.switch import as_it_is, is_there_already, resume_at
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.written_text import written_document, written_lines
from pivcs.session.world import World

F = TypeVar("F", bound=Callable[..., Any])


def summary_options(command: F) -> F:
    """Give a command `--summary` and `--summary-from`."""
    for option in (
        click.option(
            "--summary-from",
            metavar="COMMAND",
            help="Let a shell command sum it up: the path that is left is its input, as text, its output the summary.",
        ),
        click.option("--summary", metavar="TEXT", help="Tell the model what was tried on the path that is left."),
    ):
        command = option(command)
    return command


@click.command("switch")
@click.argument("arguments", metavar="[SESSION] BRANCH", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-c", "--create", metavar="NAME", help="Create the branch NAME at BRANCH (by default at HEAD), too.")
@summary_options
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    create: str | None,
    summary: str | None,
    summary_from: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Let pi resume at the end of BRANCH, or at any other revision.

    One line is appended to the session file, as by `pivcs checkout --in-place`: a note that the model does not see, or
    the summary of the path that is left. `pivcs undo` goes back. A pi that has the file open does not see the line
    before it opens it again, so leave pi first.
    """
    session, words = split_target(arguments, session)
    if len(words) > 1 or (not words and create is None):
        raise click.UsageError("one branch or revision, please")
    view = open_session(session)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    name = words[0] if words else "HEAD"
    row = resolve_warned(view, name)
    if create is not None:
        _check_new(view, create)
    branch = view.refs.branch(name.removeprefix("heads/"))
    on_it = branch is not None and view.head is not None and view.table.conversation_ancestor(view.head) == row
    go_to(view, row, summary_of(view, row, summary, summary_from), output, as_json=as_json, on_it=on_it, create=create)


def go_to(
    view: SessionView, row: int, summary: Object | None, output: Output, *,
    as_json: bool, on_it: bool = False, create: str | None = None,
) -> None:  # fmt: skip
    """Let pi resume at an entry of the session's file, and show that; where it would do so already, nothing changes."""
    writer = Writer(now(), command_line(), warn, World.real())
    if on_it or is_there_already(view, row):
        written = as_it_is(view)
    else:
        for sentence in cautions(view, row):
            warn(sentence)
        written = resume_at(view, row, writer, summary)
    if create is not None:
        _create(written, view, row, create, writer)
    if as_json:
        output.bytes([encode(written_document(written)), b"\n"])
    else:
        output.lines(written_lines(view, row, written, output.looks))


def summary_of(view: SessionView, row: int, text: str | None, command: str | None) -> Object | None:
    """Return the entry that sums up what is left by going to a row, None without the options. Raises SummaryFailed."""
    if text is None and command is None:
        return None
    if text is not None and command is not None:
        raise click.UsageError("--summary and --summary-from do not go together")
    if text is not None and not text.strip():
        raise click.UsageError("--summary wants a text; without the option nothing is summed up")
    left = left_behind(view, row)
    if not left.entries:
        warn("no path is left, so there is nothing to sum up")
        return None
    return summary_entry(left, text if text is not None else ask_command(command or "", left.entries))


def _check_new(view: SessionView, name: str) -> None:
    """Refuse a branch that could not be created before anything is written."""
    check_ref_name(name)
    operations.named_stream(view)
    if view.refs.branch(name) is not None:
        raise operations.RefExists(f"a branch '{name}' exists", hint="`pivcs branch --force` moves it")


def _create(written: Written, view: SessionView, row: int, name: str, writer: Writer) -> None:
    """Create a branch where pi resumes now: at the entry, or at the summary below it."""
    from pivcs.ops.writing import synced_again

    at = synced_again(view, writer) or view
    tip = at.table.row_named(written.appended[-1]) if written.appended else at.table.first_row(row)
    assert tip is not None
    operations.create_branch(at, name, tip, force=False, now=writer.now, command=writer.command)
