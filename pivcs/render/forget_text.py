"""What forgetting would remove, or has removed, and what it cannot reach: as text and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pivcs.gitbridge.forgetting import RefsPlan
from pivcs.gitbridge.ref_names import ROOT
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.ops.forget import ForgetPlan
from pivcs.ops.forget_session import SessionPlan
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible

_DIGITS = 16
_SHOWN = 8
_SAID = 60


def entries_lines(
    plans: Sequence[ForgetPlan], repositories: Sequence[RefsPlan], looks: Looks, *, done: bool
) -> Iterator[str]:
    """Yield what forgetting entries removes, where, and what stays."""
    for plan in plans:
        yield from _entry_lines(plan, looks, done=done)
    yield from _repository_lines(repositories, looks)
    files = [place.where for plan in plans for place in plan.places if place.file]
    kept = [path for plan in plans for path in plan.traces.kept]
    yield from _stays(looks, files, kept, repositories, done=done)


def _entry_lines(plan: ForgetPlan, looks: Looks, *, done: bool) -> Iterator[str]:
    style = looks.styler
    oid = plan.records[0].oid.hex()
    verb = "forgotten" if done else "would be forgotten"
    if plan.again:
        verb = "is forgotten already" + ("" if done else "; --yes looks for what was left")
    yield f"{style(Role.ID, visible(plan.name, keep=''))} {style(Role.DIM, oid[:_DIGITS])}  {verb}"
    if plan.kind:  # not what it says: a terminal keeps what it was shown
        yield f"  {one_line(plan.kind[:_SAID])}, {looks.when(plan.records[0].time)}, {format_bytes(plan.size)}"
    for record in plan.records[1:]:
        yield "  " + style(Role.DIM, f"and its copy {record.oid.hex()[:_DIGITS]}")
    for place in plan.places:
        lines = ", ".join(map(str, place.lines[:_SHOWN])) + ("..." if len(place.lines) > _SHOWN else "")
        generation = f", generation {place.generation}" if place.generation > 1 else ""
        yield f"  {visible(place.where, keep='')}{generation}: line {lines}, {format_bytes(place.size)}"
        if place.torn:
            yield "    " + style(Role.WARNING, "the line is torn; what is in it beside the entry stays")
    traces = plan.traces
    if traces.commands:
        yield f"  the log of operations: words in {plural(len(traces.commands), 'command')}"
    for _, _, new in traces.branches:
        yield f"  a branch that was named after it becomes {visible(new, keep='')}"


def session_lines(plan: SessionPlan, repositories: Sequence[RefsPlan], looks: Looks, *, done: bool) -> Iterator[str]:
    """Yield what forgetting a session removes, where, and what stays."""
    style = looks.styler
    verb = "forgotten" if done else "would be forgotten"
    if plan.again:
        verb = "is forgotten already"
    yield f"session {style(Role.ID, plan.key.hex()[:_DIGITS])}  {verb}"
    if plan.ident:
        yield f"  id {one_line(plan.ident[:_SAID])}"
    if not plan.again:
        entries = plural(plan.entries, "entry", "entries")
        yield f"  {plural(plan.streams, 'stream')}, {format_bytes(plan.size)}, {entries}"
    for count, what in ((plan.names, "name"), (plan.operations, "operation"), (len(plan.snapshots), "snapshot")):
        if count:
            yield f"  {plural(count, what)}"
    yield from _repository_lines(repositories, looks)
    for key, count in plan.shared:
        shared = plural(count, "entry", "entries")
        yield style(Role.WARNING, f"  {shared} of it are in session {key.hex()[:_DIGITS]}, too, and stay there")
    yield from _stays(looks, plan.files, (), repositories, done=done)


def _repository_lines(repositories: Sequence[RefsPlan], looks: Looks) -> Iterator[str]:
    for each in repositories:
        for verb, refs in (("written anew without it", each.covered), ("removed", each.removed)):
            if refs:
                yield f"  {visible(each.where, keep='')}: {plural(len(refs), 'ref')} {verb}"
                for ref in refs[:_SHOWN]:
                    yield "    " + looks.styler(Role.DIM, visible(ref.name, keep=""))
        for problem in each.unread:
            yield "  " + looks.styler(Role.WARNING, one_line(problem))


def _stays(
    looks: Looks, files: Sequence[str], kept: Sequence[str], repositories: Sequence[RefsPlan], *, done: bool
) -> Iterator[str]:
    style = looks.styler
    yield ""
    yield "Not reached:"
    for path in dict.fromkeys(files):
        yield f"  {visible(path, keep='')}: the session file is as it was; edit it, or `pivcs delete --permanent` it"
    for path in dict.fromkeys(kept):
        yield f"  {visible(path, keep='')}: kept for the undo of a restore, and has text of the entry"
    for each in repositories:
        where = visible(each.where, keep="")
        if each or done:
            yield f"  {where}: old objects, until git collects them: `git -C {where} gc --prune=now`"
        if each.review:
            yield f"  {where}: {plural(len(each.review), 'ref')} of review commits; delete them and export anew"
        for remote in each.remotes:
            known = " (sessions were fetched from it)" if remote.fetched else ""
            name = visible(remote.name, keep="")
            yield f"  remote {name}, {visible(remote.address, keep='')}{known}: delete its refs, then `pivcs push`"
            for ref in _own(each)[:_SHOWN]:
                yield "    " + style(Role.DIM, f"git -C {where} push {name} --delete {ref}")
    yield "  exports, archives and stores of other machines, backups of the store, snapshots of work trees"
    if not done:
        yield ""
        yield style(Role.WARNING, "It cannot be undone. --yes does it.")


def _own(plan: RefsPlan) -> list[str]:
    """Return the refs that a remote has under the same names, if it was pushed to."""
    refs = (ref.name for ref in (*plan.covered, *plan.removed))
    return [visible(name, keep="") for name in refs if name.startswith(ROOT)]


def outcome_lines(outcomes: Sequence[RefOutcome], looks: Looks) -> Iterator[str]:
    """Yield the refs that were left because somebody else has moved them."""
    for ref in outcomes:
        if ref.outcome == "refused":
            yield looks.styler(Role.WARNING, f"left  {visible(ref.name, keep='')}: it has moved; say it again")


def entries_document(
    plans: Sequence[ForgetPlan], repositories: Sequence[RefsPlan], outcomes: Sequence[RefOutcome], *, done: bool
) -> Document:
    """Return what forgetting entries removes as a document, schema `pivcs.forget/1`."""
    return {
        "schema": "pivcs.forget/1",
        "done": done,
        "session": None,
        "entries": [_entry(plan) for plan in plans],
        "repositories": [_repository(each, outcomes) for each in repositories],
    }


def _entry(plan: ForgetPlan) -> Document:
    return {
        "id": plan.name,
        "oids": [record.oid.hex() for record in plan.records],
        "again": plan.again,
        "places": [
            {
                "path": place.where,
                "key": place.session.hex() if place.session is not None else None,
                "generation": place.generation,
                "lines": list(place.lines),
                "bytes": place.size,
                "file": place.file,
                "torn": place.torn,
            }
            for place in plan.places
        ],
        "operations": [ident for ident, _ in plan.traces.commands],
        "branches": [{"old": old, "new": new} for _, old, new in plan.traces.branches],
        "kept": list(plan.traces.kept),
    }


def session_document(
    plan: SessionPlan, repositories: Sequence[RefsPlan], outcomes: Sequence[RefOutcome], *, done: bool
) -> Document:
    """Return what forgetting a session removes as a document, schema `pivcs.forget/1`."""
    return {
        "schema": "pivcs.forget/1",
        "done": done,
        "session": {
            "key": plan.key.hex(),
            "streams": plan.streams,
            "bytes": plan.size,
            "entries": plan.entries,
            "names": plan.names,
            "operations": plan.operations,
            "snapshots": list(plan.snapshots),
            "files": list(plan.files),
            "shared": [{"key": key.hex(), "entries": count} for key, count in plan.shared],
        },
        "entries": [],
        "repositories": [_repository(each, outcomes) for each in repositories],
    }


def _repository(plan: RefsPlan, outcomes: Sequence[RefOutcome]) -> Document:
    names = {ref.name for ref in (*plan.covered, *plan.removed)}
    return {
        "path": plan.where,
        "covered": [ref.name for ref in plan.covered],
        "removed": [ref.name for ref in plan.removed],
        "refused": [ref.name for ref in outcomes if ref.outcome == "refused" and ref.name in names],
        "review": list(plan.review),
        "remotes": [
            {"name": remote.name, "address": remote.address, "fetched": remote.fetched} for remote in plan.remotes
        ],
        "unread": list(plan.unread),
    }
