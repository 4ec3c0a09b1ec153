"""`pivcs why`."""

from __future__ import annotations

import re
from typing import Final

import click

from pivcs.cli.bases import base_option
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.file_target import blamed, quiet_base_of
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import session_option
from pivcs.ops.why import story_of
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen
from pivcs.render.why_text import story_document, story_lines

_TARGET: Final = re.compile(r"(.+):([0-9]{1,9})", re.DOTALL)


@click.command("why")
@click.argument("target", metavar="PATH:LINE")
@click.option("--at", "revision", metavar="REV", shell_complete=proposed, help="The file as it was at an entry.")
@base_option
@session_option
@output_options
def command(
    target: str,
    revision: str | None,
    base: str | None,
    session: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show why a line of a file is there: the prompt, the reasoning and the edit behind it, and what else was tried.

    The line is looked for as by `pivcs blame`: in all sessions of the project, also on abandoned branches.
    """
    found = _TARGET.fullmatch(target)
    if found is None:
        raise click.UsageError(f"a path and the number of a line, please, as in 'src/auth.py:42', not '{target}'")
    blame = blamed(found[1], revision, session, base)
    story = story_of(blame, int(found[2]), quiet_base_of(base))
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(story_document(blame, story)), b"\n"])
    else:
        output.lines(story_lines(blame, story, output.looks))
