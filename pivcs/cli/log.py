"""`pivcs log`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

from pivcs.cli.output import Output, joined, output_options, to_stderr
from pivcs.cli.target import open_session, session_option, split_target
from pivcs.ops import log as ops
from pivcs.ops.revision import resolve
from pivcs.ops.view import SessionView
from pivcs.render import documents, log_text
from pivcs.render.log_graph import graph_lines
from pivcs.render.style import ColourWhen

T = TypeVar("T")


@click.command("log")
@click.argument("arguments", metavar="[SESSION] [REV]", nargs=-1)
@session_option
@click.option("-n", "--max-count", "count", type=click.IntRange(min=0), help="Show at most this many.")
@click.option("--all", "everything", is_flag=True, help="Show all branches, not only the path to HEAD or REV.")
@click.option("--graph", is_flag=True, help="Draw the tree, an entry a line; all branches unless REV is given.")
@click.option("--oneline", is_flag=True, help="Show each entry in one line.")
@click.option("--turns", is_flag=True, help="Show turns (prompt and outcome) instead of entries.")
@click.option("--full", is_flag=True, help="With --graph: do not elide long runs of entries.")
@click.option("--reverse", is_flag=True, help="Show the oldest first.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    count: int | None,
    everything: bool,
    graph: bool,
    oneline: bool,
    turns: bool,
    full: bool,
    reverse: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show the entries of a session, newest first.

    SESSION is a session file or id; without it the latest session of the current project is shown. REV is a label, an
    entry id, an object id or its beginning, HEAD, with ~n or ^ for ancestors; the log then shows the path to it. Every
    entry begins with an id that can be used as REV.
    """
    if graph and reverse:
        raise click.UsageError("--graph and --reverse do not go together: a graph is drawn newest first")
    session, revisions = split_target(arguments, session)
    if len(revisions) > 1:
        raise click.UsageError(f"one revision, please, not {len(revisions)}: {' '.join(revisions)}")
    view = open_session(session)
    if view.stream is not None and view.stream.generation > 1:
        number = view.stream.generation
        to_stderr(f"note: the file was rewritten or cut; generation {number} is shown, see `pivcs status`")
    rows = _rows(view, revisions, everything=everything or (graph and not revisions))
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes(_json(view, rows, count, turns=turns, reverse=reverse))
    elif graph:
        output.lines(
            graph_lines(view, rows, output.looks, count=count, turns=turns, full=full, encoding=output.encoding)
        )
    elif turns:
        found = _cut(ops.turns_of(view, rows), count, reverse=reverse)
        output.lines(joined(log_text.turn_lines(view, turn, output.looks) for turn in found))
    else:
        entries = ops.entries(view, _cut(rows, count, reverse=reverse))
        if oneline:
            output.lines(log_text.oneline(entry, view.subject(entry.row), output.looks) for entry in entries)
        else:
            output.lines(joined(log_text.paragraph(view, entry, output.looks) for entry in entries))


def _rows(view: SessionView, revisions: Sequence[str], *, everything: bool) -> list[int]:
    if everything:
        return ops.rows_of_tree(view)
    return ops.rows_of_path(view, resolve(view, revisions[0]) if revisions else view.head)


def _cut(rows: Sequence[T], count: int | None, *, reverse: bool) -> Sequence[T]:
    """As git does: the newest `count`, then in the order that was asked for."""
    chosen = rows if count is None else rows[:count]
    return chosen[::-1] if reverse else chosen


def _json(
    view: SessionView, rows: Sequence[int], count: int | None, *, turns: bool, reverse: bool
) -> Iterator[bytes]:
    head: documents.Document = {"session": documents.session_document(view)}
    if turns:
        found = _cut(ops.turns_of(view, rows), count, reverse=reverse)
        turn_documents = (documents.turn_document(view, turn) for turn in found)
        return documents.streamed("pivcs.turns/1", head, "turns", turn_documents)
    entries = ops.entries(view, _cut(rows, count, reverse=reverse))
    return documents.streamed(
        "pivcs.log/1", head, "entries", (documents.entry_document(view, entry) for entry in entries)
    )


