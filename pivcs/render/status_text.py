"""The state of a session as text, and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pivcs.ops import log as ops
from pivcs.ops.status import Finding, Status
from pivcs.ops.view import SessionView
from pivcs.render.amounts import format_bytes, format_count, plural
from pivcs.render.documents import Document, session_document, time_text
from pivcs.render.log_text import SHORT_OID, Looks, fitted, oneline
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible
from pivcs.session.fields import LineKind
from pivcs.session.migrations import version_of

_MEANING: Final = {
    "damaged-line": "damaged: no JSON; pi skips it",
    "foreign-line": "JSON, but no entry",
    "glued-line": "several records in one line; pi skips it",
    "missing-parent": "parent is not in the file",
    "second-header": "another header",
    "not-utf-8": "not UTF-8",
    "two-writers": "goes on with a turn that another chain interrupted: two programs write to the file",
    "no-header": "the file has no header; pi refuses it",
    "pending-line": "no line end: a torn write, or one that is under way",
}
_NOUNS: Final = {
    LineKind.HEADER: ("header", "headers"),
    LineKind.ENTRY: ("entry", "entries"),
    LineKind.GLUED: ("glued", "glued"),
    LineKind.FOREIGN: ("foreign", "foreign"),
    LineKind.DAMAGED: ("damaged", "damaged"),
    LineKind.BLANK: ("blank", "blank"),
}
SHOWN_FINDINGS: Final = 20
SHOWN_BRANCHES: Final = 3


def status_lines(view: SessionView, status: Status, looks: Looks, *, every: bool) -> Iterator[str]:
    """Yield the lines of `pivcs status`; without `every` at most `SHOWN_FINDINGS` findings are listed."""
    style, header = looks.styler, view.header
    title = view.name or view.first_prompt
    if title:
        yield _field("Session", style(Role.HEADING, one_line(title)))
    version = version_of(header.fields) if header.fields else None
    kind = "no header" if version is None else f"version {version:g}"
    yield _field("File", f"{one_line(view.where)} ({format_bytes(status.size)}, {kind})")
    if header.id:
        yield _field("Id", one_line(header.id))
    if view.key is not None:
        yield _field("Key", style(Role.DIM, view.key.hex[:SHORT_OID]))
    if header.cwd:
        yield _field("Project", one_line(header.cwd))
    if header.parent_session:
        yield _field("Made from", one_line(header.parent_session))
    if status.head is None:
        yield _field("Position", "no entry yet")
    else:
        head = ops.logged(view, status.head)
        yield _field("Position", oneline(head, view.subject(status.head), looks, beside=11))
        yield _field("", looks.when(head.time))
    if status.branches:
        yield _field("Branch", _branch(status, looks))
    amounts = [plural(status.nodes, "entry", "entries"), plural(status.tips, "tip")]
    amounts += [plural(status.branches, "branch", "branches"), plural(status.labels, "label")]
    if status.tags:
        amounts.append(plural(status.tags, "tag"))
    yield _field("Tree", ", ".join(amounts))
    counts = ", ".join(
        f"{format_count(count)} {_NOUNS[kind][count != 1]}" for kind, count in status.lines.items() if count
    )
    yield _field("Lines", f"{format_count(status.line_count)}" + (f": {counts}" if counts else ""))
    yield from _history_lines(status, looks)
    if status.findings:
        yield ""
        shown = status.findings if every else status.findings[:SHOWN_FINDINGS]
        for finding in shown:
            yield from _finding_lines(finding, looks)
        left = len(status.findings) - len(shown)
        if left:
            yield style(Role.DIM, f"(+{plural(left, 'finding')}; --all shows them)")


def _branch(status: Status, looks: Looks) -> str:
    """Say which branch HEAD is on, or which have gone further from where it is."""
    if status.head_branch is not None:
        return looks.styler(Role.CURRENT, visible(status.head_branch, keep=""))
    further = [visible(name, keep="") for name in status.gone_further[:SHOWN_BRANCHES]]
    left = len(status.gone_further) - len(further)
    names = ", ".join(further) + (f" and {plural(left, 'other')}" if left else "")
    have = "has" if len(status.gone_further) == 1 else "have"
    where = f"; {names} {have} gone further" if names else ""
    return looks.styler(Role.WARNING, "detached") + f": HEAD is not at the end of a branch{where}"


def _history_lines(status: Status, looks: Looks) -> Iterator[str]:
    """Yield what the store knows beyond the file: other sources, and what happened to them."""
    style = looks.styler
    if len(status.sources) > 1 or any(source.gone for source in status.sources):
        for source in status.sources:
            words = [format_bytes(source.size)]
            if source.generation > 1:
                words.append(f"generation {source.generation}")
            if source.gone:
                words.append(style(Role.WARNING, "gone"))
            if source.here:
                words.append("shown here")
            yield _field("Source", f"{source.number}  {one_line(source.path)} ({', '.join(words)})")
    for event in status.events:
        kept = ""
        if event.kind in ("rewritten", "truncated") and event.generation is not None:
            kept = f"; what was before is kept: cat --generation {event.generation - 1}"
        detail = f" ({one_line(event.detail)})" if event.detail else ""
        yield _field("History", f"{looks.when(event.time)}  " + style(Role.WARNING, event.kind) + detail + kept)


def _field(name: str, text: str) -> str:
    return f"{name + ':' if name else '':<10} {text}"


def _finding_lines(finding: Finding, looks: Looks) -> Iterator[str]:
    where = "" if finding.kind == "no-header" else f"line {finding.line}, offset {finding.offset}: "
    meaning = _MEANING[finding.kind]
    if finding.kind == "missing-parent":
        meaning = f"parent {one_line(finding.detail) or '(empty)'} is not in the file above it"
    elif finding.kind == "two-writers":
        meaning += "" if finding.detail == "1" else f" ({finding.detail} times)"
    elif finding.detail:
        meaning += f" ({finding.detail})"
    if finding.kind in ("damaged-line", "pending-line", "glued-line"):
        meaning += f", {plural(finding.length, 'byte')}"
    yield looks.styler(Role.WARNING, where + meaning)
    if finding.kind in ("damaged-line", "foreign-line", "glued-line", "pending-line"):
        spans = [(Role.PLAIN, "    "), (Role.DIM, one_line(finding.excerpt))]
        yield looks.styler.spans(fitted(spans, looks.columns))


def status_document(view: SessionView, status: Status) -> Document:
    """Return the state of a session as a JSON document."""
    return {
        "schema": "pivcs.status/1",
        "session": session_document(view),
        "size": status.size,
        "lines": {kind.name.lower(): count for kind, count in status.lines.items()},
        "line_count": status.line_count,
        "nodes": status.nodes,
        "salvaged": status.salvaged,
        "tips": status.tips,
        "branches": status.branches,
        "labels": status.labels,
        "tags": status.tags,
        "gone_further": list(status.gone_further),
        "pending": status.pending,
        "sources": [
            {
                "number": source.number,
                "path": source.path,
                "generation": source.generation,
                "size": source.size,
                "gone": source.gone,
                "shown": source.here,
            }
            for source in status.sources
        ],
        "events": [
            {
                "time": time_text(event.time),
                "kind": event.kind,
                "generation": event.generation,
                "detail": event.detail,
            }
            for event in status.events
        ],
        "findings": [
            {
                "kind": finding.kind,
                "line": finding.line,
                "offset": finding.offset,
                "length": finding.length,
                "detail": finding.detail,
            }
            for finding in status.findings
        ],
    }
