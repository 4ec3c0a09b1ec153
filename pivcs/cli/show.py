"""`pivcs show`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Final

import click

from pivcs.cli.bases import base_option
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, joined, output_options, warn
from pivcs.cli.target import current_directory, now, open_session, session_option, split_target
from pivcs.errors import InputError, PivcsError
from pivcs.ops import log as ops
from pivcs.ops.log_rows import chosen_by
from pivcs.ops.revision import NoEntryThere, UnknownRevision, resolve_row
from pivcs.ops.turns import turn_around
from pivcs.ops.view import SessionView
from pivcs.render.show_text import entry_json, entry_lines, line_lines
from pivcs.render.style import ColourWhen

COMMIT: Final = "commit/"
"""Stands before what names a commit of git, in whatever way git understands."""
_COMMIT_NAME: Final = re.compile(r"(?!HEAD(?:[~^@]|\Z))[A-Za-z0-9][A-Za-z0-9._/@{}^~+-]*")
"""What is looked for in the repository, too: HEAD is always the session's, and `:/text` and the like would mean commits
by chance."""

Shown = tuple[SessionView, int]
"""A row and the stream that it is in."""


class NoTurn(InputError):
    """An entry that belongs to no turn."""


@click.command("show")
@click.argument("arguments", metavar="[SESSION] [REV]...", nargs=-1, shell_complete=proposed)
@session_option
@click.option("--turn", is_flag=True, help="Show the whole turn that REV is in, from the prompt to the final answer.")
@click.option("--raw", is_flag=True, help="Write the bytes of the entry's line, as they are in the file.")
@click.option("--full", is_flag=True, help="Do not cut long texts.")
@base_option
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    turn: bool,
    raw: bool,
    full: bool,
    base: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show entries with everything they say: text, reasoning, tool calls with their changes, output.

    REV is a branch, a tag, a label, an entry id, an object id or its beginning, HEAD (the default), a line as L7; ~n
    and ^ go to ancestors. A range (main..b-1234abcd) or a set ('error() & tool(bash)') shows its entries, oldest first;
    REV:PATH is a file as it was there (the exit code is 1 if not all of it is known). A commit of the project's
    repository (commit/HEAD~2; also without commit/, where nothing in the session is called so) shows which entries made
    it, how much of it, and what was changed by hand.
    docs/revisions.md has it all. Control characters are made visible; --raw writes them as they are.
    """
    session, revisions = split_target(arguments, session)
    if raw and as_json:
        raise click.UsageError("--raw and --json do not go together")
    if any(text.startswith(COMMIT) for text in revisions):
        if len(revisions) > 1 or raw or turn:
            raise click.UsageError(f"'{COMMIT}…' stands alone, without --raw and --turn")
        output = Output(colour=colour, pager=not no_pager, utc=utc)
        _show_commit(revisions[0].removeprefix(COMMIT), session, base, output, as_json=as_json)
        return
    view = open_session(session)
    zone = UTC if utc else None
    if len(revisions) == 1 and ":" in revisions[0]:
        from pivcs.cli.file_show import show_file
        from pivcs.ops.files_at import file_revision

        file = file_revision(view, revisions[0])
        if file is not None:
            output = Output(colour=colour, pager=not no_pager, utc=utc)
            show_file(file, base, output, raw=raw, as_json=as_json)
            return
    shown: list[Shown] = []
    for text in revisions or ["HEAD"]:
        try:
            chosen = chosen_by(view, text, now(), zone)
        except NoEntryThere:  # a line that is none can be shown all the same
            if turn or as_json:
                raise
            shown.append((view, resolve_row(view, text)))
            continue
        except UnknownRevision:  # what the session has goes before what the repository has
            if len(revisions) > 1 or raw or turn or not _is_commit(text):
                raise
            output = Output(colour=colour, pager=not no_pager, utc=utc)
            _show_commit(text, session, base, output, as_json=as_json)
            return
        for warning in chosen.warnings:
            warn(warning)
        rows = chosen.rows if chosen.revision is None else [chosen.revision]
        shown += [(chosen.view, row) for row in (_turn(chosen.view, rows, text) if turn else rows)]
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes(entry_json((view, ops.logged(view, row)) for view, row in shown))
    elif raw:
        output.bytes(piece for view, row in shown for piece in _with_end(view, row))
    else:
        output.lines(joined(_lines(view, row, output, full=full) for view, row in shown))


def _is_commit(text: str) -> bool:
    """Whether a text that names nothing in the session is a commit of the repository of the current directory."""
    if _COMMIT_NAME.fullmatch(text) is None:
        return False
    from pivcs.gitbridge.process import Git
    from pivcs.gitbridge.repository import find_repository, resolve_commit

    try:
        resolve_commit(find_repository(current_directory()), text, Git.find(os.environ))
    except PivcsError:
        return False
    return True


def _show_commit(text: str, session: str | None, base: str | None, output: Output, *, as_json: bool) -> None:
    """Show which entries made a commit, and what was changed by hand. Raises `UnknownCommit`, `NoSession`."""
    from pivcs.cli.linking import here, linker_of, sessions_of
    from pivcs.gitbridge.commits import find_commits
    from pivcs.gitbridge.repository import resolve_commit
    from pivcs.render.documents import encode
    from pivcs.render.link_documents import LinkTeller, commit_document, sessions_documents
    from pivcs.render.link_text import commit_lines, places_lines

    place = here()
    ident = resolve_commit(place.repository, text, place.git)
    commits = list(find_commits(place.repository, place.git, [ident]))
    is_exported = session is None and commits[0].exported is not None  # says by itself what it is
    linker = linker_of(place, sessions_of(place, session, required=not is_exported), base)
    (link,) = linker.links(commits, hand=True)
    teller = LinkTeller(linker.views)
    if as_json:
        sessions = sessions_documents(linker.views, linker.places)
        commit = commit_document(teller, link, place.refs, hand=True)
        output.bytes([encode({"schema": "pivcs.showcommit/1", "sessions": sessions, "commit": commit}), b"\n"])
    else:
        said = places_lines(linker.views, linker.places, output.looks)
        output.lines([*said, *commit_lines(teller, link, place.refs, output.looks)])


def _turn(view: SessionView, rows: Sequence[int], text: str) -> list[int]:
    """Return the rows of the turns that rows are in, oldest first."""
    found: set[int] = set()
    for row in rows:
        if row in found:
            continue
        turn = turn_around(view, row)
        if turn is not None:
            found.update(turn.rows)
    if rows and not found:
        raise NoTurn(f"'{text}' is in no turn: there is no message in it")
    return sorted(found)


def _lines(view: SessionView, row: int, output: Output, *, full: bool) -> list[str]:
    if view.table.is_node(row):
        return list(entry_lines(view, ops.logged(view, view.table.first_row(row)), output.looks, full=full))
    return list(line_lines(view, row, output.looks))


def _with_end(view: SessionView, row: int) -> Iterator[bytes]:
    yield from view.iter_record(row)
    yield b"\n"
