"""What a search found, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pivcs.ops.grep import Hit
from pivcs.ops.log import logged
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import NARROWEST, Looks
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.render.width import columns_of, truncate

_LONGEST: Final = 400
"""Characters of a line that are shown where no terminal says how many there is room for."""
_BRANCH_COLUMNS: Final = 24


def hit_lines(view: SessionView, hits: Iterator[Hit], places: Whereabouts, looks: Looks) -> Iterator[str]:
    """Yield a line a hit: entry, branch, who, kind of text, number of the line, and the line with the match marked.

    Lines of context have `-` where hits have `:`, and `--` stands between groups, as with grep.
    """
    last: tuple[int, str] | None = None
    behind = 0
    for hit in hits:
        context = bool(hit.before or hit.after)
        first = hit.number - len(hit.before)
        if last is not None and context and (last != (hit.row, hit.field) or first > behind):
            yield looks.styler(Role.DIM, "--")
        head = _head(view, hit, places)
        for step, line in enumerate(hit.before):
            if last != (hit.row, hit.field) or first + step >= behind:
                yield _line(head, "-", first + step, line, (), looks)
        yield _line(head, ":", hit.number, hit.line, hit.spans, looks)
        for step, line in enumerate(hit.after, 1):
            yield _line(head, "-", hit.number + step, line, (), looks)
        last, behind = (hit.row, hit.field), hit.number + len(hit.after) + 1


def _head(view: SessionView, hit: Hit, places: Whereabouts) -> list[Span]:
    branch = places.branch(hit.row)
    who = logged(view, hit.row).who
    spans: list[Span] = [(Role.ID, visible(view.table.name(hit.row), keep=""))]
    if branch is not None:
        spans.append((Role.BRANCH, f" {truncate(one_line(branch), _BRANCH_COLUMNS)}"))
    said = one_line(who) if hit.field in ("text", "name", "label") else f"{one_line(who)} {hit.field}"
    return [*spans, (Role.DIM, f" {said}")]


def _line(
    head: list[Span], sign: str, number: int, line: str, spans: tuple[tuple[int, int], ...], looks: Looks
) -> str:
    before: list[Span] = [*head, (Role.DIM, f"{sign}{number}{sign} ")]
    taken = sum(columns_of(text) for _, text in before)
    room = _LONGEST if looks.columns is None else max(looks.columns - taken, NARROWEST)
    return looks.styler.spans([*before, *_cut(line, spans, room)]).rstrip()


def _cut(line: str, spans: tuple[tuple[int, int], ...], room: int) -> Iterator[Span]:
    """Yield the part of a line around its first match that there is room for, with `…` where something is left out."""
    start = 0
    if spans and spans[0][1] > room * 3 // 4:
        start = max(0, spans[0][0] - room // 3)
    end = min(len(line), start + room)
    pieces: list[Span] = [(Role.DIM, "…")] if start else []
    at = start
    for first, last in spans:
        if last <= at or first >= end:
            continue
        pieces.append((Role.PLAIN, line[at : max(first, at)]))
        pieces.append((Role.ERROR, line[max(first, at) : min(last, end)]))
        at = min(last, end)
    pieces.append((Role.PLAIN, line[at:end]))
    left, cut = room, end < len(line)
    for role, text in pieces:
        safe = visible(text, keep="")
        width = columns_of(safe)
        if width > left - cut:
            yield role, truncate(safe, max(left, 1))
            return
        left -= width
        yield role, safe
    if cut:
        yield Role.DIM, "…"


def hit_document(view: SessionView, hit: Hit, places: Whereabouts) -> Document:
    """Return a hit as a document."""
    entry = logged(view, hit.row)
    return {
        "session": view.where,
        "entry": entry.name,
        "oid": entry.oid.hex,
        "branch": places.branch(hit.row),
        "abandoned": places.is_abandoned(hit.row),
        "type": entry.type,
        "role": entry.role,
        "time": time_text(entry.time),
        "field": hit.field,
        "line": hit.number,
        "text": hit.line,
        "matches": [list(span) for span in hit.spans],
        "before": list(hit.before),
        "after": list(hit.after),
    }
