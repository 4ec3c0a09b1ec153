"""`pivcs fsck`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import chain

import click

from pivcs.cli.output import Output, byte_progress, output_options
from pivcs.cli.target import open_store, store_option
from pivcs.gitbridge.snapshot_upkeep import check_snapshots
from pivcs.ops.fsck import amount, choose, fsck
from pivcs.ops.fsck_finding import ERROR, Finding
from pivcs.render.fsck_text import fsck_document, fsck_lines
from pivcs.render.style import ColourWhen

ERRORS_FOUND = 1


@click.command("fsck")
@click.argument("names", metavar="[SESSION|FILE]...", nargs=-1)
@click.option("--no-sources", is_flag=True, help="Check the store alone, not the session files against it.")
@click.option("--all", "every", is_flag=True, help="List every finding, however many are alike.")
@store_option
@output_options
def command(
    names: tuple[str, ...],
    no_sources: bool,
    every: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Check that the store is whole, and that session files are still what was written. Nothing is changed.

    Every stored byte is compared with its hash, everything that is kept beside the bytes is made again from them, and
    every session file is compared with what the store has of it: the first line that was changed, cut off, removed,
    swapped or inserted is named. What is unusual in the session files is named as well.

    Exit code 1 when there are errors; warnings and infos do not count. docs/fsck.md lists all findings.
    """
    store = open_store(create=False)
    store.database.connection.execute("PRAGMA query_only = ON")
    streams = choose(store, names) if names else None
    checked = store.streams() if streams is None else streams
    size = sum(stream.size for stream in checked)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    errors: list[str] = []
    shown = not as_json and sys.stderr.isatty()
    with ExitStack() as stack:
        with byte_progress("checking", amount(checked, sources=not no_sources), shown=shown) as progress:
            findings = fsck(store, streams, sources=not no_sources, progress=progress)
            stack.enter_context(closing(findings))  # before the store, also when nobody reads on
            sessions = None if streams is None else {stream.session for stream in streams if stream.session is not None}
            found: Iterable[Finding] = _noting(chain(findings, check_snapshots(store, sessions)), errors)
            if shown:
                found = list(found)
        if as_json:
            output.bytes(fsck_document(found, store.database.where, len(checked), size))
        else:
            output.lines(fsck_lines(found, len(checked), size, output.looks, every=every))
    if errors:
        click.get_current_context().exit(ERRORS_FOUND)


def _noting(findings: Iterable[Finding], errors: list[str]) -> Iterator[Finding]:
    """Pass findings on, and remember that there was an error among them."""
    for finding in findings:
        if finding.severity == ERROR and not errors:
            errors.append(finding.id)
        yield finding
