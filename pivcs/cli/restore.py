"""`pivcs restore`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from pivcs.cli.bases import base_for, base_option, snapshots_on
from pivcs.cli.complete import revisions as proposed
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import (
    command_line,
    current_directory,
    now,
    open_session,
    session_option,
    split_target,
    surroundings,
    text_of,
)
from pivcs.ops.operations import named_stream
from pivcs.ops.restore_apply import Applied, NotRestored, Recording, apply_restore, write_elsewhere
from pivcs.ops.restore_known import Snapshot, restore_knowledge
from pivcs.ops.restore_plan import Knowledge, RestorePlan, plan_restore
from pivcs.ops.restore_root import restore_root
from pivcs.ops.restore_undo import make_empty
from pivcs.ops.revision import Target, resolve_target
from pivcs.ops.safe_paths import refusal
from pivcs.ops.view import SessionView
from pivcs.ops.work_tree import SomebodyWasFaster, WorkTree
from pivcs.render.documents import encode
from pivcs.render.restore_text import Shown, patch_lines, restore_document, restore_lines
from pivcs.render.style import ColourWhen


class _Wishes(NamedTuple):
    """What was asked for."""

    chosen: tuple[str, ...]
    apply: bool
    patches: bool
    force: bool
    last_known: bool


class _Outcome(NamedTuple):
    """A plan, the contents that files had on the disk where a diff is to be shown, and what was done."""

    plan: RestorePlan
    old: dict[str, bytes]
    applied: Applied | None


@click.command("restore")
@click.argument("arguments", metavar="[SESSION] REV [PATH]...", nargs=-1, shell_complete=proposed)
@session_option
@click.option("--apply", "applies", is_flag=True, help="Do it: without this only the plan is shown.")
@click.option("-p", "--patch", "patches", is_flag=True, help="Show what changes as unified diffs, conflicts too.")
@click.option("--force", is_flag=True, help="Overwrite conflicts, too: files that somebody else has changed.")
@click.option("--last-known", is_flag=True, help="Give files of unknown state the content that was last known.")
@click.option("--dest", metavar="DIR", help="Write the files into DIR, new or empty, at once, without --apply.")
@click.option("--into", metavar="DIR", help="Restore in DIR instead of the session's working directory.")
@click.option("--no-snapshots", is_flag=True, help="Use no snapshot.")
@base_option
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    applies: bool,
    patches: bool,
    force: bool,
    last_known: bool,
    dest: str | None,
    into: str | None,
    no_snapshots: bool,
    base: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Bring files back as they were at REV: all that the session knows, or those at PATHs.

    Without --apply only the plan is shown. A file is touched only when the session knows the bytes that are on the
    disk; what somebody else has changed since is a conflict, and stays. It is deleted only when the session made it
    after REV. Files that a shell command may have changed, or of which only edits are known, are listed as unknown and
    stay. Nothing outside of the session's working directory is ever written.

    Where a snapshot was taken (`pivcs snapshot`) on the way to REV, its whole tree is restored, and what the session
    did between it and REV. Otherwise --base says where the files begin that the session did not write itself.

    Whatever is overwritten or deleted is kept in the store before; `pivcs undo` puts it back, byte for byte.
    """
    session, words = _split(arguments, session)
    if not words:
        raise click.UsageError("a revision, please: the entry at which the files were good")
    if dest is not None and (into is not None or applies or force):
        raise click.UsageError("--dest writes at once, and goes with neither --apply, --force nor --into")
    if patches and as_json:
        raise click.UsageError("--patch and --json do not go together")
    target = resolve_target(open_session(session), words[0])
    for warning in target.warnings:
        warn(warning)
    root = _root(target.view, dest, into)
    known, note = _known(target, root, base, snapshots=not no_snapshots)
    wishes = _Wishes(
        tuple(_wish(word, root, target.view.header.cwd) for word in words[1:]),
        applies, patches, force, last_known,
    )  # fmt: skip
    done = _elsewhere(known, root, wishes) if dest is not None else _here(target.view, known, root, wishes)
    plan, old, applied = done
    shown = Shown(target.view, target.row, root, plan, note, applied)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(restore_document(shown)), b"\n"])
    else:
        output.lines(restore_lines(shown, output.looks, how=None if applies or dest is not None else "--apply"))
        if patches:
            output.lines(patch_lines(plan, old, output.looks))
    if applied is not None and applied.undone:
        raise NotRestored(
            f"{applied.undone} of {len(applied.files)} files are not restored",
            hint="what was in them is as it was; say it again for the rest, or `pivcs undo` takes all back",
        )


def _split(arguments: Sequence[str], session: str | None) -> tuple[str | None, list[str]]:
    """Return the session, and the revision with the paths: only what stands first can name a session."""
    found, words = split_target(arguments[:1], session)
    if words:
        return found, [words[0], *map(text_of, arguments[1:])]
    found, words = split_target(arguments[1:2], found) if found is None else (found, list(map(text_of, arguments[1:2])))
    return found, [*words, *map(text_of, arguments[2:])]


def _root(view: SessionView, dest: str | None, into: str | None) -> Path:
    here = current_directory()
    if dest is not None or into is not None:
        return Path(here, dest if dest is not None else str(into))
    return restore_root(here, view.header.cwd)


def _wish(argument: str, root: Path, session_cwd: str | None) -> str:
    """Return a path argument relative to the root: it starts at the current directory where that is in or above it."""
    here, real = os.path.realpath(current_directory()), os.path.realpath(root)
    if os.path.isabs(argument):
        whole = os.path.normpath(argument)
        for above in (real, str(root), session_cwd or real):
            if whole == above or whole.startswith(above.rstrip(os.sep) + os.sep):
                return os.path.relpath(whole, above).replace(os.sep, "/")
        return whole
    related = here == real or here.startswith(real.rstrip(os.sep) + os.sep) or real.startswith(
        here.rstrip(os.sep) + os.sep
    )
    whole = os.path.normpath(os.path.join(here if related else real, argument))
    inside = whole == real or whole.startswith(real.rstrip(os.sep) + os.sep)
    return os.path.relpath(whole, real).replace(os.sep, "/") if inside else whole


def _known(target: Target, root: Path, option: str | None, *, snapshots: bool) -> tuple[Knowledge, str]:
    view, row = target.view, target.row
    base, note = base_for(view, option)
    found = snapshots_on(view, row) if snapshots else {}
    snapshot = next((Snapshot(*each) for each in found.items()), None)
    known = restore_knowledge(view, row, base, snapshot, home=surroundings().home)
    made = [path.text for path in known.created if path.inside and refusal(path.text) is None]
    if not made:
        return known, note
    from pivcs.gitbridge.ignored import ignored_paths
    from pivcs.gitbridge.process import Git, GitNotFound

    try:
        git = Git.find(os.environ)
    except GitNotFound:
        return known, note
    return (replace(known, ignored=ignored_paths(root, made, git)) if root.is_dir() else known), note


def _here(view: SessionView, known: Knowledge, root: Path, wishes: _Wishes) -> _Outcome:
    with WorkTree(str(root)) as tree:
        plan = _plan(known, tree, wishes)
        old = _old(plan, tree) if wishes.patches else {}
        if not wishes.apply:
            return _Outcome(plan, old, None)
        store, stream, key = named_stream(view)
        recording = Recording(key, stream.id, now(), command_line(), secrets.token_hex(8))
        return _Outcome(plan, old, apply_restore(store, plan, tree, recording, _umask()))


def _elsewhere(known: Knowledge, root: Path, wishes: _Wishes) -> _Outcome:
    make_empty(root)
    with WorkTree(str(root)) as tree:
        plan = _plan(known, tree, wishes)
        return _Outcome(plan, {}, write_elsewhere(plan, tree, _umask(), secrets.token_hex(8)))


def _plan(known: Knowledge, tree: WorkTree, wishes: _Wishes) -> RestorePlan:
    return plan_restore(
        known, tree, chosen=wishes.chosen, force=wishes.force, last_known=wishes.last_known, windows=os.name == "nt"
    )


def _old(plan: RestorePlan, tree: WorkTree) -> dict[str, bytes]:
    """Return what the files have on the disk that are to be changed, or would be by force."""
    old = {}
    for file in plan.files:
        if file.action in ("change", "delete", "conflict"):
            with suppress(OSError, SomebodyWasFaster):
                old[file.path.text] = b"".join(tree.read(file.path.text))
    return old


def _umask() -> int:
    """Return what new files may not be: it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
