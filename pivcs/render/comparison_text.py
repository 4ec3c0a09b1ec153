"""A comparison as a page: where paths parted, what each side was asked, did, changed and cost since then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.ops import log as ops
from pivcs.ops.compare_context import ContextDifference
from pivcs.ops.comparison import Comparison, Side
from pivcs.ops.log import iter_path, logged
from pivcs.render.amounts import plural
from pivcs.render.comparison_table import COSTS, MEASURES, Measure, deed_lines, table_lines, tool_lines
from pivcs.render.comparison_turns import Shape, mark_of, turn_lines
from pivcs.render.context_diff_text import context_diff_lines
from pivcs.render.log_text import Looks, decoration, subject_spans
from pivcs.render.spans import Line, painted
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible
from pivcs.session.codes import USER

SECTIONS: Final = ("messages", "files", "tools", "stat", "cost", "context")
"""Sections that can be asked for by name."""
PAGE: Final = ("messages", "files", "tools", "cost")
"""Those of the page that is shown unless some are asked for; `cost` has the measures of `stat` above it then."""


class Wanted(NamedTuple):
    """What to show: sections by name (none: the whole page), how turns look, unchanged messages around changed ones."""

    sections: frozenset[str] = frozenset()
    shape: Shape = Shape()
    context_lines: int = 3

    def has(self, section: str) -> bool:
        """Whether a section is to be shown."""
        return section in (self.sections or PAGE)


def page_lines(
    comparison: Comparison,
    looks: Looks,
    wanted: Wanted,
    *,
    files: Iterable[str] = (),
    context: ContextDifference | None = None,
) -> Iterator[str]:
    """Yield the page, a blank line between sections. `files` are lines of safe text, made by who knows of files."""
    yield from painted(_header(comparison, looks), looks)
    if not comparison.differs:
        yield ""
        yield "No differences."
        return
    full = wanted.shape.full
    sections: list[tuple[str, Iterable[str]]] = []
    if wanted.has("messages"):
        sections.append(("Turns", painted(turn_lines(comparison, looks, wanted.shape), looks)))
    if wanted.has("files") or "stat" in wanted.sections:
        sections.append(("Files", files))
    if "tools" in wanted.sections or (wanted.has("tools") and any(side.deeds for side in comparison.sides)):
        tools = deed_lines(comparison) if "tools" in wanted.sections else tool_lines(comparison, looks, full=full)
        sections.append(("Tools", painted(tools, looks)))
    if not wanted.sections or "stat" in wanted.sections:
        whole = "stat" in wanted.sections
        measures = (*MEASURES, *COSTS) if whole else _short()
        sections.append(("Totals", painted(table_lines(comparison, measures, looks, whole=whole), looks)))
    elif wanted.has("cost"):
        sections.append(("Cost", painted(table_lines(comparison, COSTS, looks, whole=True), looks)))
    if context is not None and "context" in wanted.sections:
        messages = context_diff_lines(context, comparison, wanted.context_lines, full=full)
        sections.append(("Context", painted(messages, looks)))
    for title, lines in sections:
        yield from _section(title, lines, looks)


def _short() -> Sequence[Measure]:
    return (*MEASURES, *(measure for measure in COSTS if not measure.title.startswith((" ", "answers"))))


def _section(title: str, lines: Iterable[str], looks: Looks) -> Iterator[str]:
    first = True
    for line in lines:
        if first:
            yield ""
            yield looks.styler(Role.HEADING, title)
        first = False
        yield line


def _header(comparison: Comparison, looks: Looks) -> Iterator[Line]:
    several = len({id(side.view) for side in comparison.sides}) > 1
    for place, side in enumerate(comparison.sides):
        entries = plural(len(side.rows), "entry", "entries")
        line: Line = [mark_of(comparison, place), (Role.PLAIN, " "), (Role.ID, one_line(side.name))]
        line += [(Role.PLAIN, "  "), (Role.DIM, f"{plural(len(side.turns), 'turn')}, {entries}")]
        for role, mark in decoration(logged(side.view, side.row)):
            mark = mark.removesuffix(f" -> {one_line(side.name)}")
            if mark != one_line(side.name):
                line += [(Role.PLAIN, "  "), (role, mark)]
        yield line
        if several:
            yield [(Role.DIM, f"  {visible(side.view.where, keep='')}")]
    first = comparison.sides[0]
    if first.base is None:
        yield [(Role.WARNING, "They have no entry in common.")]
        return
    base = logged(first.view, first.base)
    name = one_line(first.view.table.name(first.base))
    yield [(Role.HEADING, "Parted after "), (Role.ID, name), (Role.DIM, f"  {looks.when(base.time)}")]
    if comparison.by == "relative":
        yield [(Role.DIM, "  recognised by entry id, type and time; the object ids differ")]
    for row in _said_before(first):
        entry = ops.logged(first.view, row)
        yield [(Role.PLAIN, "  "), *subject_spans(entry, first.view.subject(row))]


def _said_before(side: Side) -> Iterator[int]:
    """Yield the prompt of the turn in which the paths parted, and the entry after which they did."""
    assert side.base is not None
    prompt = next((row for row in iter_path(side.view, side.base) if side.view.table.code[row] == USER), None)
    if prompt is not None and prompt != side.base:
        yield prompt
    yield side.base
