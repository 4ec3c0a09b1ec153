"""A comparison as a JSON document (`docs/json.md`, pivcs.diff/1)."""

from __future__ import annotations

from collections.abc import Iterable

from pivcs.ops.compare_context import ContextDifference, ContextStep
from pivcs.ops.compare_turns import TurnPair
from pivcs.ops.comparison import Comparison, Side, answer_of, prompt_of
from pivcs.ops.context_view import ShownContext
from pivcs.ops.log import Turn
from pivcs.ops.spent import Spent
from pivcs.ops.word_changes import word_changes
from pivcs.render.documents import Document, time_text


def comparison_document(
    comparison: Comparison, *, context: ContextDifference | None = None, files: Iterable[Document] | None = None
) -> Document:
    """Return a comparison with everything that the page tells; `files` are documents made by who knows of files."""
    return {
        "schema": "pivcs.diff/1",
        "differs": comparison.differs,
        "by": comparison.by,
        "sides": [_side(side) for side in comparison.sides],
        "turns": [_pair(comparison, pair) for pair in comparison.pairs],
        "files": None if files is None else list(files),
        "context": None if context is None else _context(context),
    }


def _side(side: Side) -> Document:
    table = side.view.table
    return {
        "path": side.view.where,
        "entry": table.name(side.row),
        "oid": table.object_id(side.row).hex,
        "name": side.name,
        "base": None if side.base is None else _entry(side, side.base),
        "entries": [table.name(row) for row in side.rows],
        "turns": [_turn(side, turn) for turn in side.turns],
        "deeds": [
            {
                "what": deed.what,
                "tool": deed.tool,
                "outcome": deed.outcome,
                "failed": deed.failed,
                "times": deed.times,
                "entry": table.name(deed.row),
            }
            for deed in side.deeds
        ],
        "failures": side.failures,
        "models": [
            {"model": model.text, "answers": model.answers, "entry": table.name(model.row)} for model in side.models
        ],
        "thinking": [{"level": level.text, "entry": table.name(level.row)} for level in side.thinking],
        "compactions": [
            {"entry": table.name(each.row), "tokens_before": _whole(each.tokens_before)} for each in side.compactions
        ],
        "spent": _spent(side.spent),
    }


def _entry(side: Side, row: int) -> Document:
    table = side.view.table
    return {
        "entry": table.name(row),
        "oid": table.object_id(row).hex,
        "line": table.line_number(row),
        "time": time_text(table.time_of(row)),
        "subject": side.view.subject(row),
    }


def _turn(side: Side, turn: Turn) -> Document:
    table = side.view.table
    return {
        "entries": [table.name(row) for row in turn.rows],
        "prompt": prompt_of(side.view, turn),
        "answer": answer_of(side.view, turn),
        "finished": turn.finished,
        "time": time_text(table.time_of(turn.last)),
    }


def _spent(spent: Spent) -> Document:
    return {
        "answers": spent.answers,
        "tokens": _whole(spent.tokens),
        "input": _whole(spent.input),
        "output": _whole(spent.output),
        "cache_read": _whole(spent.cache_read),
        "cache_write": _whole(spent.cache_write),
        "cost": spent.cost,
        "began": time_text(spent.began),
        "ended": time_text(spent.ended),
        "wall_ms": spent.wall,
    }


def _whole(number: int | float | None) -> int | None:
    """Return a count as a whole number; a session may say anything."""
    return round(number) if number is not None and -1e18 < number < 1e18 else None


def _pair(comparison: Comparison, pair: TurnPair) -> Document:
    """Return a pair; how like the answers are is told of turns that stand together."""
    likeness = None
    if pair.first is not None and pair.second is not None:
        first, second = comparison.sides
        answers = answer_of(first.view, first.turns[pair.first]), answer_of(second.view, second.turns[pair.second])
        likeness = word_changes(*answers).likeness
    return {
        "first": pair.first,
        "second": pair.second,
        "prompt_likeness": pair.likeness,
        "answer_likeness": likeness,
    }


def _context(found: ContextDifference) -> Document:
    return {
        "first": _context_side(found.first),
        "second": _context_side(found.second),
        "same": found.count("same"),
        "only_first": found.count("first"),
        "only_second": found.count("second"),
        "messages": [_step(step) for step in found.steps],
    }


def _context_side(context: ShownContext) -> Document:
    model = context.settings.model
    return {
        "messages": len(context.messages),
        "tokens": _whole(context.estimate.tokens),
        "model": None if model is None else {"provider": model.provider, "id": model.model_id},
        "thinking_level": context.settings.thinking_level,
    }


def _step(step: ContextStep) -> Document:
    return {"where": step.where, "entry": step.message.entry, "value": step.message.message}
