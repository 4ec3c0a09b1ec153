"""The state of one session: position, branches, and everything about the file that is not as it should be."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from pivcs.objects.table import NODE, NOT_UTF8, ORPHAN
from pivcs.ops.branch_list import rows_below
from pivcs.ops.cat import sources_of
from pivcs.ops.oddities import interrupted_rows
from pivcs.ops.view import SessionView
from pivcs.session.fields import SALVAGED, LineKind
from pivcs.store.records import Event

EXCERPT: Final = 200
"""Bytes of a bad line that a finding quotes."""


class Finding(NamedTuple):
    """Something about the file that a person should know.

    `kind` is a stable name; `line` counts from 1, `offset` and `length` are bytes; `excerpt` is raw text of the line.
    """

    kind: str
    line: int
    offset: int
    length: int
    excerpt: str
    detail: str = ""


class SourceState(NamedTuple):
    """One place at which the session was seen; `number` is what `cat --source` takes. `here` marks the one shown."""

    number: int
    path: str
    generation: int
    size: int
    gone: bool
    here: bool


class Status(NamedTuple):
    """What `pivcs status` says. `lines` counts the complete lines of each kind; they add up to `line_count`.

    `head_branch` is the branch that HEAD is on; when HEAD is detached it is None, and `gone_further` has the branches
    that go on from its point. `sources` and `events` are what the store knows beyond the file: other places of the
    session, and what became of them, oldest first.
    """

    lines: dict[LineKind, int]
    line_count: int
    size: int
    nodes: int
    salvaged: int
    tips: int
    labels: int
    head: int | None
    pending: int
    findings: tuple[Finding, ...]
    branches: int = 0
    tags: int = 0
    head_branch: str | None = None
    gone_further: tuple[str, ...] = ()
    sources: tuple[SourceState, ...] = ()
    events: tuple[Event, ...] = ()


def status_of(view: SessionView) -> Status:
    """Return the state of a session."""
    table = view.table
    return Status(
        lines=table.counts(),
        line_count=table.line_count(),
        size=table.end + table.pending,
        nodes=view.node_count(),
        salvaged=sum(1 for row in table.salvaged if table.flags[row] & NODE),
        tips=len(view.tips()),
        labels=len(view.labels),
        head=view.head,
        pending=table.pending,
        findings=tuple(_findings(view)),
        branches=len(view.refs.branches),
        tags=len(view.refs.tags),
        head_branch=view.refs.head_branch,
        gone_further=_gone_further(view),
        sources=_sources(view),
        events=_events(view),
    )


def _gone_further(view: SessionView) -> tuple[str, ...]:
    """Return the branches whose path leads over the point where a detached HEAD is."""
    refs, table = view.refs, view.table
    at = table.conversation_ancestor(refs.head) if refs.head is not None else None
    if at is None or refs.head_branch is not None:
        return ()
    below = rows_below(table, at)
    return tuple(branch.name for branch in refs.branches if below[branch.row])


def _sources(view: SessionView) -> tuple[SourceState, ...]:
    if view.store is None or view.stream is None:
        return ()
    states = []
    for number, stream in enumerate(sources_of(view.store, view.stream), 1):
        source = view.store.source(stream.source)
        assert source is not None
        path = os.fsdecode(source.path)
        here = stream.source == view.stream.source
        gone = not source.is_file or not os.path.exists(path)
        states.append(SourceState(number, path, stream.generation, stream.size, gone, here))
    return tuple(states)


def _events(view: SessionView) -> tuple[Event, ...]:
    if view.store is None or view.stream is None:
        return ()
    sources = [stream.source for stream in sources_of(view.store, view.stream)]
    return tuple(view.store.events_of(sources))


def _findings(view: SessionView) -> list[Finding]:
    table = view.table
    found = []
    headers = 0
    for row, kind in enumerate(table.kind):
        flags = table.flags[row]
        if kind == LineKind.HEADER:
            headers += 1
            if headers > 1:
                found.append(_finding(view, row, "second-header"))
        elif kind == LineKind.DAMAGED:
            found.append(_finding(view, row, "damaged-line"))
        elif kind == LineKind.FOREIGN:
            found.append(_finding(view, row, "foreign-line"))
        elif kind == LineKind.GLUED:
            rescued = 0
            while row + rescued + 1 < len(table) and table.kind[row + rescued + 1] == SALVAGED:
                rescued += 1
            found.append(_finding(view, row, "glued-line", f"{rescued} salvaged"))
        if flags & ORPHAN:
            missing = view.entry(row).parent_id or ""
            found.append(_finding(view, row, "missing-parent", missing))
        if flags & NOT_UTF8 and kind != SALVAGED:
            found.append(_finding(view, row, "not-utf-8"))
    interrupted = interrupted_rows(view)
    if interrupted:
        found.append(_finding(view, interrupted[0], "two-writers", str(len(interrupted))))
    if not headers and len(table):
        found.append(Finding("no-header", 1, 0, 0, ""))
    if table.pending:
        line = table.line_count() + 1
        excerpt = view.source.read_range(table.end, min(table.pending, EXCERPT)).decode("utf-8", "replace")
        found.append(Finding("pending-line", line, table.end, table.pending, excerpt))
    return found


def _finding(view: SessionView, row: int, kind: str, detail: str = "") -> Finding:
    table = view.table
    offset, length = table.offset[row], table.length[row]
    excerpt = view.source.read_range(offset, min(length, EXCERPT)).decode("utf-8", "replace")
    return Finding(kind, table.line_number(row), offset, length, excerpt, detail)
