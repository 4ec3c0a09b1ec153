"""`pivcs sync`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import click

from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import now, open_store, store_option, surroundings
from pivcs.ops.locate import NoSession, all_files, files_in, project_files
from pivcs.ops.sync import Failed, Synced, note_absent, sync_files
from pivcs.ops.through import files_through, merged
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.sync_text import sync_document, sync_lines
from pivcs.session.listitem import NotListed


@click.command("sync")
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Sync every session that pi has, of all projects.")
@click.option("--full", is_flag=True, help="Compare all known bytes, not only a few pieces of large files.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but warnings.")
@store_option
@output_options
def command(
    paths: tuple[str, ...],
    everything: bool,
    full: bool,
    quiet: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Bring the store up to date with session files; they are only read.

    Without arguments the sessions of the current project. What a file was before it was rewritten, cut or deleted stays
    in the store.
    """
    skipped: list[NotListed] = []
    files = list(_files(paths, skipped, everything=everything))
    store = open_store()
    if not paths and not everything:
        files = merged(files, files_through(store, surroundings().cwd))
    results: list[Synced | Failed] = []
    with _progress(len(files), hidden=quiet or as_json) as bar:
        for result in sync_files(store, files, now(), full=full):
            results.append(result)
            if bar is not None:
                bar.update(1)
    lost = note_absent(store, now()) if everything else []
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(sync_document(results, lost)), b"\n"])
    elif not quiet:
        output.lines(sync_lines(results, lost, output.looks))
    for left_out in skipped:
        warn(left_out.message)
    failed = [result for result in results if isinstance(result, Failed)]
    for failure in failed:
        warn(failure.error.message)
    if not results and not skipped:
        raise NoSession("no session file to sync", hint="`pivcs sync --all` looks in all projects")
    if failed:
        click.get_current_context().exit(failed[0].error.exit_code)


def _files(paths: tuple[str, ...], skipped: list[NotListed], *, everything: bool) -> Iterable[Path]:
    if paths:
        return [
            file for path in map(Path, paths) for file in (files_in(path, skipped) if path.is_dir() else [path])
        ]
    around = surroundings()
    return all_files(around, skipped) if everything else project_files(around, skipped)


def _progress(count: int, *, hidden: bool):  # type: ignore[no-untyped-def]
    if hidden or count < 2 or not sys.stderr.isatty():
        return nullcontext()
    return click.progressbar(length=count, label="syncing", file=sys.stderr, show_pos=True)
