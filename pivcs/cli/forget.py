"""`pivcs forget`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

import click

from pivcs.cli.complete import revisions as complete_revisions
from pivcs.cli.forget_refs import RefChanges, guard_of, repositories_of
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import now, open_store, reader, session_option, split_target
from pivcs.errors import InputError, PivcsError
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.ops.access import view_of
from pivcs.ops.forget import ForgetPlan, forget, plan_forget
from pivcs.ops.forget import remember as let_in
from pivcs.ops.forget_session import SessionPlan, forget_session, plan_again, plan_session
from pivcs.ops.locate import NoSession
from pivcs.ops.log_rows import chosen_by
from pivcs.ops.masking import Guard
from pivcs.ops.operations import NoNames
from pivcs.ops.revision import NoEntryThere, UnknownRevision
from pivcs.render.documents import encode
from pivcs.render.forget_text import (
    entries_document,
    entries_lines,
    outcome_lines,
    session_document,
    session_lines,
)
from pivcs.render.style import ColourWhen

if TYPE_CHECKING:
    from pivcs.ops.access import Reader
    from pivcs.ops.view import SessionView
    from pivcs.store.store import Store

REFUSED = 1


class NothingNamed(InputError):
    """A set of entries that is empty."""


@click.command("forget")
@click.argument("arguments", metavar="[SESSION] [ENTRY]...", nargs=-1, shell_complete=complete_revisions)
@session_option
@click.option("-y", "--yes", is_flag=True, help="Do it; without it nothing is changed.")
@click.option(
    "--export", "exports", metavar="DIR", multiple=True, help="Another repository in which sessions may be; repeatable."
)
@click.option(
    "--remember", metavar="KEY|OID", help="Let what was forgotten be taken in again, where a file still has it."
)
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    yes: bool,
    exports: tuple[str, ...],
    remember: str | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Remove entries, or a whole session, from the store for good: a password that was pasted, say.

    Without --yes this only shows what would be removed and what cannot be reached. With it every copy of the entry
    goes, in forks and old generations too, with what the log of operations and names of branches say of it, and from
    refs/pivcs/ of the project's repository. The entry's object id stays, so all that is below it verifies as before. It
    cannot be undone, and the entry is never taken in again.

    ENTRY is a revision, a range, or a set as 'text("hunter2")'. A SESSION alone (a path, or the beginning of an id or
    key) means all of it. Session files are never changed: edit the file, or delete it with `pivcs delete`.
    docs/forgetting.md has all of it.

    The exit code is 1 when a ref was left because it has moved.
    """
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if remember is not None:
        if arguments or session is not None or yes or exports:
            raise click.UsageError("--remember stands alone")
        _remember(remember, output, as_json=as_json)
        return
    named, words = split_target(arguments, session)
    if named is None and not words:
        raise click.UsageError("say which entries or which session to forget")
    opened = reader()
    try:
        view = opened.open(named)
        targets = [target for word in words for target in _named(view, word, UTC if utc else None)]
    except NoEntryThere as error:
        error.hint = "what is no entry goes only with the whole session: `pivcs forget SESSION`"
        raise
    except (UnknownRevision, NoSession):
        whole = _whole_session(opened, words[0]) if named is None and len(words) == 1 else None
        if whole is None:
            raise
        view, targets, words = whole, [], []
    if words and not targets:
        outcomes = _completed(opened.store, view, exports, output, yes=yes, as_json=as_json)
    elif words:
        outcomes = _entries(targets, exports, output, yes=yes, as_json=as_json)
    else:
        outcomes = _session(opened, view, exports, output, yes=yes, as_json=as_json)
    if any(each.outcome == "refused" for each in outcomes):
        click.get_current_context().exit(REFUSED)


def _named(view: SessionView, text: str, zone: tzinfo | None) -> list[tuple[SessionView, int]]:
    """Return the entries that a revision, a range or a set names."""
    chosen = chosen_by(view, text, now(), zone)
    for warning in chosen.warnings:
        warn(warning)
    return [(chosen.view, row) for row in (chosen.rows if chosen.revision is None else [chosen.revision])]


def _whole_session(opened: Reader, text: str) -> SessionView | None:
    """Return the session whose id or key begins with a text."""
    try:
        return opened.open(text)
    except PivcsError:
        return None


def _entries(
    targets: Sequence[tuple[SessionView, int]], exports: Sequence[str], output: Output, *, yes: bool, as_json: bool
) -> list[RefOutcome]:
    plans = [plan_forget(view, row) for view, row in targets]
    first = targets[0][0]
    store = first.store
    assert store is not None
    holding = {key for plan in plans for key in plan.sessions}
    if first.key is not None:
        holding.add(first.key.digest)
    names = store.remote.id() if any(plan.traces.branches or plan.traces.tags for plan in plans) else None
    guard = guard_of(store, plans)
    repositories = repositories_of(first, store, guard, exports, holding=holding, names=names)
    refs = RefChanges(store)
    if yes:
        done: list[ForgetPlan] = []
        for plan, (view, row) in zip(plans, targets, strict=True):
            if done:  # what the last one changed is not what was planned with; rows are as they were
                stream = store.stream(view.stream.id) if view.stream is not None else None
                assert stream is not None
                view = view_of(store, stream)
                plan = plan_forget(view, row)
            done.append(forget(view, plan, row, now()))
        plans = done
        refs.change(repositories, guard_of(store, plans))
    if as_json:
        output.bytes([encode(entries_document(plans, repositories, refs.outcomes, done=yes)), b"\n"])
    else:
        output.lines(entries_lines(plans, repositories, output.looks, done=yes))
        output.lines(outcome_lines(refs.outcomes, output.looks))
    if yes:  # last, as it may fail while another process uses the store
        refs.finish(always=any(plan.again for plan in plans))
    return refs.outcomes


def _completed(
    store: Store | None, view: SessionView, exports: Sequence[str], output: Output, *, yes: bool, as_json: bool
) -> list[RefOutcome]:
    """Complete what was forgotten before, as a set names what has been forgotten no more. Raises `NothingNamed`."""
    repositories = repositories_of(view, store, Guard.of(store), exports) if store is not None else []
    if store is None or not (any(repositories) or store.forgotten.needs_erasure()):
        raise NothingNamed("no entry is named by that")
    refs = RefChanges(store)
    if yes:
        refs.change(repositories, Guard.of(store))
    if as_json:
        output.bytes([encode(entries_document([], repositories, refs.outcomes, done=yes)), b"\n"])
    else:
        output.lines(["no entry is named by that; what was forgotten before is not gone from everywhere:"])
        output.lines(entries_lines([], repositories, output.looks, done=yes))
        output.lines(outcome_lines(refs.outcomes, output.looks))
    if yes:
        refs.finish()
    return refs.outcomes


def _session(
    opened: Reader, view: SessionView, exports: Sequence[str], output: Output, *, yes: bool, as_json: bool
) -> list[RefOutcome]:
    store = opened.store
    if store is None or view.key is None:
        raise NoNames(f"no store has anything of '{view.where}'")
    again = view.stream is None and view.key.digest in store.forgotten.sessions()
    plan = plan_again(view.key.digest, view.where) if again else plan_session(view)
    repositories = repositories_of(view, store, Guard.of(store), exports, sessions=[plan.key])
    refs = RefChanges(store)
    if yes:
        _remove_snapshots(store, plan)
        forget_session(store, plan, now())
        refs.change(repositories, Guard.of(store))
    if as_json:
        output.bytes([encode(session_document(plan, repositories, refs.outcomes, done=yes)), b"\n"])
    else:
        output.lines(session_lines(plan, repositories, output.looks, done=yes))
        output.lines(outcome_lines(refs.outcomes, output.looks))
    if yes:
        refs.finish(always=plan.again)
    return refs.outcomes


def _remove_snapshots(store: Store, plan: SessionPlan) -> None:
    """Remove the files of a session's snapshots."""
    if not plan.snapshots:
        return
    from pivcs.gitbridge.snapshot_upkeep import collect_snapshots
    from pivcs.store.snapshots import set_snapshot_deleted

    git = Git.find(os.environ)
    with store.writing():
        for number in plan.snapshots:
            set_snapshot_deleted(store, number, True)
    collect_snapshots(store, git)


def _remember(text: str, output: Output, *, as_json: bool) -> None:
    sessions, oids = let_in(open_store(create=False), text)
    if as_json:
        document = {
            "schema": "pivcs.remembered/1",
            "sessions": [key.hex() for key in sessions],
            "entries": [oid.hex() for oid in oids],
        }
        output.bytes([encode(document), b"\n"])
        return
    output.lines(f"session {key.hex()[:16]} is taken in again with the next sync" for key in sessions)
    output.lines(f"entry {oid.hex()[:16]} is taken in again where a file still has it" for oid in oids)
