"""`pivcs branch`."""

from __future__ import annotations

import click

from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import command_line, now, open_session, resolve_warned, session_option, split_target
from pivcs.errors import StateError
from pivcs.ops import operations
from pivcs.ops.access import view_of
from pivcs.ops.branch_list import list_branches
from pivcs.ops.naming import proposed_names
from pivcs.ops.view import SessionView
from pivcs.render.branch_text import branch_document, branch_lines
from pivcs.render.documents import encode
from pivcs.render.op_text import changes_document, changes_lines
from pivcs.render.style import ColourWhen
from pivcs.store.refs import RefChange


class NoCurrentBranch(StateError):
    """HEAD is on no branch, so a command that is about the current one has none."""


@click.command("branch")
@click.argument("arguments", metavar="[SESSION] [NAME] [REV]", nargs=-1, shell_complete=proposed)
@session_option
@click.option("-m", "--move", is_flag=True, help="Rename: -m OLD NEW, or -m NEW for the branch that HEAD is on.")
@click.option("-d", "--delete", is_flag=True, help="Delete the branches named.")
@click.option("-f", "--force", is_flag=True, help="Let a branch that exists point at REV.")
@click.option("--name-all", is_flag=True, help="Name every b-... branch after its first prompt, in one operation.")
@click.option("--contains", metavar="REV", help="List only branches on whose path REV is.")
@click.option("-a", "--all", "everything", is_flag=True,
              help="List those of older generations, other sources and other machines, too.")  # fmt: skip
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    move: bool,
    delete: bool,
    force: bool,
    name_all: bool,
    contains: str | None,
    everything: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """List the branches of a session, or create, rename and delete them.

    Every attempt has a branch by itself: the first one is main, others are called b- and the id of their first entry.
    They grow with the session; * marks the one that pi would go on with. The list shows a branch's last entry, how many
    entries it has since it parted from the others, how many it has that HEAD has not (+) and the other way round (-),
    and its first prompt since then.

    NAME creates a branch at REV, by default at HEAD. Branches are pivcs's own: session files do not change, and
    `pivcs undo` takes back what was done here.
    """
    session, words = split_target(arguments, session)
    if move + delete + name_all > 1:
        raise click.UsageError("--move, --delete and --name-all do not go together")
    if (contains is not None or everything) and (words or move or delete or name_all):
        raise click.UsageError("--contains and --all are for listing")
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if not words and not move and not delete and not name_all:
        view = open_session(session)
        _list(view, output, contains, everything=everything, as_json=as_json)
        return
    _check(words, move=move, delete=delete, name_all=name_all)
    view = open_session(session)
    changes = _change(view, words, move=move, delete=delete, force=force, name_all=name_all)
    if as_json:
        output.bytes([encode(changes_document(changes)), b"\n"])
    else:
        output.lines(changes_lines(changes, output.looks))


def _check(words: list[str], *, move: bool, delete: bool, name_all: bool) -> None:
    if move and len(words) not in (1, 2):
        raise click.UsageError("--move needs OLD NEW, or NEW")
    if delete and not words:
        raise click.UsageError("--delete needs the names of branches")
    if name_all and words:
        raise click.UsageError(f"unexpected argument '{words[0]}'")
    if not move and not delete and len(words) > 2:
        raise click.UsageError(f"a name and a revision, please, not {len(words)} arguments: {' '.join(words)}")


def _list(view: SessionView, output: Output, contains: str | None, *, everything: bool, as_json: bool) -> None:
    branches = list_branches(view, containing=resolve_warned(view, contains) if contains is not None else None)
    elsewhere = []
    if everything and view.store is not None:
        elsewhere = [(name, view_of(view.store, name.stream)) for name in view.refs.branches_elsewhere]
    if as_json:
        output.bytes([encode(branch_document(view, branches, elsewhere)), b"\n"])
    else:
        output.lines(branch_lines(view, branches, elsewhere, output.looks))


def _change(
    view: SessionView, words: list[str], *, move: bool, delete: bool, force: bool, name_all: bool
) -> list[RefChange]:
    time, typed = now(), command_line()
    if name_all:
        proposed = proposed_names(view)
        return operations.rename_branches(view, proposed, now=time, command=typed) if proposed else []
    if move:
        old = words[0] if len(words) == 2 else view.refs.head_branch
        if old is None:
            raise NoCurrentBranch("HEAD is on no branch", hint="say which: pivcs branch -m OLD NEW")
        return operations.rename_branches(view, [(old, words[-1])], now=time, command=typed)
    if delete:
        return operations.delete_branches(view, words, now=time, command=typed)
    row = resolve_warned(view, words[1] if len(words) == 2 else "HEAD")
    return [operations.create_branch(view, words[0], row, force=force, now=time, command=typed)]
