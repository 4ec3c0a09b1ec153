"""`pivcs demo`."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from pivcs.cli.output import Output
from pivcs.ops.demo import write_demo
from pivcs.render.style import ColourWhen, Role

FILE: Final = "*.jsonl"
TOUR: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (
        ("log", "--graph", FILE),
        (
            "The newest entry is on top, @ is where pi would go on. Both attempts start at the same answer.",
            "In brackets are names: HEAD, branches, labels that were set in pi. --full shows elided runs.",
        ),
    ),
    (
        ("branch", FILE),
        (
            "Every attempt is a branch by itself, named after its first entry. Each has its last entry, what it has",
            "since they parted, what it has that HEAD has not (+) and the other way round (-), and its first prompt.",
        ),
    ),
    (("branch", "--name-all", FILE), ("Names for people, made from the prompts. `branch -m` gives any other.",)),
    (
        ("log", "--turns", FILE, "decimal, too slow"),
        ("A branch, a label, an id or HEAD~3 names a point; the log then shows the way there, here by turns.",),
    ),
    (
        ("log", "--oneline", FILE, "try-whole-cents-instead..main"),
        ("A range: what is on one branch and not on the other.",),
    ),
    (
        ("log", "--oneline", FILE, "error() | tool(write)"),
        ("A set: what failed, and calls of a tool, wherever they are. --role, --file, --since ... narrow any log.",),
    ),
    (
        ("show", FILE, "cents work~6"),
        ("What one entry says: text, reasoning, and the change that a tool call asked for.",),
    ),
    (("undo",), ("Whatever was done to names can be undone; `pivcs op log` has it all, `pivcs redo` does it again.",)),
    (
        ("status", FILE),
        ("Every line of the file is accounted for; a damaged one would be named here with its place.",),
    ),
)
"""Commands and what is said about what they show."""


@click.command("demo")
@click.option("--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(colour: ColourWhen) -> None:
    """Make a session with two attempts in a temporary place, show it and explain what is seen.

    The session has a store of its own there: your store and your sessions are left alone. Both stay, so that the
    commands can be tried on them.
    """
    directory = Path(tempfile.mkdtemp(prefix="pivcs-demo-"))
    name = write_demo(directory).name
    output = Output(colour=colour, pager=False, utc=True)
    style = output.looks.styler
    output.lines(
        [
            "An agent was asked why prices are wrong by a cent. It tried two ways to mend it; the second one worked.",
            "pi keeps all of it in one file, in which every entry names its parent: a tree.",
        ]
    )
    with _place(directory):
        for words, remarks in TOUR:
            output.lines(["", style(Role.HEADING, f"$ pivcs {_typed(words)}")])
            _run([name if word == FILE else word for word in words], colour)
            output.lines(["", *(style(Role.DIM, remark) for remark in remarks)])
    quoted = shlex.quote(str(directory))
    output.lines(
        [
            "",
            "The session and its store are in a directory of their own. Try the commands yourself:",
            f"  cd {quoted} && export PIVCS_DIR={shlex.quote(str(directory / 'store'))}",
            f"Delete it when you are done: rm -r {quoted}",
        ]
    )


def _typed(words: tuple[str, ...]) -> str:
    return " ".join(word if word == FILE else shlex.quote(word) for word in words)


def _run(words: list[str], colour: ColourWhen) -> None:
    """Run a command as it would run on its own."""
    from pivcs.cli import cli

    cli.main(args=[*words, "--utc", "--no-pager", "--color", colour], prog_name="pivcs", standalone_mode=False)


@contextmanager
def _place(directory: Path) -> Iterator[None]:
    """Let commands run in a directory, with the store in it."""
    before, store = os.getcwd(), os.environ.get("PIVCS_DIR")
    os.chdir(directory)
    os.environ["PIVCS_DIR"] = str(directory / "store")
    try:
        yield
    finally:
        os.chdir(before)
        if store is None:
            del os.environ["PIVCS_DIR"]
        else:
            os.environ["PIVCS_DIR"] = store
