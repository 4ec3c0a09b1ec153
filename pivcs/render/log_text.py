"""A log as text: one entry in one line, one entry as a paragraph, one turn in either form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final, NamedTuple

from pivcs.objects.table import FAILED
from pivcs.ops import log as ops
from pivcs.ops.log import LoggedEntry, MadeCommit, Turn
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.style import Role, Styler
from pivcs.render.text import one_line, visible
from pivcs.render.when import format_when
from pivcs.render.width import columns_of, truncate, wrap
from pivcs.session.codes import TOOL_RESULT
from pivcs.session.parts import Part

_PREFIX: Final = {
    "user": "user: ",
    "assistant": "assistant: ",
    "tool": "tool ",
    "model_change": "model ",
    "label": "label ",
    "usage": "usage ",
    "context_edit": "context ",
}
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL, "bashExecution": Role.TOOL}
_NAME_COLUMNS: Final = 40
BODY_LINES: Final = 8
"""Lines of an entry's text that a paragraph shows."""
NARROWEST: Final = 20
"""Columns that text gets at least, on however narrow a terminal."""
SHORT_COMMIT: Final = 12
"""Digits of a commit's id that are shown."""
_COMMITS: Final = 3
"""Commits, and names of each, that stand beside an entry; the rest is counted."""
SHORT_OID: Final = 16
"""Hexadecimal digits of an object id that are shown."""


class Looks(NamedTuple):
    """How text is shown: colours, columns of the terminal (None: not a terminal, nothing is cut), and times."""

    styler: Styler
    columns: int | None = None
    utc: bool = False
    zone: tzinfo | None = None

    def when(self, time: int | None) -> str:
        """Return a time as it is shown."""
        return format_when(time, utc=self.utc, zone=self.zone)


def subject_spans(entry: LoggedEntry, subject: str) -> list[tuple[Role, str]]:
    """Return one line for an entry without its id: who, and what."""
    role = Role.ERROR if entry.failed else _ROLES.get(entry.who, Role.DIM)
    prefix = _PREFIX.get(entry.who, "")
    text = one_line(subject)
    if entry.who in ("user", "assistant", "tool") or entry.failed:
        return [(role, prefix), (Role.ERROR if entry.failed else Role.PLAIN, text)]
    return [(Role.DIM, prefix + text)]


def decoration(entry: LoggedEntry) -> list[tuple[Role, str]]:
    """Return what is said in brackets behind an id, a mark a span: HEAD and its branch, branches, tags, the label."""
    marks: list[tuple[Role, str]] = []
    if entry.is_head:
        on = f" -> {_name(entry.head_branch)}" if entry.head_branch is not None else ""
        marks.append((Role.CURRENT, f"HEAD{on}{' detached' if entry.detached else ''}"))
    marks += [(Role.BRANCH, _name(name)) for name in entry.branches if name != entry.head_branch]
    marks += [(Role.LABEL, f"tag: {_name(name)}") for name in entry.tags]
    if entry.label is not None:
        marks.append((Role.LABEL, f"label: {truncate(one_line(entry.label), _NAME_COLUMNS)}"))
    return [*marks, *commit_marks(entry.commits)]


def commit_marks(commits: Sequence[MadeCommit]) -> Iterator[tuple[Role, str]]:
    """Yield marks for the commits that an entry's changes went into."""
    for commit in commits[:_COMMITS]:
        names = "".join(f" {_name(name)}" for name in commit.refs[:_COMMITS])
        yield Role.ID, f"commit {commit.ident[:SHORT_COMMIT]}{names}"
    if len(commits) > _COMMITS:
        yield Role.ID, f"{len(commits) - _COMMITS} more commits"


def _name(name: str) -> str:
    return truncate(visible(name, keep=""), _NAME_COLUMNS)


def decoration_spans(entry: LoggedEntry) -> list[tuple[Role, str]]:
    """Return the marks of an entry in brackets; nothing when it has none."""
    spans: list[tuple[Role, str]] = []
    for mark in decoration(entry):
        spans += [(Role.DIM, ", " if spans else "("), mark]
    return [*spans, (Role.DIM, ")")] if spans else []


def _id_spans(entry: LoggedEntry) -> list[tuple[Role, str]]:
    spans = [(Role.CURRENT if entry.is_head else Role.ID, visible(entry.name, keep="")), (Role.PLAIN, " ")]
    marks = decoration_spans(entry)
    return [*spans, *marks, (Role.PLAIN, " ")] if marks else spans


def fitted(spans: Sequence[tuple[Role, str]], columns: int | None) -> list[tuple[Role, str]]:
    """Return spans cut to a number of columns, at least `NARROWEST`."""
    if columns is None:
        return list(spans)
    left = max(columns, NARROWEST)
    done: list[tuple[Role, str]] = []
    for role, text in spans:
        width = columns_of(text)
        if width > left:
            done.append((role, truncate(text, left)))
            break
        done.append((role, text))
        left -= width
    return done


def oneline(entry: LoggedEntry, subject: str, looks: Looks, *, beside: int = 0) -> str:
    """Return an entry in one line; `beside` columns are taken by a graph."""
    spans = [*_id_spans(entry), *subject_spans(entry, subject)]
    if entry.missing_parent is not None:
        spans.append((Role.WARNING, f" [parent {visible(entry.missing_parent, keep='')} is missing]"))
    columns = None if looks.columns is None else looks.columns - beside
    return looks.styler.spans(fitted(spans, columns))


def paragraph(view: SessionView, entry: LoggedEntry, looks: Looks) -> list[str]:
    """Return an entry as a paragraph: its ids, who, when, and the beginning of what it says."""
    style = looks.styler
    lines = [*heading(view, entry, looks)]
    body = list(brief(ops.parts(view, entry.row), looks))
    if not body and entry.role is None:
        body = ["    " + style(Role.PLAIN, line) for line in _fold(one_line(view.subject(entry.row)), looks)]
    return [*lines, "", *body] if body else lines


def heading(view: SessionView, entry: LoggedEntry, looks: Looks) -> list[str]:
    """Return what stands above an entry's text."""
    marks = decoration_spans(entry)
    message = view.entry(entry.row).message
    by = (message.model or message.tool_name) if message is not None else None
    notes = [*([one_line(by)] if by else []), *(["failed"] if entry.failed else [])]
    who = one_line(entry.role or entry.type) + (f" ({', '.join(notes)})" if notes else "")
    lines: list[list[tuple[Role, str]]] = [
        [(Role.ID, f"entry {visible(entry.name, keep='')}"), *([(Role.PLAIN, " "), *marks] if marks else [])],
        [(Role.PLAIN, "Node:   "), (Role.DIM, entry.oid.hex[:SHORT_OID])],
        [(Role.PLAIN, "From:   "), (Role.ERROR if entry.failed else _ROLES.get(entry.who, Role.PLAIN), who)],
        [(Role.PLAIN, "Date:   " + looks.when(entry.time))],
    ]
    if entry.missing_parent is not None:
        lines.append([(Role.PLAIN, "Parent: "), (Role.WARNING, _gap(view, entry))])
    return [looks.styler.spans(fitted(line, looks.columns)) for line in lines]


def _gap(view: SessionView, entry: LoggedEntry) -> str:
    """Say that an orphan's parent is missing, and where it may have stood."""
    row = ops.damaged_before(view, entry.row)
    where = "" if row is None else f", perhaps damaged line {view.table.line_number(row)}"
    return f"{visible(entry.missing_parent or '', keep='')} is missing{where}"


def brief(parts: Sequence[Part], looks: Looks) -> Iterator[str]:
    """Yield the beginning of an entry's parts, indented by four columns; what is left out is counted."""
    shown = left_out = 0
    for part in parts:
        if part.kind in ("removed", "added", "thinking"):
            continue
        title = _title(part)
        texts = ([title] if title else []) + (part.text.rstrip().split("\n") if part.text.strip() else [])
        for number, text in enumerate(texts):
            if shown >= BODY_LINES:
                left_out += 1
                continue
            role = _part_role(part) if title is None or number == 0 else Role.PLAIN
            for line in _fold(text, looks):
                if shown < BODY_LINES:
                    shown += 1
                    yield "    " + looks.styler(role, line) if line else ""
    if left_out:
        yield "    " + looks.styler(Role.DIM, f"(+{plural(left_out, 'line')})")


def _fold(text: str, looks: Looks) -> list[str]:
    safe = visible(text.rstrip("\r"), keep="\t")
    if looks.columns is None:
        return [safe]
    return wrap(safe, max(looks.columns - 4, NARROWEST))


def _title(part: Part) -> str | None:
    if part.kind == "call":
        return f"> {one_line(part.title)}"
    if part.kind in ("image", "note"):
        return one_line(part.title)
    return None


def _part_role(part: Part) -> Role:
    return {"call": Role.TOOL, "error": Role.ERROR, "note": Role.DIM, "image": Role.DIM}.get(part.kind, Role.PLAIN)


def turn_lines(view: SessionView, turn: Turn, looks: Looks, *, beside: int = 0) -> list[str]:
    """Return a turn in two lines: its last entry's id and the prompt, then what came of it."""
    last = ops.logged(view, turn.last)
    codes, flags = view.table.code, view.table.flags
    tools = [row for row in turn.rows if codes[row] == TOOL_RESULT]
    failed = sum(1 for row in tools if flags[row] & FAILED)
    amounts = [plural(len(turn.rows), "entry", "entries")]
    if tools:
        amounts.append(plural(len(tools), "tool result"))
    if failed:
        amounts.append(f"{failed} failed")
    if not turn.finished:
        amounts.append("unfinished")
    prompt = "(no prompt)" if turn.prompt is None else one_line(view.subject(turn.prompt))
    commits = {commit.ident: commit for row in turn.rows for commit in view.commits.get(row, ())}
    last = last._replace(commits=tuple(commits.values()))
    first = [*_id_spans(last), (Role.USER, "" if turn.prompt is None else "user: "), (Role.PLAIN, prompt)]
    outcome = subject_spans(last, view.subject(turn.last))
    second = [(Role.PLAIN, "    "), (Role.DIM, f"[{', '.join(amounts)}] "), *outcome]
    columns = None if looks.columns is None else looks.columns - beside
    return [looks.styler.spans(fitted(spans, columns)) for spans in (first, second)]
