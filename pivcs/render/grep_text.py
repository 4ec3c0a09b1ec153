"""What a search found, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

_BRANCH_COLUMNS: Final = 24
_CHARACTERS: Final = 4
"""Characters for each column that are looked at: most take one, a few none."""


def hit_lines(view: SessionView, hits: Iterator[Hit], places: Whereabouts, looks: Looks) -> Iterator[str]:
    """Yield a line a hit: entry, branch, who, kind of text, number of the line, and the line with the match marked.

    Lines of context have `-` where hits have `:`, and `--` stands between groups, as with grep.
    """
    last: tuple[int, int] | None = None
    behind = 0
    for hit in hits:
        text = (hit.row, hit.place)
        context = bool(hit.before or hit.after)
        first = hit.number - len(hit.before)
        if last is not None and context and (last != text or first > behind):
            yield looks.styler(Role.DIM, "--")
        head = _head(view, hit, places)
        for step, line in enumerate(hit.before):
            if last != text or first + step >= behind:
                yield _line(head, "-", first + step, line, (), looks)
        yield _line(head, ":", hit.number, hit.line, hit.spans, looks)
        for step, line in enumerate(hit.after, 1):
            yield _line(head, "-", hit.number + step, line, (), looks)
        last, behind = text, hit.number + len(hit.after) + 1


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
    room = None if looks.columns is None else max(looks.columns - taken, NARROWEST)
    return looks.styler.spans([*before, *_marked(line, spans, room)]).rstrip()


def _marked(line: str, spans: Sequence[tuple[int, int]], room: int | None) -> list[Span]:
    """Return a line with its matches marked; the part of it around the first match where there is not room for all."""
    start, end = 0, len(line)
    if room is not None:
        start = _start(line, *spans[0], room) if spans else 0
        end = min(end, start + _CHARACTERS * room)
    pieces: list[Span] = [(Role.DIM, "…")] if start else []
    at = start
    for first, last in spans:
        if last > at and first < end:
            pieces.append((Role.PLAIN, line[at : max(first, at)]))
            pieces.append((Role.ERROR, line[max(first, at) : min(last, end)]))
            at = min(last, end)
    pieces.append((Role.PLAIN, line[at:end]))
    safe = [(role, visible(text, keep="")) for role, text in pieces]
    return safe if room is None else _fitted(safe, room)


def _start(line: str, first: int, last: int, room: int) -> int:
    """Return where the part of a line begins that is shown, so that its first match can be seen."""
    if len(line) <= _CHARACTERS * room and columns_of(visible(line, keep="")) <= room:
        return 0
    wide = room // 3
    if last <= room and columns_of(visible(line[:last], keep="")) <= room - wide:
        return 0
    if len(line) - first < room:  # the rest of the line may leave more room
        wide = max(wide, room - 1 - columns_of(visible(line[first:], keep="")))
    start = first
    while start > 0:
        wide -= columns_of(visible(line[start - 1], keep=""))
        if wide < 0:
            break
        start -= 1
        if first - start >= room:  # of what has no width any number would do
            break
    return start


def _fitted(spans: Sequence[Span], room: int) -> list[Span]:
    """Return spans cut to a number of columns, with `…` where something is left out."""
    if sum(columns_of(text) for _, text in spans) <= room:
        return list(spans)
    done: list[Span] = []
    left = room - 1
    for role, text in spans:
        width = columns_of(text)
        if width > left:
            done.append((role, truncate(text, left, "")))
            break
        done.append((role, text))
        left -= width
    return [*done, (Role.DIM, "…")]


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
