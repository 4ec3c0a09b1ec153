"""The story behind a line of a file, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pivcs.ops import log as ops
from pivcs.ops.blame import Blame, Kind
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.ops.why import Attempt, Story
from pivcs.render.blame_text import Teller, author_document
from pivcs.render.diff_text import change_lines
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import NARROWEST, Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible
from pivcs.render.width import wrap
from pivcs.workspace.line_origins import How

_SAID_LINES: Final = 24
"""Lines of a prompt or of reasoning that are shown; the rest is counted."""
_ANSWERS: Final = 3
"""Answers before the one that wrote the line that are shown."""


def story_lines(blame: Blame, story: Story, looks: Looks) -> Iterator[str]:
    """Yield the story of a line as text."""
    style, line = looks.styler, story.line
    text = visible(line.text.decode("utf-8", "replace").rstrip("\r\n"), keep="\t")
    yield style(Role.HEADING, f"{visible(blame.path.text, keep='')}:{line.number}:") + f" {text}"
    teller = Teller(blame, looks)
    if line.author.kind is not Kind.ENTRY:
        yield style(Role.WARNING, f"the line is of unknown origin: {teller.unknown(line)}")
    elif line.how is not How.WRITTEN:
        yield style(Role.WARNING, f"{line.how.value} since it was written")
    if story.author is None or story.view is None or story.author.row is None:
        return
    view, row = story.view, story.author.row
    places = teller.whereabouts(story.author.view)
    yield _heading(view, row, places, looks)
    if blame.views[0] is not view:
        yield style(Role.DIM, f"in session {visible(view.where, keep='')}")
    if story.prompt is not None:
        yield ""
        yield style(Role.USER, f"prompt {visible(view.table.name(story.prompt), keep='')}")
        yield from _said(view, story.prompt, ("text",), looks)
    skipped = story.answers[:-_ANSWERS]
    if skipped:
        yield ""
        yield style(Role.DIM, f"({len(skipped)} earlier answers)")
    for answer in story.answers[-_ANSWERS:]:
        said = list(_said(view, answer, ("thinking", "text"), looks))
        if said:
            yield ""
            yield style(Role.ASSISTANT, f"answer {visible(view.table.name(answer), keep='')}")
            yield from said
    if story.change is not None:
        yield ""
        yield from change_lines(story.change, looks)
    yield from _tried(view, story.attempts, places, looks)


def _heading(view: SessionView, row: int, places: Whereabouts, looks: Looks) -> str:
    branch = places.branch(row)
    on = "" if branch is None else f" on {one_line(branch)}"
    parts = [
        f"written by {visible(view.table.name(row), keep='')}{on}" + (" (abandoned)" * places.is_abandoned(row)),
        looks.when(view.table.time_of(row)),
        one_line(places.model(row) or ""),
    ]
    return looks.styler(Role.ID, ", ".join(part for part in parts if part))


def _said(view: SessionView, row: int, kinds: tuple[str, ...], looks: Looks) -> Iterator[str]:
    """Yield what an entry says, indented; reasoning has a bar in front."""
    lines: list[tuple[str, str]] = []
    for part in ops.parts(view, row):
        if part.kind in kinds and part.text.strip():
            mark = "| " if part.kind == "thinking" else ""
            lines += [(mark, line) for line in part.text.strip().split("\n")]
    for mark, line in lines[:_SAID_LINES]:
        role = Role.DIM if mark else Role.PLAIN
        safe = visible(line.rstrip("\r"), keep="\t")
        pieces = [safe] if looks.columns is None else wrap(safe, max(looks.columns - 6, NARROWEST))
        for piece in pieces:
            yield (f"    {looks.styler(role, mark + piece)}").rstrip()
    if len(lines) > _SAID_LINES:
        yield "    " + looks.styler(Role.DIM, f"(+{len(lines) - _SAID_LINES} lines; `pivcs show` has all)")


def _tried(view: SessionView, attempts: Sequence[Attempt], places: Whereabouts, looks: Looks) -> Iterator[str]:
    if not attempts:
        return
    yield ""
    yield looks.styler(Role.HEADING, "what else was tried")
    for attempt in attempts:
        name = visible(view.table.name(attempt.row), keep="")
        branch = places.branch(attempt.row)
        where = f" ({one_line(branch)})" if branch is not None and places.is_abandoned(attempt.row) else ""
        subject = one_line(view.subject(attempt.row))
        role = Role.ERROR if attempt.failed else Role.PLAIN
        yield f"    {looks.styler(Role.ID, name)}{where} " + looks.styler(role, subject)


def story_document(blame: Blame, story: Story) -> Document:
    """Return the story of a line as a document, schema `pivcs.why/1`."""
    line, view, author = story.line, story.view, story.author
    document: Document = {
        "schema": "pivcs.why/1",
        "path": blame.path.text,
        "line": line.number,
        "text": line.text.decode("utf-8", "replace").rstrip("\r\n"),
        "known": line.author.kind is Kind.ENTRY,
        "how": line.how.value,
        "author": None,
        "prompt": None,
        "answers": [],
        "change": None,
        "attempts": [],
    }
    if view is None or author is None:
        return document
    places = Whereabouts(view)
    if author.row is not None:
        document["author"] = author_document(view, places, author.row)
    if story.prompt is not None:
        document["prompt"] = {"entry": view.table.name(story.prompt), "text": _whole(view, story.prompt, "text")}
    document["answers"] = [
        {
            "entry": view.table.name(row),
            "thinking": _whole(view, row, "thinking"),
            "text": _whole(view, row, "text"),
        }
        for row in story.answers
    ]
    if story.change is not None:
        document["change"] = {"kind": story.change.kind, "entry": view.table.name(story.change.row)}
    document["attempts"] = [
        {
            "entry": view.table.name(attempt.row),
            "branch": places.branch(attempt.row),
            "abandoned": places.is_abandoned(attempt.row),
            "failed": attempt.failed,
            "time": time_text(view.table.time_of(attempt.row)),
            "subject": view.subject(attempt.row),
        }
        for attempt in story.attempts
    ]
    return document


def _whole(view: SessionView, row: int, kind: str) -> str:
    return "\n\n".join(part.text for part in ops.parts(view, row) if part.kind == kind)
