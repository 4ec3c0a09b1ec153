"""`pivcs cat`."""

from __future__ import annotations

import click

from pivcs.cli.output import Output
from pivcs.cli.target import reader, session_option, split_target
from pivcs.ops.cat import find_stream


@click.command("cat")
@click.argument("arguments", metavar="[SESSION]", nargs=-1)
@session_option
@click.option("--source", type=click.IntRange(min=1), help="Which source of the session, see `pivcs status`.")
@click.option("--generation", type=click.IntRange(min=1), help="Which generation of the source.")
def command(arguments: tuple[str, ...], session: str | None, source: int | None, generation: int | None) -> None:
    """Write the bytes of a session file exactly as they were last seen, also after the file was deleted.

    A path gives what was last seen there, a key or an id the session's primary source. Earlier generations are what the
    file was before it was rewritten or cut.
    """
    named, revisions = split_target(arguments, session)
    if revisions:
        if named is not None or len(revisions) > 1:
            raise click.UsageError(f"unexpected argument '{revisions[-1]}'")
        named = revisions[0]
    opened = reader()
    stream = find_stream(opened, named, source, generation)
    assert opened.store is not None
    output = Output(colour="never", pager=False, utc=False)
    output.bytes(opened.store.bytes_of(stream).iter_range(0, stream.size))
