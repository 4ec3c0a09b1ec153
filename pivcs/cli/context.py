"""`pivcs context`."""

from __future__ import annotations

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import open_session, resolve_warned, session_option, split_target
from pivcs.ops.context_view import context_at
from pivcs.render.context_text import context_document, context_lines
from pivcs.render.documents import encode
from pivcs.render.style import ColourWhen


@click.command("context")
@click.argument("arguments", metavar="[SESSION] [REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("--llm", is_flag=True, help="Show the messages as a provider gets them: summaries and commands as text.")
@click.option("--full", is_flag=True, help="Do not fold long messages.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    llm: bool,
    full: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Show what the model would see at REV, by default where pi would resume: messages, model, thinking level, tokens.

    Compactions, edits of the context and summaries count as they do in pi. The tokens are pi's own estimate: what the
    provider measured at the last answer, if nothing was compacted or edited since, and a token for every four
    characters after it; an image counts as 1,200 tokens. What else goes into a request (a system prompt that is not in
    the session, tools) is not in it.
    """
    session, words = split_target(arguments, session)
    if len(words) > 1:
        raise click.UsageError(f"unexpected argument '{words[1]}'")
    view = open_session(session)
    context = context_at(view, resolve_warned(view, words[0]) if words else None, for_provider=llm)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(context_document(view, context, for_provider=llm)), b"\n"])
    else:
        output.lines(context_lines(context, output.looks, full=full))
