"""`pivcs demo`."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from pivcs.cli.output import Output, joined
from pivcs.ops import log as ops
from pivcs.ops.demo import write_demo
from pivcs.ops.revision import resolve
from pivcs.ops.status import status_of
from pivcs.ops.view import SessionView, open_file
from pivcs.render import log_text
from pivcs.render.log_graph import graph_lines
from pivcs.render.log_text import Looks
from pivcs.render.show_text import entry_lines
from pivcs.render.status_text import status_lines
from pivcs.render.style import ColourWhen, Role


@click.command("demo")
@click.option("--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(colour: ColourWhen) -> None:
    """Make a session with three attempts in a temporary place, show it and explain what is seen.

    The file stays there, so that the commands can be tried on it.
    """
    directory = Path(tempfile.mkdtemp(prefix="pivcs-demo-"))
    path = write_demo(directory)
    with open_file(path) as view:
        output = Output(colour=colour, pager=False, utc=True)
        output.lines(_tour(view, path.name, output.looks, output.encoding))
        output.lines(
            [
                "",
                "The session is in a directory of its own. Try the commands yourself:",
                f"  cd {shlex.quote(str(directory))}",
                f"Delete it when you are done: rm -r {shlex.quote(str(directory))}",
            ]
        )


def _tour(view: SessionView, name: str, looks: Looks, encoding: str) -> Iterator[str]:
    short = name if len(name) < 30 else "*.jsonl"
    say, typed = looks.styler, looks.styler
    yield "An agent was asked why prices are wrong by a cent. It tried two ways to mend it; the second one worked."
    yield "pi keeps all of it in one file, in which every entry names its parent: a tree."
    yield ""
    yield typed(Role.HEADING, f"$ pivcs log --graph {short}")
    yield from graph_lines(view, ops.rows_of_tree(view), looks, encoding=encoding)
    yield ""
    yield say(Role.DIM, "The newest entry is on top, @ is where pi would go on. Both attempts start at the same")
    yield say(Role.DIM, "answer; labels made in pi are in brackets. Long runs are elided, --full shows them.")
    yield ""
    yield typed(Role.HEADING, f"$ pivcs log --turns {short} 'decimal, too slow'")
    rows = ops.rows_of_path(view, resolve(view, "decimal, too slow"))
    yield from joined(log_text.turn_lines(view, turn, looks) for turn in ops.turns_of(view, rows))
    yield ""
    yield say(Role.DIM, "A label, an id or HEAD~3 names a point; the log then shows the way there, here by turns.")
    yield ""
    yield typed(Role.HEADING, f"$ pivcs show {short} 'cents work~6'")
    yield from entry_lines(view, ops.logged(view, resolve(view, "cents work~6")), looks, full=False)
    yield ""
    yield say(Role.DIM, "What one entry says: text, reasoning, and the change that a tool call asked for.")
    yield ""
    yield typed(Role.HEADING, f"$ pivcs status {short}")
    yield from status_lines(view, status_of(view), looks, every=False)
    yield ""
    yield say(Role.DIM, "Every line of the file is accounted for; a damaged one would be named here with its place.")
