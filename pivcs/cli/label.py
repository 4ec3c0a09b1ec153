"""`pivcs label`."""

from __future__ import annotations

import os

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import (
    open_session,
    resolve_warned,
    session_option,
    split_session,
    split_target,
    text_of,
    writer,
)
from pivcs.ops.label_list import list_labels
from pivcs.ops.locate import NoSession
from pivcs.render.branch_text import label_document, label_lines
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, changes_lines
from pivcs.render.style import ColourWhen
from pivcs.store.refs import RefChange


@click.command("label")
@click.argument("arguments", metavar="[SESSION] [NAME REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-d", "--delete", is_flag=True, help="Remove labels: -d NAME, or -d REV for whatever label it has.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    delete: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """List the labels of a session, in the order of the entries that have them, or set and remove them.

    NAME, which may be any text, becomes the label of the entry REV, in place of the one that it has. Labels are pi's
    own: a line is appended to the session file, just as pi does it, and `pivcs undo` appends one that takes it back. A
    pi that has the file open does not see it before it opens the file again. A label's text names its entry in every
    command, quoted where the shell needs it; label:"TEXT" says that a label is meant.
    """
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if delete:
        changes = _delete(arguments, session)
    elif len(arguments) > 1:
        changes = _set(arguments, session)
    else:
        _list(arguments, session, output, as_json=as_json)
        return
    if as_json:
        output.bytes([encode(changes_document(changes)), b"\n"])
    elif changes:
        output.lines(changes_lines(changes, output.looks))
    else:
        output.lines(["it has this label already"])


def _list(arguments: tuple[str, ...], session: str | None, output: Output, *, as_json: bool) -> None:
    try:
        view = open_session(split_session(arguments, session))
    except NoSession as error:
        if arguments and error.hint:
            error.hint = f"{error.hint}; to set a label: pivcs label NAME REV"
        raise
    labels = list_labels(view)
    if as_json:
        output.bytes([encode(label_document(view, labels)), b"\n"])
    else:
        output.lines(label_lines(view, labels, output.looks))


def _set(arguments: tuple[str, ...], session: str | None) -> list[RefChange]:
    """Set a label: the text may look like anything, so the places of the arguments decide what they are."""
    from pivcs.ops.labelling import set_label

    *before, name, rev = arguments
    if len(before) > 1 or (before and session is not None):
        raise click.UsageError(f"a name and a revision, please, not {len(arguments)} arguments")
    session, words = split_target([rev], before[0] if before else session)
    if len(words) != 1 or (not before and session is None and os.path.isfile(name)):
        raise click.UsageError("a name and a revision, please: SESSION NAME REV")
    if not name:
        raise click.UsageError("a label is not empty; -d removes one")
    view = open_session(session)
    change = set_label(view, resolve_warned(view, words[0]), text_of(name), writer())
    return [change] if change is not None else []


def _delete(arguments: tuple[str, ...], session: str | None) -> list[RefChange]:
    from pivcs.ops.labelling import row_to_clear, set_label

    if session is None and len(arguments) > 1:
        named, words = split_target(arguments[:1], None)  # the others may be texts that look like anything
        if not words:
            session, arguments = named, arguments[1:]
    if not arguments:
        raise click.UsageError("--delete needs labels or revisions")
    view = open_session(session)
    rows = dict.fromkeys(row_to_clear(view, text_of(name)) for name in arguments)  # all are found before one goes
    writing = writer()
    changes = (set_label(view, row, None, writing) for row in rows)
    return [change for change in changes if change is not None]
