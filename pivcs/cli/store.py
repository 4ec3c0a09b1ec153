"""`pivcs store info`, `pivcs store backup`, `pivcs store move`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_store, places, store_option
from pivcs.ops.store_admin import back_up_store, move_store, store_facts
from pivcs.render.amounts import format_bytes
from pivcs.render.documents import encode
from pivcs.render.store_text import store_document, store_lines
from pivcs.render.style import ColourWhen
from pivcs.render.text import one_line
from pivcs.store.location import DIRECTORY_VARIABLE, PROJECT_DIRECTORY


@click.group("store")
@store_option
def command() -> None:
    """Look at the store as a whole, copy it, or move it.

    The store keeps what was seen of every session. It is PIVCS_DIR or --store if given, else the project's own (see
    `pivcs init`), else the one in your data directory.
    """


@command.command("info")
@store_option
@output_options
def info(as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool) -> None:
    """Say where the store is, what it holds, and how large it is."""
    facts = store_facts(open_store(create=False))
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(store_document(facts)), b"\n"])
    else:
        output.lines(store_lines(facts, output.looks))


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
def backup(file: Path) -> None:
    """Copy the store to FILE, which must not exist yet.

    The copy is of one moment, while other commands may go on writing, and readable by you only. It is a store itself:
    `--store FILE` reads it if its name ends in .db.
    """
    done = back_up_store(open_store(create=False), file)
    _say(f"{one_line(str(done.target))}: {format_bytes(done.size)}")


@command.command("move")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@store_option
def move(directory: Path) -> None:
    """Move the store to the directory DIR, which must have none yet.

    No other command may use the store meanwhile. The old one is removed when the new one is complete and checked.
    """
    target = Path(places().cwd, directory)
    done = move_store(open_store(create=False), target)
    _say(f"moved to {one_line(str(done.target))} ({format_bytes(done.size)})")
    found = places()
    if found.store() == done.target:
        return
    was_named = found.option is not None or DIRECTORY_VARIABLE in found.environ
    if not was_named and done.source.parent.name == PROJECT_DIRECTORY:
        project = one_line(str(done.source.parent.parent))
        _say(f"it was the store of the project in {project}; commands there begin a new one in its place")
    name = done.target if done.target.suffix == ".db" and done.target.name != "store.db" else done.target.parent
    _say("to use it from now on, put this into your shell's start file:")
    _say(f"  export {DIRECTORY_VARIABLE}={shlex.quote(str(name))}")


def _say(text: str) -> None:
    Output(colour="never", pager=False, utc=False).lines([text])
