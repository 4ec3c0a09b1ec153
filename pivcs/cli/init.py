"""`pivcs init`."""

from __future__ import annotations

from pathlib import Path

import click

from pivcs.cli.output import Output
from pivcs.cli.target import places
from pivcs.store.store import Store


@click.command("init")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
def command(directory: str) -> None:
    """Give a project a store of its own, in DIRECTORY/.pivcs (default: the current directory).

    Commands run in that directory or below it then use it. It is private to you, ignored by git, and listed in your
    configuration: a .pivcs that came with somebody's repository is never opened.
    """
    path = places().initialise(Path(directory))
    Store.open(path, create=True).close()
    Output(colour="never", pager=False, utc=False).lines([f"store of this project: {path}"])
