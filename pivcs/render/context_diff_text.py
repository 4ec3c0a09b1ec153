"""What the model would see at one entry against another, as a list of messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pivcs.ops.compare_context import ContextDifference, ContextStep
from pivcs.ops.comparison import Comparison
from pivcs.ops.context_view import ShownContext
from pivcs.render.amounts import plural
from pivcs.render.comparison_turns import mark_of
from pivcs.render.spans import Line, more
from pivcs.render.style import Role
from pivcs.render.text import one_line
from pivcs.session.describe import subject

MESSAGES: Final = 60
"""Messages that are shown unless all are asked for."""


def context_diff_lines(
    found: ContextDifference, comparison: Comparison, around: int, *, full: bool
) -> Iterator[Line]:
    """Yield both contexts in numbers, then the messages that only one has, with `around` of both next to them."""
    for place, context in enumerate((found.first, found.second)):
        yield [(Role.PLAIN, "  "), mark_of(comparison, place), (Role.PLAIN, f" {_numbers(context)}")]
    shown = _near(found.steps, around)
    left = None if full else MESSAGES
    hidden = folded = 0
    for step, near in zip(found.steps, shown, strict=True):
        if not near:
            hidden += 1
            continue
        if left == 0:
            folded += 1
            continue
        if hidden:
            yield [(Role.DIM, f"    ({plural(hidden, 'message')} the same)")]
            hidden = 0
        yield _step(step, comparison)
        left = None if left is None else left - 1
    if folded:
        yield [(Role.DIM, f"    {more(folded, 'message')}")]
    if hidden:
        yield [(Role.DIM, f"    ({plural(hidden, 'message')} the same)")]


def _near(steps: tuple[ContextStep, ...], around: int) -> list[bool]:
    shown = [False] * len(steps)
    for order in (range(len(steps)), range(len(steps) - 1, -1, -1)):
        since = around + 1
        for place in order:
            since = 0 if steps[place].where != "same" else since + 1
            shown[place] |= since <= around
    return shown


def _numbers(context: ShownContext) -> str:
    model = context.settings.model
    named = "no model yet" if model is None else one_line(model.model_id or "?")
    thinking = one_line(context.settings.thinking_level or "?")
    tokens = f"about {context.estimate.tokens:,.0f} tokens"
    return f"{plural(len(context.messages), 'message')}, {tokens}, {named}, thinking {thinking}"


def _step(step: ContextStep, comparison: Comparison) -> Line:
    fields = step.message.message if isinstance(step.message.message, dict) else {}
    role, summary = fields.get("role"), fields.get("summary")
    said = subject({"type": "message", "message": fields})
    if isinstance(summary, str) and role in ("compactionSummary", "branchSummary"):
        said = summary
    mark = (Role.PLAIN, " ") if step.where == "same" else mark_of(comparison, 0 if step.where == "first" else 1)
    who = one_line(role) if isinstance(role, str) else "message without role"
    return [
        (Role.PLAIN, "  "),
        mark,
        (Role.ID, f" {one_line(step.message.entry or '')}"),
        (Role.DIM, f" {who}: "),
        (Role.PLAIN, one_line(said)),
    ]
