"""`pivcs grep`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import now, open_session, reader, session_option, split_target, surroundings, text_of
from pivcs.errors import PivcsError
from pivcs.ops.entry_text import FIELDS
from pivcs.ops.grep import Around, Hit, grep, unsearched
from pivcs.ops.grep_pattern import Wanted, wanted
from pivcs.ops.listing import gone_sessions, known_elsewhere
from pivcs.ops.locate import all_files
from pivcs.ops.log_rows import scope_of
from pivcs.ops.view import SHOWN_WHOLE, SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.documents import Document, streamed
from pivcs.render.grep_text import hit_document, hit_lines
from pivcs.render.style import ColourWhen, Role
from pivcs.render.text import visible

NOTHING_FOUND = 1


class _Asked(NamedTuple):
    """What to look for, where in an entry, how many hits at most, and with what around each."""

    wanted: Wanted
    fields: Collection[str] | None
    most: int | None
    around: Around


def _fields(context: click.Context, _: click.Parameter, values: tuple[str, ...]) -> frozenset[str] | None:
    """Return the kinds of text that were named, each by its own option or with commas between them."""
    names = frozenset(name.strip() for value in values for name in value.split(","))
    unknown = sorted(names - set(FIELDS))
    if unknown:
        raise click.BadParameter(f"'{unknown[0]}' is none of {', '.join(FIELDS)}", context)
    return names or None


@click.command("grep")
@click.argument("arguments", metavar="PATTERN [SESSION] [REV]", nargs=-1, required=True, shell_complete=proposed)
@session_option
@click.option("--all", "everywhere", is_flag=True, help="Search all sessions of all projects.")
@click.option("--in", "fields", metavar="KIND", multiple=True, callback=_fields,
              help="Search only some kinds of text: text, thinking, tool, result, label, name.")  # fmt: skip
@click.option("-F", "--fixed-strings", "fixed", is_flag=True, help="PATTERN is a text, no regular expression.")
@click.option("-i", "--ignore-case", is_flag=True, help="Capitals and small letters are the same.")
@click.option("-w", "--word-regexp", "word", is_flag=True, help="Only whole words.")
@click.option("-c", "--count", "counts", is_flag=True, help="Write only how many lines of each session match.")
@click.option("-l", "--entries-with-matches", "names", is_flag=True, help="Write only the ids of entries.")
@click.option("--sessions-with-matches", "sessions", is_flag=True, help="Write only which sessions have a hit.")
@click.option("-m", "--max-count", "most", type=click.IntRange(min=1), help="Stop after so many hits in a session.")
@click.option("-A", "--after-context", "after", type=click.IntRange(min=0), default=0, metavar="N",
              help="Show N lines after each hit.")  # fmt: skip
@click.option("-B", "--before-context", "before", type=click.IntRange(min=0), default=0, metavar="N",
              help="Show N lines before each hit.")  # fmt: skip
@click.option("-C", "--context", "both", type=click.IntRange(min=0), metavar="N", help="Show N lines on both sides.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    everywhere: bool,
    fields: frozenset[str] | None,
    fixed: bool,
    ignore_case: bool,
    word: bool,
    counts: bool,
    names: bool,
    sessions: bool,
    most: int | None,
    after: int,
    before: int,
    both: int | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Search what was said, thought, called and answered: all branches of a session, or the path to REV.

    PATTERN is a regular expression of Python, looked for in each line of each text by itself. REV may be a range or a
    set, see docs/revisions.md. A hit tells entry, branch, who, and the number of the line in its text.

    The exit code is 1 when nothing is found, and that of the failure when a session could not be searched.
    """
    if counts + names + sessions + as_json > 1:
        raise click.UsageError("--count, --entries-with-matches, --sessions-with-matches and --json exclude each other")
    pattern = wanted(text_of(arguments[0]), fixed=fixed, ignore_case=ignore_case, word=word)
    around = Around(before, after) if both is None else Around(both, both)
    asked = _Asked(pattern, fields, most, around)
    session, revisions = split_target(arguments[1:], session)
    if everywhere and (session is not None or revisions):
        raise click.UsageError("--all and a session do not go together")
    if len(revisions) > 1:
        raise click.UsageError(f"one revision, please, not {len(revisions)}: {' '.join(revisions)}")
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    found = _Found()
    if everywhere:
        views = _all_sessions(found)
    else:
        view = open_session(session)
        rows: Collection[int] | None = None
        if revisions:
            scope = scope_of(view, revisions[0], everything=False, now=now(), zone=UTC if utc else None)
            for warning in scope.warnings:
                warn(warning)
            view, rows = scope.view, frozenset(scope.iter_rows())
        views = iter([(view, rows)])
    views = _noted(views)
    if as_json:
        head: Document = {"pattern": text_of(arguments[0])}
        output.bytes(streamed("pivcs.grep/1", head, "hits", _documents(views, asked, found)))
    else:
        show = _counted if counts else _named if names else _located if sessions else _shown
        output.lines(show(views, asked, found, output, several=everywhere))
    if found.failed is not None:
        click.get_current_context().exit(found.failed.exit_code)
    if not found.any:
        click.get_current_context().exit(NOTHING_FOUND)


class _Found:
    """Whether anything was found, and the first session that could not be searched."""

    any = False
    failed: PivcsError | None = None


Views = Iterator[tuple[SessionView, Collection[int] | None]]


def _hits(
    view: SessionView, rows: Collection[int] | None, asked: _Asked, found: _Found, *, once: bool = False
) -> Iterator[Hit]:
    hits = grep(view, asked.wanted, rows=rows, fields=asked.fields, around=asked.around, once=once)
    for hit in islice(hits, asked.most):
        found.any = True
        yield hit


def _all_sessions(found: _Found) -> Views:
    """Yield all sessions that pi or the store has, one after the other; what cannot be read is noted."""
    opened = reader()
    files: list[Path] = all_files(surroundings())
    if opened.store is not None:
        files += known_elsewhere(opened.store, files)
        files += [session.path for session in gone_sessions(opened.store, None)]
    for path in dict.fromkeys(files):
        try:
            view = opened.open_path(path)
        except PivcsError as error:
            warn(error.message)
            found.failed = found.failed or error
            continue
        with view:
            yield view, None


def _noted(views: Views) -> Views:
    """Yield sessions as they come, with a warning where not all of one is searched."""
    for view, rows in views:
        yield view, rows
        count = unsearched(view, rows)
        if count:
            which = "an entry" if count == 1 else f"{count:,} entries"
            warn(f"{which} of more than {SHOWN_WHOLE >> 20} MiB in '{view.where}' not searched")


def _documents(views: Views, asked: _Asked, found: _Found) -> Iterator[Document]:
    for view, rows in views:
        places = _later(view)
        for hit in _hits(view, rows, asked, found):
            yield hit_document(view, hit, places())


def _shown(views: Views, asked: _Asked, found: _Found, output: Output, *, several: bool) -> Iterator[str]:
    for view, rows in views:
        hits = _hits(view, rows, asked, found)
        first = next(hits, None)
        if first is None:
            continue
        if several:
            yield output.looks.styler(Role.HEADING, visible(view.where, keep=""))
        yield from hit_lines(view, _with_first(first, hits), Whereabouts(view), output.looks)


def _with_first(first: Hit, rest: Iterator[Hit]) -> Iterator[Hit]:
    yield first
    yield from rest


def _counted(views: Views, asked: _Asked, found: _Found, output: Output, *, several: bool) -> Iterator[str]:
    for view, rows in views:
        count = sum(1 for _ in _hits(view, rows, asked, found))
        if count or not several:
            yield f"{visible(view.where, keep='')}:{count}" if several else str(count)


def _named(views: Views, asked: _Asked, found: _Found, output: Output, *, several: bool) -> Iterator[str]:
    for view, rows in views:
        for hit in _hits(view, rows, asked, found, once=True):
            name = visible(view.table.name(hit.row), keep="")
            yield f"{visible(view.where, keep='')}::{name}" if several else name


def _located(views: Views, asked: _Asked, found: _Found, output: Output, *, several: bool) -> Iterator[str]:
    for view, rows in views:
        if next(_hits(view, rows, asked, found, once=True), None) is not None:
            yield visible(view.where, keep="")


def _later(view: SessionView) -> Callable[[], Whereabouts]:
    """Return what makes the answer to where entries stand when it is first asked for."""
    made: list[Whereabouts] = []

    def places() -> Whereabouts:
        if not made:
            made.append(Whereabouts(view))
        return made[0]

    return places
