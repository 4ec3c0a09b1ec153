"""`pivcs log`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from pivcs.cli.bases import base_for, base_option
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.filters import filter_options
from pivcs.cli.output import Output, joined, output_options, to_stderr, warn
from pivcs.cli.target import now, open_session, session_option, split_target
from pivcs.ops import log as ops
from pivcs.ops.log_rows import Filters, Scope, passing, scope_of
from pivcs.ops.view import SessionView
from pivcs.render import documents, log_text
from pivcs.render.amounts import plural
from pivcs.render.log_graph import graph_lines
from pivcs.render.style import ColourWhen

if TYPE_CHECKING:
    from pivcs.render.log_format import Template
    from pivcs.render.log_patch import Chosen

T = TypeVar("T")


class Shape(NamedTuple):
    """How a log is shown."""

    most: int | None
    graph: bool
    oneline: bool
    turns: bool
    full: bool
    reverse: bool
    template: Template | None
    patch: bool
    base: str | None
    files: Sequence[str]
    filtered: bool
    commits: bool


@click.command("log")
@click.argument("arguments", metavar="[SESSION] [REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-n", "--max-count", "count", type=click.IntRange(min=0), help="Show at most this many.")
@click.option("--all", "everything", is_flag=True, help="Show all branches, not only the path to HEAD or REV.")
@click.option("--graph", is_flag=True, help="Draw the tree, an entry a line; all branches unless REV is given.")
@click.option("--oneline", is_flag=True, help="Show each entry in one line.")
@click.option("-p", "--patch", is_flag=True, help="Show below each entry what it changed in files.")
@base_option
@click.option("--turns", is_flag=True, help="Show turns (prompt and outcome) instead of entries.")
@click.option("--format", "template", metavar="TEMPLATE", help="Show each entry so, as '{id} {subject:.60}'.")
@click.option("--commits", is_flag=True, help="Show the commits of git that each entry's changes went into.")
@click.option("--full", is_flag=True, help="With --graph: do not elide long runs of entries.")
@click.option("--reverse", is_flag=True, help="Show the oldest first.")
@filter_options
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
    commits: bool,
    full: bool,
    reverse: bool,
    patch: bool,
    base: str | None,
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
    if patch and (graph or template is not None):
        raise click.UsageError("-p does not go with --graph and --format")
    session, revisions = split_target(arguments, session)
    if len(revisions) > 1:
        raise click.UsageError(f"one revision, please, not {len(revisions)}: {' '.join(revisions)}")
    if everything and revisions:
        raise click.UsageError(f"--all and '{revisions[0]}' do not go together")
    wanted = Filters(**filters)
    shape = Shape(
        count, graph, oneline, turns, full, reverse, _template(template), patch, base, wanted.files, bool(wanted),
        commits,
    )
    view = open_session(session)
    time, zone = now(), UTC if utc else None
    text = revisions[0] if revisions else None
    scope = scope_of(view, text, everything=everything or (graph and text is None), now=time, zone=zone)
    _say(scope)
    if text is None and (everything or graph):
        _say_what_else(view)
    if commits:
        from pivcs.cli.linking import mark_commits

        mark_commits(scope.view, base)
    passed = passing(scope.view, scope.iter_rows(), wanted, now=time, zone=zone)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes(_json(scope, passed, shape))
    else:
        output.lines(_lines(scope, passed, shape, output))


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


def _say_what_else(view: SessionView) -> None:
    """Say that the session has branches in other sources, as of another machine: the tree is that of one source."""
    stream, store = view.stream, view.store
    if stream is None or store is None or stream.session is None:
        return
    if all(each.source == stream.source for each in store.streams_of_session(stream.session)):
        return
    others = [each for each in view.refs.branches_elsewhere
              if each.store is None and each.stream.source != stream.source]  # fmt: skip
    if others:
        first, count = others[0].name, len(others)
        are = f"{plural(count, 'more branch', 'more branches')} of the session {'is' if count == 1 else 'are'}"
        shown = f"`pivcs log {first}` shows it" if count == 1 else "`pivcs branch --all` names them"
        to_stderr(f"note: {are} in another source; {shown}")


def _lines(scope: Scope, passed: Iterator[int], shape: Shape, output: Output) -> Iterable[str]:
    view, looks = scope.view, output.looks
    if shape.graph:
        only = set(passed) if shape.filtered or scope.is_set else None
        rows = ops.rows_of_tree(view) if scope.is_set else list(scope.iter_rows())
        return graph_lines(
            view,
            rows,
            looks,
            only=only,
            count=shape.most,
            turns=shape.turns,
            full=shape.full or shape.filtered,
            template=shape.template,
            encoding=output.encoding,
        )
    if shape.turns:
        turns = list(_cut(_turns(scope, passed, filtered=shape.filtered), shape))
        if shape.patch:
            return _patched_turns(scope, turns, shape, looks)
        return joined(log_text.turn_lines(view, turn, looks) for turn in turns)
    cut = _cut(passed, shape)
    if shape.patch:
        return _patched(scope, list(cut), shape, looks)
    entries = ops.entries(view, cut)
    template = shape.template
    if template is not None:
        return (template.fill(view, entry, looks) for entry in entries)
    if shape.oneline:
        return (log_text.oneline(entry, view.subject(entry.row), looks) for entry in entries)
    return joined(log_text.paragraph(view, entry, looks) for entry in entries)


def _chosen(scope: Scope, rows: Collection[int], shape: Shape) -> Chosen:
    """Return the changes shown with rows of a log; those of results that filters left out are under their calls."""
    from pivcs.ops.changes_at import owners_of
    from pivcs.ops.predicates import names_file
    from pivcs.render.log_patch import Chosen

    wants = names_file(shape.files, scope.view.header.cwd)
    if not shape.filtered and not scope.is_set:
        return Chosen({row: row for row in rows}, wants)
    # What is not on the path that is shown did not happen there.
    within = None if scope.is_set else set(scope.iter_rows())
    return Chosen(owners_of(scope.view, rows, within), wants)


def _patched(scope: Scope, rows: list[int], shape: Shape, looks: log_text.Looks) -> Iterable[str]:
    from pivcs.render.log_patch import patches_of, under

    view = scope.view
    patches = patches_of(view, _chosen(scope, rows, shape), base_for(view, shape.base)[0], looks)
    if not shape.oneline:
        return joined(
            under(log_text.paragraph(view, entry, looks), [entry.row], patches) for entry in ops.entries(view, rows)
        )
    return (
        line
        for entry in ops.entries(view, rows)
        for line in (log_text.oneline(entry, view.subject(entry.row), looks), *patches.get(entry.row, ()))
    )


def _patched_turns(scope: Scope, turns: list[ops.Turn], shape: Shape, looks: log_text.Looks) -> Iterable[str]:
    from pivcs.render.log_patch import patches_of, under

    view, rows = scope.view, {row for turn in turns for row in turn.rows}
    patches = patches_of(view, _chosen(scope, rows, shape), base_for(view, shape.base)[0], looks)
    return joined(under(log_text.turn_lines(view, turn, looks), turn.rows, patches) for turn in turns)


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


def _json(scope: Scope, passed: Iterator[int], shape: Shape) -> Iterator[bytes]:
    view: SessionView = scope.view
    head: documents.Document = {"session": documents.session_document(view)}
    if shape.turns:
        found = _cut(_turns(scope, passed, filtered=shape.filtered), shape)
        if shape.patch:
            found = list(found)
            changes = _changes(scope, {row for turn in found for row in turn.rows}, shape)
            return documents.streamed("pivcs.turns/1", head, "turns", (
                documents.turn_document(view, turn) | _turn_commits(scope, turn, shape)
                | {"changes": [change for row in turn.rows for change in changes.get(row, ())]}
                for turn in found
            ))  # fmt: skip
        turns = (documents.turn_document(view, turn) | _turn_commits(scope, turn, shape) for turn in found)
        return documents.streamed("pivcs.turns/1", head, "turns", turns)
    cut = _cut(passed, shape)
    if shape.patch:
        rows = list(cut)
        changes = _changes(scope, rows, shape)
        return documents.streamed("pivcs.log/1", head, "entries", (
            documents.entry_document(view, entry) | _commits(entry, shape) | {"changes": changes.get(entry.row, [])}
            for entry in ops.entries(view, rows)
        ))  # fmt: skip
    entries = ops.entries(view, cut)
    found_entries = (documents.entry_document(view, entry) | _commits(entry, shape) for entry in entries)
    return documents.streamed("pivcs.log/1", head, "entries", found_entries)


def _commits(entry: ops.LoggedEntry, shape: Shape) -> documents.Document:
    return {"commits": documents.made_commits(entry.commits)} if shape.commits else {}


def _turn_commits(scope: Scope, turn: ops.Turn, shape: Shape) -> documents.Document:
    if not shape.commits:
        return {}
    return {"commits": documents.made_commits(each for row in turn.rows for each in scope.view.commits.get(row, ()))}


def _changes(scope: Scope, rows: Collection[int], shape: Shape) -> dict[int, list[documents.Document]]:
    from pivcs.render.log_patch import change_documents

    return change_documents(scope.view, _chosen(scope, rows, shape), base_for(scope.view, shape.base)[0])
