"""`pivcs gc`."""

from __future__ import annotations

import os

import click

from pivcs.cli.output import Output, byte_progress, output_options, warn
from pivcs.cli.target import open_store, store_option
from pivcs.gitbridge.process import Git, GitNotFound
from pivcs.gitbridge.snapshot_upkeep import Space, collect_snapshots, snapshot_space
from pivcs.ops.gc import collect_garbage, plan
from pivcs.render.documents import encode
from pivcs.render.store_text import gc_document, gc_lines
from pivcs.render.style import ColourWhen
from pivcs.store.store import Store


@click.command("gc")
@click.option("--apply", is_flag=True, help="Do it; without it nothing is changed.")
@store_option
@output_options
def command(apply: bool, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool) -> None:
    """Say how the store can be made smaller, or with --apply make it so.

    Chunks that no session uses and the files of deleted snapshots are removed, what was compressed in haste is
    compressed well, and free pages are given back. Nothing is lost by it: every generation of every session file is
    kept. Other commands may run meanwhile.
    """
    store = open_store(create=False)
    done = plan(store)
    if apply:
        with byte_progress("compressing", done.loose_bytes, shown=not as_json) as progress:
            done = collect_garbage(store, progress)
    space = _collected(store) if apply else snapshot_space(store)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(gc_document(done, space)), b"\n"])
    else:
        output.lines(gc_lines(done, space, output.looks))


def _collected(store: Store) -> Space | None:
    """Collect snapshots where there are any; without git they stay as they are."""
    if snapshot_space(store) is None:
        return None
    try:
        return collect_snapshots(store, Git.find(os.environ))
    except GitNotFound as error:
        warn(f"{error.message}; snapshots are left as they are")
        return snapshot_space(store)
