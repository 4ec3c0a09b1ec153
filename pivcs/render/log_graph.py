"""A log drawn as a tree, an entry (or a turn) a line, long runs elided."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from pivcs.objects.table import ORPHAN
from pivcs.ops import log as ops
from pivcs.ops.view import SessionView
from pivcs.render import graph, log_text
from pivcs.render.amounts import plural
from pivcs.render.graph_filter import keep_only
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import can_encode

if TYPE_CHECKING:
    from pivcs.render.log_format import Template

LONGEST_RUN = 4
"""Runs of more entries than this without a landmark are elided."""


def graph_lines(
    view: SessionView,
    rows: Sequence[int],
    looks: Looks,
    *,
    only: Container[int] | None = None,
    count: int | None = None,
    turns: bool = False,
    full: bool = False,
    template: Template | None = None,
    encoding: str = "utf-8",
) -> Iterator[str]:
    """Yield the lines of the graph of `rows`, which come children before parents, newest first.

    With `only` these are drawn, and how they hang together; with `turns` turns that have one of them. Long runs are
    elided unless `full`. With `count` only that many entries (or turns) are drawn; elided ones do not count.
    """
    found = {turn.last: turn for turn in ops.turns_of(view, rows)} if turns else {}
    if turns:
        drawn = [_row(view, turn.last, turn.parent) for turn in found.values()]
    else:
        drawn = [_row(view, row, view.table.parent_of(row)) for row in rows]
    if only is not None:
        chosen = {turn.last for turn in found.values() if any(row in only for row in turn.rows)} if turns else only
        drawn = keep_only(drawn, lambda row: row.key in chosen)
    if not full and not turns:
        landmarks = _landmarks(view, rows)
        drawn = graph.elide_linear(drawn, lambda row: bool(row.hidden) or row.key in landmarks, longest=LONGEST_RUN)
    if count is not None:
        drawn = _first(drawn, count)
    more = graph.MORE_LANES if can_encode(graph.MORE_LANES, encoding) else graph.MORE_LANES_ASCII
    width = graph.MAX_LANES if looks.columns is None else max(3, looks.columns // 6)
    noun = ("turn", "turns") if turns else ("entry", "entries")
    for drawing in graph.draw(drawn, max_lanes=min(width, graph.MAX_LANES), more=more):
        row, beside = drawing.row, len(drawing.node.text)
        if row.hidden:
            texts = [looks.styler(Role.DIM, f"({plural(row.hidden, *noun)})")]
        elif turns:
            texts = log_text.turn_lines(view, found[row.key], looks, beside=beside)
        elif template is not None:
            texts = template.fill(view, ops.logged(view, row.key), looks).split("\n")
        else:
            texts = [log_text.oneline(ops.logged(view, row.key), view.subject(row.key), looks, beside=beside)]
        lines = drawing.beside(len(texts))
        texts += [""] * (len(lines) - len(texts))
        for line, text in zip(lines, texts, strict=True):
            lanes = line.text if text else line.text.rstrip(" ")
            yield looks.styler.graph(lanes, line.lanes[: len(lanes)]) + text.rstrip(" ")


def _row(view: SessionView, row: int, parent: int | None) -> graph.Row[int]:
    glyph = graph.CURRENT if row == view.head else graph.NODE
    stub = graph.MISSING if view.table.flags[row] & ORPHAN else ""
    return graph.Row(row, parent, glyph, stub)


def _landmarks(view: SessionView, rows: Sequence[int]) -> set[int]:
    """Return the rows that stay visible: landmarks, and the first entry of every branch."""
    marks = {row for row in rows if ops.is_landmark(view, row)}
    for siblings in view.children.values():
        if len(siblings) > 1:
            marks.update(siblings)
    return marks


def _first(rows: Sequence[graph.Row[int]], count: int) -> list[graph.Row[int]]:
    chosen: list[graph.Row[int]] = []
    for row in rows:
        if not row.hidden:
            if not count:
                break
            count -= 1
        chosen.append(row)
    return chosen
