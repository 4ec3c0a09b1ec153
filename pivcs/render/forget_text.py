"""What forgetting would remove, or has removed, and what it cannot reach: as text and as documents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from pivcs.gitbridge.forgetting import RefsPlan, review_patterns
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.gitbridge.stream_finding import PAGE
from pivcs.ops.forget import ForgetPlan
from pivcs.ops.forget_session import SessionPlan
from pivcs.ops.forget_traces import LeftName
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible

_DIGITS = 16
_SHOWN = 8
_NAMED = 10
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
    left = [name for plan in plans for name in plan.traces.left]
    yield from _stays(looks, files, kept, repositories, left, done=done)


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
    if traces.gone:
        yield f"  the log of operations: {plural(len(traces.gone), 'name')} of branches and tags"
    for what, names in (("branch", traces.branches), ("tag", traces.tags)):
        for _, _, new in names:
            yield f"  a {what} that was named after it, or has a word of it, becomes {visible(new, keep='')}"


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
    looks: Looks, files: Sequence[str], kept: Sequence[str], repositories: Sequence[RefsPlan],
    left: Sequence[LeftName] = (), *, done: bool,
) -> Iterator[str]:  # fmt: skip
    style = looks.styler
    yield ""
    yield "Not reached:"
    for path in dict.fromkeys(files):
        yield f"  {visible(path, keep='')}: the session file is as it was; edit it, or `pivcs delete --permanent` it"
    for path in dict.fromkeys(kept):
        yield f"  {visible(path, keep='')}: kept for the undo of a restore, and has text of the entry"
    for name in dict.fromkeys(left):
        delete = f"`pivcs {name.ref} -s {name.session.hex()[:_DIGITS]} -d {_argument(name.name)}`"
        when = "; the log of operations keeps the name" if done else ", before you forget"
        yield f"  {name.ref} {visible(name.name, keep='')}: has a word of it; if that tells something, {delete}{when}"
    for each in repositories:
        where = visible(each.where, keep="")
        if each or done:
            yield f"  {where}: old objects, until git collects them: `git -C {_argument(each.where)} gc --prune=now`"
        yield from _review_lines(each, looks)
        for remote in each.remotes:
            told = f"  remote {visible(remote.name, keep='')}, {visible(remote.address, keep='')}: "
            if not remote.refs:
                yield told + "nothing of it was there when pivcs asked last"
                continue
            yield told + f"{plural(len(remote.refs), 'ref')} with it; delete them there, then `pivcs push`:"
            yield from ("    " + line for line in delete_commands(each.where, remote.name, remote.refs))
        if each.remotes and any("/review/" in ref.name for ref in each.removed):
            yield f"  {where}: `pivcs push` sends no refs below review/; if they were pushed by hand, delete them there"
    yield "  exports, archives and stores of other machines, backups of the store, snapshots of work trees"
    if not done:
        yield ""
        yield style(Role.WARNING, "It cannot be undone. --yes does it.")


def _review_lines(plan: RefsPlan, looks: Looks) -> Iterator[str]:
    """Yield the refs of review commits and start pages, and what removes them."""
    if not plan.review:
        return
    where = visible(plan.where, keep="")
    yield f"  {where}: {plural(len(plan.review), 'ref')} of review commits"
    for name in plan.review[:_NAMED]:
        yield "    " + looks.styler(Role.DIM, visible(name, keep=""))
    if len(plan.review) > _NAMED:
        yield looks.styler(Role.DIM, f"    and {len(plan.review) - _NAMED:,} more")
    if any(PAGE.fullmatch(name) for name in plan.review):
        yield "  the branch `sessions` has the bytes as well, and its history keeps them: it has to go, too"
    git = f"git -C {_argument(plan.where)}"
    patterns = " ".join(map(_argument, review_patterns(plan.review)))
    yield "  delete them all, collect the old objects, then export anew:"
    update = f"{git} -c core.logAllRefUpdates=false update-ref --stdin"
    yield f"    {git} for-each-ref --format='delete %(refname)' {patterns} | {update}"
    if plan.has_log:
        yield f"  its logs keep what refs named, too: `{git} reflog expire --expire=now --all`"


def delete_commands(where: str | None, remote: str, refs: Sequence[str]) -> Iterator[str]:
    """Yield the commands that delete refs at a remote of a repository, None for the current directory's."""
    git = f"git -C {_argument(where)}" if where is not None else "git"
    for first in range(0, len(refs), _SHOWN):
        names = " ".join(map(_argument, refs[first : first + _SHOWN]))
        yield f"{git} push {_argument(remote)} --delete {names}"


def update_commands(where: str, refs: Sequence[str]) -> Iterator[str]:
    """Yield the commands that delete refs of a repository here."""
    for name in refs:
        yield f"git -C {_argument(where)} update-ref -d {_argument(name)}"


def _argument(text: str) -> str:
    return visible(shlex.quote(text), keep="")


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
        "tags": [{"old": old, "new": new} for _, old, new in plan.traces.tags],
        "log_names": len(plan.traces.gone),
        "left": [{"ref": each.ref, "key": each.session.hex(), "name": each.name} for each in plan.traces.left],
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
            {
                "name": remote.name,
                "address": remote.address,
                "fetched": remote.fetched,
                "refs": list(remote.refs),
            }
            for remote in plan.remotes
        ],
        "unread": list(plan.unread),
    }
