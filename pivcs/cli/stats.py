"""`pivcs stats`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

import click

from pivcs.cli.complete import sessions as proposed
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import now, reader, session_option, surroundings
from pivcs.errors import PivcsError
from pivcs.ops.access import Reader
from pivcs.ops.dates import parse_date
from pivcs.ops.listing import gone_sessions, known_elsewhere
from pivcs.ops.locate import NoSession, all_files, files_in
from pivcs.ops.stats import Asked, Statistics, count_sessions
from pivcs.ops.stats_copies import parents_first
from pivcs.ops.stats_groups import GROUPERS
from pivcs.ops.view import SessionView
from pivcs.render.documents import encode
from pivcs.render.stats_documents import csv_lines, statistics_document
from pivcs.render.stats_text import BLOCKS, sum_lines, table_lines
from pivcs.render.style import ColourWhen, Role
from pivcs.render.text import can_encode, one_line, visible
from pivcs.session.listitem import NotListed


@click.command("stats")
@click.argument("arguments", metavar="[SESSION|DIR]...", nargs=-1, shell_complete=proposed)
@session_option
@click.option("--all", "everywhere", is_flag=True, help="Count all sessions of all projects.")
@click.option("--by", type=click.Choice(list(GROUPERS)), help="Show a line for each of these instead of the sums.")
@click.option("--since", "--after", metavar="DATE", help="Count only entries of this time or later.")
@click.option("--until", "--before", metavar="DATE", help="Count only entries from before this time.")
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV with every number.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    everywhere: bool,
    by: str | None,
    since: str | None,
    until: str | None,
    as_csv: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Count entries, turns, tool calls, errors, tokens, cost and time: of the project's latest session, or those named.

    Entries on all branches count. What HEAD does not contain is shown as abandoned. What forks and other copies have in
    common counts once. See docs/statistics.md for what each number is.
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json do not go together")
    named = [*arguments, *([session] if session is not None else [])]
    if everywhere and named:
        raise click.UsageError("--all and a session do not go together")
    zone = UTC if utc else None
    asked = Asked(
        by,
        None if since is None else parse_date(since, now(), zone),
        None if until is None else parse_date(until, now(), zone),
        zone,
    )
    found = _Found()
    statistics = count_sessions(_views(reader(), named, found, everywhere=everywhere), asked)
    if not statistics.sessions and found.failed is None:
        raise NoSession("no session there" if named else "no session in any project")
    _show(statistics, asked, found, Output(colour=colour, pager=not no_pager, utc=utc), csv=as_csv, json=as_json)
    if found.failed is not None:
        click.get_current_context().exit(found.failed.exit_code)


class _Found:
    """What was met on the way: the first session that cannot be read, and the title of the last one."""

    failed: PivcsError | None = None
    title: str = ""


def _views(opened: Reader, named: Sequence[str], found: _Found, *, everywhere: bool) -> Iterator[SessionView]:
    """Yield the sessions one by one; more than one so that copies come after what they were copied from."""
    if everywhere or len(named) > 1 or any(Path(name).is_dir() for name in named):
        sessions: list[str | Path] = list(parents_first(_files(opened, named, everywhere=everywhere)))
        sessions += [name for name in named if not Path(name).exists()]
    else:
        view = opened.open(named[0] if named else None)
        found.title = _title(view)
        yield view
        return
    counted: set[str] = set()
    for session in dict.fromkeys(sessions):
        try:
            view = opened.open_path(session) if isinstance(session, Path) else opened.open(session)
        except PivcsError as error:
            warn(error.message)
            found.failed = found.failed or error
            continue
        if view.where in counted:  # named twice, by path and by id perhaps
            view.source.close()
            continue
        counted.add(view.where)
        yield view


def _files(opened: Reader, named: Sequence[str], *, everywhere: bool) -> Iterator[Path]:
    skipped: list[NotListed] = []
    if everywhere:
        files = all_files(surroundings(), skipped)
        if opened.store is not None:
            files += known_elsewhere(opened.store, files)
            files += [session.path for session in gone_sessions(opened.store, None)]
        yield from files
    for name in named:
        path = Path(name)
        if path.is_dir():
            yield from files_in(path, skipped)
        elif path.exists():
            yield path
    for left_out in skipped:
        warn(left_out.message)


def _title(view: SessionView) -> str:
    name = view.name or view.first_prompt
    ident = visible((view.header.id or Path(view.where).name)[:36], keep="")
    return f"{ident}  {one_line(name)}" if name else ident


def _show(
    statistics: Statistics, asked: Asked, found: _Found, output: Output, *, csv: bool, json: bool
) -> None:
    if json:
        output.bytes([encode(statistics_document(statistics, asked)) + b"\n"])
    elif csv:
        output.lines(csv_lines(statistics))
    elif statistics.by is not None:
        output.lines(table_lines(statistics, output.looks, blocks=can_encode(BLOCKS, output.encoding)))
    else:
        title = found.title or f"{statistics.sessions:,} session{'' if statistics.sessions == 1 else 's'}"
        output.lines(_with_title(title, statistics, output))


def _with_title(title: str, statistics: Statistics, output: Output) -> Iterator[str]:
    from pivcs.render.width import truncate

    columns = output.looks.columns
    yield output.looks.styler(Role.HEADING, title if columns is None else truncate(title, max(columns, 20)))
    yield from sum_lines(statistics, output.looks)
