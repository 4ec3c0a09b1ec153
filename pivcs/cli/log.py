"""`pivcs log`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, joined, output_options, to_stderr, warn
from pivcs.cli.target import now, open_session, session_option, split_target
from pivcs.ops import log as ops
from pivcs.ops.log_rows import Filters, Scope, passing, scope_of
from pivcs.ops.view import SessionView
from pivcs.render import documents, log_text
from pivcs.render.log_graph import graph_lines
from pivcs.render.style import ColourWhen

if TYPE_CHECKING:
    from pivcs.render.log_format import Template

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Shape(NamedTuple):
    """How a log is shown."""

    most: int | None
    graph: bool
    oneline: bool
    turns: bool
    full: bool
    reverse: bool
    template: Template | None


def _filter_options(command: F) -> F:
    """Give a command the options that narrow a log down."""
    several = {"multiple": True}
    options: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("--since", "--after"), {"metavar": "DATE", "help": "Show only entries of this time or later."}),
        (("--until", "--before"), {"metavar": "DATE", "help": "Show only entries from before this time."}),
        (
            ("--role", "roles"),
            {"metavar": "ROLE", **several, "help": "Only messages of a role: user, assistant, tool."},
        ),
        (
            ("--type", "types"),
            {"metavar": "TYPE", **several, "help": "Only entries of a type: message, compaction ..."},
        ),
        (("--tool", "tools"), {"metavar": "NAME", **several, "help": "Only calls of a tool and their results."}),
        (("--file", "files"), {"metavar": "GLOB", **several, "help": "Only calls that read, write or edit a file."}),
        (("--grep", "patterns"), {"metavar": "RE", **several, "help": "Only entries whose text matches."}),
        (("-i", "--ignore-case"), {"is_flag": True, "help": "Let --grep find letters of either case."}),
        (("--errors",), {"is_flag": True, "help": "Only failures: of tools, and of the model."}),
    ]
    for names, settings in reversed(options):
        command = click.option(*names, **settings)(command)
    return command


@click.command("log")
@click.argument("arguments", metavar="[SESSION] [REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-n", "--max-count", "count", type=click.IntRange(min=0), help="Show at most this many.")
@click.option("--all", "everything", is_flag=True, help="Show all branches, not only the path to HEAD or REV.")
@click.option("--graph", is_flag=True, help="Draw the tree, an entry a line; all branches unless REV is given.")
@click.option("--oneline", is_flag=True, help="Show each entry in one line.")
@click.option("--turns", is_flag=True, help="Show turns (prompt and outcome) instead of entries.")
@click.option("--format", "template", metavar="TEMPLATE", help="Show each entry so, as '{id} {subject:.60}'.")
@click.option("--full", is_flag=True, help="With --graph: do not elide long runs of entries.")
@click.option("--reverse", is_flag=True, help="Show the oldest first.")
@_filter_options
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    count: int | None,
    everything: bool,
    graph: bool,
    oneline: bool,
    turns: bool,
    template: str | None,
    full: bool,
    reverse: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
    **filters: Any,
) -> None:
    """Show the entries of a session, newest first.

    SESSION is a session file (-s takes ids); without it the latest of the current project is shown. REV is a branch, a
    tag, a label, an entry id, an object id or its beginning, HEAD, with ~n or ^ for ancestors; the log then shows the
    path to it. It may also be a range (main..b-1234abcd) or a set ('tool(bash) & error()'), see docs/revisions.md.
    Every entry begins with an id that can be used as REV; names that point at it follow in brackets.

    Filters are joined: an entry must pass each of them; of one that is repeated it must pass one. The fields of
    TEMPLATE are in docs/log-format.md.
    """
    if graph and reverse:
        raise click.UsageError("--graph and --reverse do not go together: a graph is drawn newest first")
    if template is not None and (turns or oneline or as_json):
        raise click.UsageError("--format does not go with --turns, --oneline and --json")
    session, revisions = split_target(arguments, session)
    if len(revisions) > 1:
        raise click.UsageError(f"one revision, please, not {len(revisions)}: {' '.join(revisions)}")
    if everything and revisions:
        raise click.UsageError(f"--all and '{revisions[0]}' do not go together")
    shape = Shape(count, graph, oneline, turns, full, reverse, _template(template))
    view = open_session(session)
    time, zone = now(), UTC if utc else None
    text = revisions[0] if revisions else None
    scope = scope_of(view, text, everything=everything or (graph and text is None), now=time, zone=zone)
    _say(scope)
    wanted = Filters(**filters)
    passed = passing(scope.view, scope.iter_rows(), wanted, now=time, zone=zone)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes(_json(scope, passed, shape, filtered=bool(wanted)))
    else:
        output.lines(_lines(scope, passed, shape, output, filtered=bool(wanted)))


def _template(text: str | None) -> Template | None:
    if text is None:
        return None
    from pivcs.render.log_format import Template

    return Template(text)


def _say(scope: Scope) -> None:
    for warning in scope.warnings:
        warn(warning)
    stream = scope.view.stream
    if stream is not None and stream.generation > 1:
        number = stream.generation
        to_stderr(f"note: the file was rewritten or cut; generation {number} is shown, see `pivcs status`")


def _lines(scope: Scope, passed: Iterator[int], shape: Shape, output: Output, *, filtered: bool) -> Iterable[str]:
    view, looks = scope.view, output.looks
    if shape.graph:
        only = set(passed) if filtered or scope.is_set else None
        rows = ops.rows_of_tree(view) if scope.is_set else list(scope.iter_rows())
        return graph_lines(
            view,
            rows,
            looks,
            only=only,
            count=shape.most,
            turns=shape.turns,
            full=shape.full or filtered,
            template=shape.template,
            encoding=output.encoding,
        )
    if shape.turns:
        turns = _cut(_turns(scope, passed, filtered=filtered), shape)
        return joined(log_text.turn_lines(view, turn, looks) for turn in turns)
    entries = ops.entries(view, _cut(passed, shape))
    template = shape.template
    if template is not None:
        return (template.fill(view, entry, looks) for entry in entries)
    if shape.oneline:
        return (log_text.oneline(entry, view.subject(entry.row), looks) for entry in entries)
    return joined(log_text.paragraph(view, entry, looks) for entry in entries)


def _turns(scope: Scope, passed: Iterator[int], *, filtered: bool) -> list[ops.Turn]:
    """Return the turns of a log; of a filtered one those that have an entry that passed."""
    turns = ops.turns_of(scope.view, list(scope.iter_rows()))
    if not filtered:
        return turns
    wanted = set(passed)
    return [turn for turn in turns if not wanted.isdisjoint(turn.rows)]


def _cut(found: Iterable[T], shape: Shape) -> Iterable[T]:
    """As git does: the newest `count`, then in the order that was asked for."""
    chosen = islice(found, shape.most)
    return reversed(list(chosen)) if shape.reverse else chosen


def _json(scope: Scope, passed: Iterator[int], shape: Shape, *, filtered: bool) -> Iterator[bytes]:
    view: SessionView = scope.view
    head: documents.Document = {"session": documents.session_document(view)}
    if shape.turns:
        found = _cut(_turns(scope, passed, filtered=filtered), shape)
        turns = (documents.turn_document(view, turn) for turn in found)
        return documents.streamed("pivcs.turns/1", head, "turns", turns)
    entries = ops.entries(view, _cut(passed, shape))
    return documents.streamed(
        "pivcs.log/1", head, "entries", (documents.entry_document(view, entry) for entry in entries)
    )
