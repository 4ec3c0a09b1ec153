"""The turns of two or more paths since they parted, those that answer the same prompt together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.ops.compare_turns import TurnPair
from pivcs.ops.comparison import Comparison, Side, answer_of, prompt_of
from pivcs.ops.log import Turn
from pivcs.ops.word_changes import word_changes
from pivcs.render.log_text import Looks
from pivcs.render.spans import Line, beside, change_spans, folded, indented, more, wrapped
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.render.width import columns_of, truncate

TURNS: Final = 40
"""Turns that are shown unless all are asked for."""
LINES: Final = 6
"""Lines of a prompt or an answer that are shown unless all are asked for."""
ALIKE: Final = 0.4
"""Texts that share less than this stand one below the other: marked words would not be readable."""
WIDE: Final = 100
"""Columns that a terminal has at least to show sides side by side."""
MARKS: Final = "<>"


class Shape(NamedTuple):
    """How turns are shown: all of them with all their lines (`full`), in two columns (`columns`)."""

    full: bool = False
    columns: bool = False

    @property
    def lines(self) -> int | None:
        """Lines of a text that are shown."""
        return None if self.full else LINES


def mark_of(comparison: Comparison, place: int) -> Span:
    """Return what stands for a side: `<` and `>`, of more than two their numbers."""
    if len(comparison.sides) == 2:
        return (Role.ADDITION if place else Role.DELETION, MARKS[place])
    return (Role.HEADING, str(place + 1))


def turn_lines(comparison: Comparison, looks: Looks, shape: Shape) -> Iterator[Line]:
    """Yield the turns: of two sides in pairs, of more one side below the other."""
    if len(comparison.sides) != 2:
        yield from _lists(comparison, looks, shape)
        return
    shown = comparison.pairs if shape.full or len(comparison.pairs) <= TURNS + 1 else comparison.pairs[:TURNS]
    if shape.columns and looks.columns is not None and looks.columns >= WIDE:
        for pair in _abreast(shown):
            yield from _columns(comparison, pair, looks.columns, shape)
    else:
        for pair in shown:
            yield from _stacked(comparison, pair, looks, shape)
    if len(shown) < len(comparison.pairs):
        yield [(Role.DIM, "  " + more(len(comparison.pairs) - len(shown), "turn"))]


def _lists(comparison: Comparison, looks: Looks, shape: Shape) -> Iterator[Line]:
    each = max(3, TURNS // len(comparison.sides))
    for place, side in enumerate(comparison.sides):
        shown = side.turns if shape.full or len(side.turns) <= each + 1 else side.turns[:each]
        for number, turn in enumerate(shown):
            lead: Line = [(Role.PLAIN, "  "), mark_of(comparison, place), (Role.DIM, f" {number + 1}".ljust(4))]
            yield [*lead, *_one_line(side, turn, _room(looks, lead))]
        if len(shown) < len(side.turns):
            yield [(Role.DIM, "      " + more(len(side.turns) - len(shown), "turn"))]


def _room(looks: Looks, lead: Line) -> int | None:
    return None if looks.columns is None else max(20, looks.columns - sum(columns_of(text) for _, text in lead))


def _lead(comparison: Comparison, pair: TurnPair, sign: Span) -> Line:
    widths = [max(1, len(str(len(side.turns)))) for side in comparison.sides]
    first = "" if pair.first is None else str(pair.first + 1)
    second = "" if pair.second is None else str(pair.second + 1)
    return [(Role.DIM, f"  {first:>{widths[0]}} "), sign, (Role.DIM, f" {second:<{widths[1]}}  ")]


def _stacked(comparison: Comparison, pair: TurnPair, looks: Looks, shape: Shape) -> Iterator[Line]:
    for place, number in enumerate((pair.first, pair.second)):
        if number is not None and pair.likeness is None:
            side, lead = comparison.sides[place], _lead(comparison, pair, mark_of(comparison, place))
            yield [*lead, *_one_line(side, side.turns[number], _room(looks, lead))]
    if pair.first is None or pair.second is None:
        return
    (first, mine), (second, theirs) = _both(comparison, pair)
    prompts = [_prompt(first, mine), _prompt(second, theirs)]
    answers = [_answer(first, mine), _answer(second, theirs)]
    if prompts[0] == prompts[1] and answers[0] == answers[1]:
        lead = _lead(comparison, pair, (Role.DIM, "="))
        yield [*lead, *_one_line(first, mine, _room(looks, lead))]
        return
    lead = _lead(comparison, pair, (Role.WARNING, "!"))
    width = sum(len(text) for _, text in lead)
    room = _room(looks, lead)
    yield from indented(folded(_changed(prompts, room), shape.lines), lead, " " * width)
    if answers[0] == answers[1]:
        yield from indented(folded(_plain(answers[0], room), 1), [(Role.DIM, " " * (width - 3) + "-> ")], " " * width)
        return
    changes = word_changes(*answers)
    if changes.likeness >= ALIKE:
        spans = change_spans(changes.pieces)
        yield from indented(
            folded(wrapped(spans, room), shape.lines), [(Role.DIM, " " * (width - 3) + "-> ")], " " * width
        )
        return
    for place, answer in enumerate(answers):
        mark = [(Role.PLAIN, " " * (width - 2)), mark_of(comparison, place), (Role.PLAIN, " ")]
        yield from indented(folded(_plain(answer, room), shape.lines), mark, " " * width)


def _abreast(pairs: Sequence[TurnPair]) -> Iterator[TurnPair]:
    """Yield pairs for columns: turns of the second side that follow turns of the first stand beside these."""
    waiting: list[int] = []
    for pair in pairs:
        if pair.second is None and pair.first is not None:
            waiting.append(pair.first)
        elif pair.first is None and waiting:
            yield TurnPair(waiting.pop(0), pair.second, None)
        else:
            yield from (TurnPair(first, None, None) for first in waiting)
            waiting = []
            yield pair
    yield from (TurnPair(first, None, None) for first in waiting)


def _columns(comparison: Comparison, pair: TurnPair, width: int, shape: Shape) -> Iterator[Line]:
    room = (width - 3) // 2
    cells: list[list[Line]] = [[], []]
    texts = [("", ""), ("", "")]
    for place, number in enumerate((pair.first, pair.second)):
        if number is not None:
            side = comparison.sides[place]
            texts[place] = _prompt(side, side.turns[number]), _answer(side, side.turns[number])
    for place, (number, kind) in enumerate(zip((pair.first, pair.second), ("old", "new"), strict=True)):
        if number is None:
            continue
        for part, mark in ((0, f"{number + 1}"), (1, "->")):
            lead: Line = [(Role.DIM, f"{mark:>4} ")]
            changes = word_changes(texts[0][part], texts[1][part])
            both = pair.likeness is not None and changes.likeness >= ALIKE
            text = change_spans(changes.pieces, side=kind) if both else [(Role.PLAIN, visible(texts[place][part]))]
            cells[place] += indented(folded(wrapped(text, room - 5), shape.lines), lead, " " * 5)
    yield from beside(cells[0], cells[1], room)


def _both(comparison: Comparison, pair: TurnPair) -> tuple[tuple[Side, Turn], tuple[Side, Turn]]:
    first, second = comparison.sides
    return (first, first.turns[pair.first or 0]), (second, second.turns[pair.second or 0])


def _prompt(side: Side, turn: Turn) -> str:
    text = prompt_of(side.view, turn)
    if text is not None:
        return text.strip() or "(empty)"
    return "(the turn in which they parted)" if turn is side.turns[0] else "(no prompt)"


def _answer(side: Side, turn: Turn) -> str:
    text = answer_of(side.view, turn).strip()
    if turn.finished:
        return text or one_line(side.view.subject(turn.last))
    return f"{text} (unfinished)".strip()


def _changed(texts: list[str], room: int | None) -> list[Line]:
    if texts[0] == texts[1]:
        return _plain(texts[0], room)
    return wrapped(change_spans(word_changes(*texts).pieces), room)


def _plain(text: str, room: int | None) -> list[Line]:
    return wrapped([(Role.PLAIN, visible(text))], room)


def _one_line(side: Side, turn: Turn, room: int | None) -> Line:
    """Return a turn as what was asked and what was answered; both get a fair share of the room."""
    prompt, answer = one_line(_prompt(side, turn)), one_line(_answer(side, turn))
    if room is not None:
        left = room - 4
        share = max(left // 2, left - columns_of(answer))
        prompt = truncate(prompt, share)
        answer = truncate(answer, left - columns_of(prompt))
    return [(Role.PLAIN, prompt), (Role.DIM, " -> "), (Role.PLAIN, answer)]
