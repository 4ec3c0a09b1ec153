"""What was done on each side of a comparison, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.ops.comparison import Comparison, Side
from pivcs.ops.deeds import Deed
from pivcs.render.comparison_turns import mark_of
from pivcs.render.log_text import Looks
from pivcs.render.spans import Line, more
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line
from pivcs.render.width import columns_of, pad, truncate

DEEDS: Final = 12
"""Different deeds of a side that are shown unless all are asked for."""


class Measure(NamedTuple):
    """A line of the table. It is left out where every side has what `nothing` says, unless all lines are asked for."""

    title: str
    said: Callable[[Side], str]
    nothing: str | None = None
    role: Role = Role.PLAIN


def _counted(number: int | float) -> str:
    return f"{number:,.0f}"


def _models(side: Side) -> str:
    """Return the models without their providers: what tells them apart must not be cut in a narrow column."""
    names = dict.fromkeys(one_line(model.text).rpartition("/")[2] for model in side.models)
    return ", ".join(names) or "none"


def _providers(side: Side) -> str:
    return ", ".join(dict.fromkeys(one_line(model.text).rpartition("/")[0] for model in side.models)) or "none"


def _thinking(side: Side) -> str:
    return ", ".join(one_line(each.text) for each in side.thinking) or "as before"


MEASURES: Final = (
    Measure("entries", lambda side: _counted(len(side.rows))),
    Measure("turns", lambda side: _counted(len(side.turns))),
    Measure("tool calls", lambda side: _counted(sum(deed.times for deed in side.deeds)), "0"),
    Measure("failed", lambda side: _counted(side.failures), "0", Role.ERROR),
    Measure("model", _models, "none"),
    Measure("provider", _providers, "none"),
    Measure("thinking", _thinking, "as before"),
    Measure("compactions", lambda side: _counted(len(side.compactions)), "0"),
)
COSTS: Final = (
    Measure("answers", lambda side: _counted(side.spent.answers), "0"),
    Measure("tokens", lambda side: _counted(side.spent.tokens)),
    Measure("  in", lambda side: _counted(side.spent.input), "0"),
    Measure("  out", lambda side: _counted(side.spent.output), "0"),
    Measure("  cache read", lambda side: _counted(side.spent.cache_read), "0"),
    Measure("  cache write", lambda side: _counted(side.spent.cache_write), "0"),
    Measure("cost", lambda side: f"${side.spent.cost:,.4f}"),
    Measure("time", lambda side: duration(side.spent.wall)),
)


def duration(wall: int | None) -> str:
    """Return a number of milliseconds as people say it: `41 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`."""
    if wall is None:
        return "none"
    seconds = (wall + 500) // 1000
    for unit, smaller, size, part in (("d", "h", 86_400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1)):
        if seconds >= size:
            rest = seconds % size // part
            return f"{seconds // size:,} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{seconds} s"


def table_lines(
    comparison: Comparison, measures: Sequence[Measure], looks: Looks, *, whole: bool = False
) -> Iterator[Line]:
    """Yield a line for each measure, a column for each side, as wide as they need or the terminal allows."""
    title = max(len(measure.title) for measure in measures) + 2
    texts = [[measure.said(side) for side in comparison.sides] for measure in measures]
    widest = 60 if looks.columns is None else max(12, (looks.columns - title - 2) // len(comparison.sides) - 2)
    heads = [truncate(f"{mark_of(comparison, place)[1]} {one_line(side.name)}", widest)
             for place, side in enumerate(comparison.sides)]  # fmt: skip
    widths = [
        min(widest, max(columns_of(text) for text in (head, *(row[place] for row in texts))))
        for place, head in enumerate(heads)
    ]
    yield [(Role.PLAIN, " " * (title + 2)), *_cells([(Role.HEADING, head) for head in heads], widths)]
    for measure, row in zip(measures, texts, strict=True):
        if measure.said is _providers and not whole and len(set(row)) == 1:
            continue
        if whole or measure.nothing is None or any(text != measure.nothing for text in row):
            cells = [(measure.role if text != measure.nothing else Role.PLAIN, text) for text in row]
            yield [(Role.DIM, "  " + pad(measure.title, title)), *_cells(cells, widths)]


def _cells(cells: Sequence[Span], widths: Sequence[int]) -> Iterator[Span]:
    for (role, text), width in zip(cells, widths, strict=True):
        cut = truncate(text, width)
        yield role, cut
        yield Role.PLAIN, " " * (width - columns_of(cut) + 2)


def tool_lines(comparison: Comparison, looks: Looks, *, full: bool) -> Iterator[Line]:
    """Yield what was done on each side in one run of text, wrapped between deeds."""
    for place, side in enumerate(comparison.sides):
        lead: Line = [(Role.PLAIN, "  "), mark_of(comparison, place), (Role.PLAIN, " ")]
        shown = side.deeds if full or len(side.deeds) <= DEEDS + 1 else side.deeds[:DEEDS]
        items = [_deed_spans(deed) for deed in shown]
        if len(shown) < len(side.deeds):
            items.append([(Role.DIM, more(len(side.deeds) - len(shown), "deed"))])
        room = None if looks.columns is None else looks.columns - 4
        lines = _filled(items, room) or [[(Role.DIM, "(nothing)")]]
        for number, line in enumerate(lines):
            yield [*lead, *line] if not number else [(Role.PLAIN, "    "), *line]


def deed_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield every deed in a line of its own, with the first entry that did it."""
    for place, side in enumerate(comparison.sides):
        name = max((columns_of(one_line(side.view.table.name(deed.row))) for deed in side.deeds), default=0)
        for deed in side.deeds:
            ident = pad(one_line(side.view.table.name(deed.row)), name)
            lead: Line = [(Role.PLAIN, "  "), mark_of(comparison, place), (Role.ID, f" {ident}"), (Role.PLAIN, "  ")]
            yield [*lead, *_deed_spans(deed)]
        if not side.deeds:
            yield [(Role.PLAIN, "  "), mark_of(comparison, place), (Role.DIM, " (nothing)")]


def _deed_spans(deed: Deed) -> Line:
    times = f" ({deed.times:,} times)" if deed.times > 1 else ""
    role = Role.ERROR if deed.failed else Role.DIM
    return [(Role.PLAIN, truncate(one_line(deed.what), 60) + " "), (role, deed.outcome), (Role.DIM, times)]


def _filled(items: Sequence[Line], room: int | None) -> list[Line]:
    """Return items with commas between them, in lines that are not longer than the room where an item is not."""
    lines: list[Line] = []
    used = 0
    for number, item in enumerate(items):
        comma: Line = [(Role.DIM, ",")] if number + 1 < len(items) else []
        width = sum(columns_of(text) for _, text in (*item, *comma))
        if lines and (room is None or used + 1 + width <= room):
            lines[-1] += [(Role.PLAIN, " "), *item, *comma]
            used += 1 + width
        else:
            lines.append([*item, *comma])
            used = width
    return lines
