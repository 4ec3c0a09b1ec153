"""Where results go: standard output, a pager on a terminal, in the encoding and the width that are there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from pivcs.render.log_text import Looks
from pivcs.render.style import ColourWhen, Styler, should_colour
from pivcs.render.text import encodable, visible

F = TypeVar("F", bound=Callable[..., Any])

_LESS: Final = "FRX"
"""What git gives to less: quit if it fits on one screen, keep colours, do not clear the screen."""


class NewFile(click.Path):
    """The type of an option that names a file which is to be written: not empty, and no directory."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does."""
        if not value:
            self.fail("the name of a file is empty", param, ctx)
        if os.path.isdir(value):
            self.fail(f"'{os.fspath(value)}' is a directory, not a file", param, ctx)
        return super().convert(value, param, ctx)


class Output:
    """Standard output of one command."""

    def __init__(self, *, colour: ColourWhen, pager: bool, utc: bool) -> None:
        self.is_terminal = sys.stdout.isatty()
        self.encoding = sys.stdout.encoding or "ascii"
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() and int(columns) else None
        if width is None and self.is_terminal:
            width = shutil.get_terminal_size().columns
        styler = Styler(should_colour(colour, os.environ, self.is_terminal))
        self.looks = Looks(styler, width, utc)
        self._pager = pager and self.is_terminal

    def lines(self, lines: Iterable[str]) -> None:
        """Show lines of safe text, through the pager on a terminal."""
        if self._pager and os.environ.get("PAGER", "less") not in ("", "cat"):
            os.environ.setdefault("LESS", _LESS)
            click.echo_via_pager((self._spelled(line) + "\n" for line in lines), color=self.looks.styler.colour)
            return
        write = sys.stdout.buffer.write
        sys.stdout.flush()
        for line in lines:
            write((self._spelled(line) + "\n").encode(self.encoding, "replace"))

    def bytes(self, pieces: Iterable[bytes]) -> None:
        """Write bytes as they are."""
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)

    def _spelled(self, line: str) -> str:
        return encodable(line, self.encoding)


def to_stderr(text: str, *, keep: str = "") -> None:
    """Write a message for people to standard error; it may quote anything, also line breaks, unless these are kept."""
    encoding = sys.stderr.encoding or "ascii"
    click.echo(encodable(visible(text, keep=keep), encoding), err=True)


def warn(text: str) -> None:
    """Write a warning."""
    to_stderr(f"warning: {text}")


@contextmanager
def byte_progress(label: str, total: int, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Give a function that is told of bytes done; on a terminal standard error shows a bar while the block runs."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=max(1, total), label=label, file=sys.stderr) as bar:
        yield bar.update


def output_options(command: F) -> F:
    """Give a command the options `--json`, `--color`, `--no-pager` and `--utc`."""

    for option in (
        click.option("--utc", is_flag=True, help="Show times in UTC instead of local time."),
        click.option("--no-pager", is_flag=True, help="Do not use a pager."),
        click.option(
            "--color",
            "colour",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="When to use colours; NO_COLOR is honoured.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Write a JSON document, see docs/json.md."),
    ):
        command = option(command)
    return command


def joined(blocks: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of paragraphs with a blank line between them."""
    first = True
    for block in blocks:
        if not first:
            yield ""
        first = False
        yield from block
