"""Statistics as text: the sums of all, or a table of groups with a bar for each day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from pivcs.ops.stats import Counts, Group, Statistics
from pivcs.ops.stats_sums import Sums
from pivcs.render.amounts import plural
from pivcs.render.comparison_table import duration
from pivcs.render.list_text import LONGEST_ID, shortest_ids
from pivcs.render.log_text import NARROWEST, Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.render.width import columns_of, pad, truncate, wrap

_WIDEST_NAME: Final = 40
_NARROWEST_NAME: Final = 16
_BAR: Final = 24
"""Columns of the longest bar, where there is room for it."""
_USUAL_BAR: Final = 12
"""Columns that numbers leave to bars."""
_EMPTY: Final = ("0", "-", "$0")
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
BLOCKS: Final = _EIGHTHS.strip()
NOTHING: Final = {
    "session": "(no prompt)",
    "branch": "(on no branch)",
    "project": "(no project)",
    "day": "(no time)",
    "model": "(no model)",
    "tool": "(no name)",
}


class Column(NamedTuple):
    """A number of a group. Where there is not room for all of them, those with the smallest `rank` are shown."""

    title: str
    said: Callable[[Counts], str]
    rank: int
    role: Role = Role.PLAIN


def count(number: int | float) -> str:
    """Return a number of tokens: whole up to a million, then in millions with three digits that say something."""
    if abs(number) < 1e6:
        return f"{number:,.0f}"
    for unit, size in (("M", 1e6), ("G", 1e9), ("T", 1e12)):
        scaled = number / size
        if abs(scaled) < 999.5 or unit == "T":
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:,.{digits}f} {unit}"
    raise AssertionError("the last unit always returns")


def dollars(cost: float) -> str:
    """Return a cost: `$0.0284`, `$12.50`; from a dollar on in cents."""
    if not cost:
        return "$0"
    sign = "-" if cost < 0 else ""
    return f"{sign}${abs(cost):,.{2 if abs(cost) >= 1 else 4}f}"


def share(counts: Counts) -> str:
    """Return how much of what was spent is abandoned: of the cost, or where nothing has a cost of the tokens; `-` where
    nothing was spent."""
    total, abandoned = counts
    part, whole = (abandoned.cost, total.cost) if total.cost > 0 else (abandoned.tokens, total.tokens)
    return f"{100 * part / whole:.0f} %" if whole > 0 else "-"


def _took(time: int) -> str:
    return duration(time) if time else "-"


_ERRORS: Final = Column("errors", lambda each: f"{each.total.errors:,}", 7, Role.ERROR)
_ENTRIES: Final = Column("entries", lambda each: f"{each.total.entries:,}", 8)
_CALLS: Final = Column("calls", lambda each: f"{each.total.tool_calls:,}", 6)
_TOKENS: Final = Column("tokens", lambda each: count(each.total.tokens), 2)
_COST: Final = Column("cost", lambda each: dollars(each.total.cost), 1)
_TIME: Final = Column("time", lambda each: _took(each.total.time), 5)
COLUMNS: Final = (
    _ENTRIES,
    Column("prompts", lambda each: f"{each.total.prompts:,}", 9),
    Column("turns", lambda each: f"{each.total.turns:,}", 4),
    _CALLS,
    _ERRORS,
    Column("in", lambda each: count(each.total.input), 10),
    Column("out", lambda each: count(each.total.output), 11),
    Column("cache read", lambda each: count(each.total.cache_read), 12),
    Column("cache write", lambda each: count(each.total.cache_write), 13),
    _TOKENS,
    _COST,
    _TIME,
    Column("abandoned", share, 3, Role.DIM),
)
_OF_TOOLS: Final = (
    Column("calls", lambda each: f"{each.total.tool_calls:,}", 1),
    Column("results", lambda each: f"{each.total.entries:,}", 2),
    _ERRORS._replace(rank=3),
    _TIME._replace(rank=4),
    _TOKENS._replace(rank=6),
    _COST._replace(rank=5),
)


def sum_lines(found: Statistics, looks: Looks) -> Iterator[str]:
    """Yield a line for each sum, of all entries and of those that HEAD does not contain."""
    total, abandoned = found.counts
    rows: list[tuple[str, str, str, str]] = []
    measures: tuple[tuple[str, Callable[[Sums], int | float]], ...] = (
        ("entries", lambda sums: sums.entries),
        ("prompts", lambda sums: sums.prompts),
        ("turns", lambda sums: sums.turns),
        ("answers", lambda sums: sums.answers),
        ("tool calls", lambda sums: sums.tool_calls),
        ("errors", lambda sums: sums.errors),
        ("tokens", lambda sums: sums.tokens),
        ("  in", lambda sums: sums.input),
        ("  out", lambda sums: sums.output),
        ("  cache read", lambda sums: sums.cache_read),
        ("  cache write", lambda sums: sums.cache_write),
    )
    for title, said in measures:
        rows.append((title, f"{said(total):,.0f}", f"{said(abandoned):,.0f}", _part(said(abandoned), said(total))))
    rows.append(("cost", dollars(total.cost), dollars(abandoned.cost), _part(abandoned.cost, total.cost)))
    rows.append(("time of answers", _took(total.time), _took(abandoned.time), _part(abandoned.time, total.time)))
    rows.insert(0, ("", "all", "abandoned", ""))
    widths = [max(columns_of(row[place]) for row in rows) for place in range(4)]
    for number, row in enumerate(rows):
        cells = [pad(text, width, right=place > 0) for place, (text, width) in enumerate(zip(row, widths, strict=True))]
        spans: list[Span] = [
            (Role.DIM if number else Role.HEADING, cells[0]),
            (Role.PLAIN if number else Role.HEADING, f"  {cells[1]}  {cells[2]}"),
            (Role.DIM, f"  {cells[3]}"),
        ]
        yield looks.styler.spans(fitted(spans, looks.columns)).rstrip(" ")
    yield from _notes(found, looks)


def _part(some: int | float, of: int | float) -> str:
    return f"{100 * some / of:.0f} %" if of > 0 and some > 0 else ""


def table_lines(found: Statistics, looks: Looks, *, blocks: bool) -> Iterator[str]:
    """Yield a line for each group with as many numbers as there is room for, then one for all of them.

    On a terminal days have bars, made of `#` without `blocks`.
    """
    by = found.by or ""
    columns = _OF_TOOLS if by == "tool" else COLUMNS
    names = _names(found.groups, by)
    counts = [group.counts for group in found.groups]
    if by != "tool":  # what all entries come to says nothing of tools
        names.append("all" if found.sessions == 1 else plural(found.sessions, "session"))
        counts.append(found.counts)
    said = [[column.said(each) for column in columns] for each in counts]
    bare = {place for place in range(len(columns)) if all(row[place] in _EMPTY for row in said)}
    widths = [
        max(columns_of(text) for text in (column.title, *(row[place] for row in said)))
        for place, column in enumerate(columns)
    ]
    widest = min(max(map(columns_of, (by, *names))), _WIDEST_NAME if looks.columns is not None else 10_000)
    kept = _USUAL_BAR + 2 if by == "day" and len(found.groups) > 1 else 0
    wanted = min(widest, 24 if by == "session" else 36)  # the ends of prompts say least
    room = None if looks.columns is None else looks.columns - wanted - kept
    shown = _fitting(columns, widths, bare, room)
    used = sum(widths[place] + 2 for place in shown)
    if looks.columns is not None:
        widest = max(min(widest, looks.columns - used), min(widest, _NARROWEST_NAME))
    bars = _bars(found, looks, looks.columns - widest - used - 2, blocks=blocks) if looks.columns is not None else []
    head = [pad(columns[place].title, widths[place], right=True) for place in shown]
    over = f"  {_measured(found)}" if bars else ""
    yield _line(looks, [(Role.HEADING, "  ".join([pad(by, widest), *head]) + over)])
    for number, (name, row) in enumerate(zip(names, said, strict=True)):
        spans: list[Span] = [(Role.PLAIN, pad(truncate(name, widest), widest))]
        for place in shown:
            role = columns[place].role if row[place] not in _EMPTY else Role.DIM
            spans.append((role, "  " + pad(row[place], widths[place], right=True)))
        if number == len(found.groups):
            spans = [(Role.HEADING, "".join(text for _, text in spans))]
        elif bars:
            spans.append((Role.ASSISTANT, "  " + bars[number]))
        yield _line(looks, spans)
    left = [column.title for place, column in enumerate(columns) if place not in shown and place not in bare]
    if left:
        yield from _note(f"no room for: {', '.join(left)}", looks)
    yield from _notes(found, looks)


def _fitting(columns: Sequence[Column], widths: Sequence[int], bare: set[int], room: int | None) -> list[int]:
    """Return the places of the columns that are shown: the most important ones that there is room for."""
    shown: list[int] = []
    left = room
    for place in sorted(range(len(columns)), key=lambda place: columns[place].rank):
        if place in bare:
            continue
        if left is not None:
            if widths[place] + 2 > left:
                break
            left -= widths[place] + 2
        shown.append(place)
    return sorted(shown)


def _bars(found: Statistics, looks: Looks, room: int, *, blocks: bool) -> list[str]:
    """Return a bar for each day."""
    if found.by != "day" or room < _USUAL_BAR or len(found.groups) < 2:
        return []
    measured = _measured(found)
    amounts = [float(getattr(group.counts.total, measured)) for group in found.groups]
    return bars(amounts, min(room, _BAR), blocks=blocks)


def _measured(found: Statistics) -> str:
    """Return what bars are about."""
    return "cost" if any(group.counts.total.cost > 0 for group in found.groups) else "tokens"


def bars(amounts: Sequence[float], columns: int, *, blocks: bool) -> list[str]:
    """Return bars as long as the amounts are large, the longest one of `columns`; what is above 0 can be seen."""
    most = max(amounts, default=0.0)
    if most <= 0:
        return ["" for _ in amounts]
    drawn = []
    for amount in amounts:
        part = min(max(amount, 0.0) / most, 1.0) * columns
        if not blocks:
            drawn.append("#" * max(round(part), amount > 0))
            continue
        eighths = max(round(part * 8), amount > 0)
        drawn.append("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip())
    return drawn


def _names(groups: Sequence[Group], by: str) -> list[str]:
    """Return what groups are called, safe to be shown."""
    if by != "session":
        return [visible(group.key.name or "", keep="") or NOTHING.get(by, "") for group in groups]
    ids = shortest_ids([group.key.id or PurePath(group.key.session or "").name for group in groups])
    titles = [one_line(group.key.name or "") or NOTHING[by] for group in groups]
    return [f"{truncate(one_line(ident), LONGEST_ID)} {title}" for ident, title in zip(ids, titles, strict=True)]


def _line(looks: Looks, spans: Sequence[Span]) -> str:
    columns = None if looks.columns is None else max(looks.columns, NARROWEST)
    return looks.styler.spans(fitted(spans, columns)).rstrip(" ")


def _notes(found: Statistics, looks: Looks) -> Iterator[str]:
    """Yield what there is to know about the numbers."""
    if found.copies:
        verb = "is a copy" if found.copies == 1 else "are copies"
        whole = "; each session is shown with all of its own" if found.by == "session" else ""
        yield from _note(f"{plural(found.copies, 'entry', 'entries')} {verb} from another session, counted once{whole}",
                         looks)  # fmt: skip
    unreadable = found.counts.total.unreadable
    if unreadable:
        which = "1 entry has" if unreadable == 1 else f"{unreadable:,} entries have"
        yield from _note(f"{which} usage that is not all numbers; what is none counts as nothing", looks)


def _note(text: str, looks: Looks) -> Iterator[str]:
    lines = [text] if looks.columns is None else wrap(text, max(looks.columns, NARROWEST) - 2)
    for number, line in enumerate(lines):
        yield looks.styler(Role.DIM, f"{'  ' if number else '* '}{line}")
