"""Two or more paths compared: where they parted, and what each was asked, did and cost since then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pivcs.ops.compare_turns import Asked, TurnPair, asked, pair_turns
from pivcs.ops.deeds import Deed, Deeds
from pivcs.ops.log import Turn, turns_of
from pivcs.ops.merge_base import Parting, parting
from pivcs.ops.names import Names
from pivcs.ops.records import iter_entries
from pivcs.ops.revision import Target
from pivcs.ops.spent import Counted, Spent
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, BRANCH_SUMMARY, COMPACTION, ROLES, TOOL_RESULT, TYPES, USER
from pivcs.session.describe import image_subject
from pivcs.session.entries import Entry

_MODEL_CHANGE, _THINKING = TYPES["model_change"], TYPES["thinking_level_change"]
_SHELL, _USAGE = ROLES["bashExecution"], TYPES["usage"]
_READ = frozenset(
    (ASSISTANT, BRANCH_SUMMARY, COMPACTION, TOOL_RESULT, USER, _MODEL_CHANGE, _SHELL, _THINKING, _USAGE)
)
"""Codes of the entries whose lines are read."""


class Setting(NamedTuple):
    """A model or a thinking level that a side set or used; `answers` given by the model, 0 for a mere change."""

    text: str
    row: int
    answers: int = 0


class Compacted(NamedTuple):
    """A compaction on a side, and the tokens that the context had before it."""

    row: int
    tokens_before: int | float | None


@dataclass(frozen=True, slots=True)
class Side:
    """One path since it parted: `rows` of `view` after `base` (None: nothing is shared), oldest first, up to `row`.

    `turns` are oldest first; the first may have been begun before they parted, and then has no prompt. `name` is the
    shortest text that means the row in its session.
    """

    view: SessionView
    row: int
    name: str
    base: int | None
    rows: tuple[int, ...]
    turns: tuple[Turn, ...]
    asked: tuple[Asked, ...]
    deeds: tuple[Deed, ...]
    models: tuple[Setting, ...]
    thinking: tuple[Setting, ...]
    compactions: tuple[Compacted, ...]
    spent: Spent

    @property
    def failures(self) -> int:
        """How many deeds went wrong."""
        return sum(deed.times for deed in self.deeds if deed.failed)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Paths compared. `by` says how the entry where they parted was recognised, None when there is none.

    `pairs` are the turns of two sides; of more sides there are none.
    """

    sides: tuple[Side, ...]
    by: Literal["oid", "relative"] | None
    pairs: tuple[TurnPair, ...]

    @property
    def differs(self) -> bool:
        """Whether any side has an entry that another one has not."""
        return any(side.rows for side in self.sides)


def compare(targets: Sequence[Target]) -> Comparison:
    """Compare the paths to two or more entries, which may be of different sessions."""
    partings = _partings(targets)
    found = [partings[0].first, *(each.second for each in partings)]
    rows = [partings[0].only_first, *(each.only_second for each in partings)]
    names: dict[int, Names] = {}
    sides = []
    for target, base, only in zip(targets, found, rows, strict=True):
        known = names.setdefault(id(target.view), Names(target.view))
        sides.append(_side(target, known.name_of(target.row), base, only))
    by: Literal["oid", "relative"] | None = partings[0].by
    if any(each.by == "relative" for each in partings):
        by = "relative"
    pairs = pair_turns(sides[0].asked, sides[1].asked) if len(sides) == 2 else []
    return Comparison(tuple(sides), by, tuple(pairs))


def since_parting(first: Target, second: Target) -> tuple[Target, Target] | None:
    """Return the point where two paths part, and the second entry, as `A...B` means them; None if nothing is shared."""
    base = parting(second.view, second.row, first.view, first.row).first
    return None if base is None else (Target(second.view, base), second)


def _partings(targets: Sequence[Target]) -> list[Parting]:
    """Return where the first path parts from each other one, taken at the entry that all of them share."""
    first = targets[0]
    others = [parting(first.view, first.row, each.view, each.row) for each in targets[1:]]
    highest = max(others, key=lambda each: len(each.only_first))
    base = highest.first
    if base is None:
        paths = [tuple(each.view.table.path(each.row)) for each in targets]
        return [Parting(None, None, None, paths[0], path) for path in paths[1:]]
    found = []
    for each, target in zip(others, targets[1:], strict=True):
        shared = each if each.first == base else parting(first.view, base, target.view, target.row)
        found.append(Parting(base, shared.second, each.by, highest.only_first, shared.only_second))
    return found


def prompt_of(view: SessionView, turn: Turn) -> str | None:
    """Return what a turn was asked, images by type and size; None without a prompt."""
    return None if turn.prompt is None else said(view, turn.prompt)


def answer_of(view: SessionView, turn: Turn) -> str:
    """Return what a turn was answered; of an unfinished turn its last answer, or nothing."""
    answers = (row for row in reversed(turn.rows) if view.table.code[row] == ASSISTANT)
    row = next(answers, None)
    return "" if row is None else said(view, row)


def said(view: SessionView, row: int) -> str:
    """Return the text of a message, images by type and size."""
    return _said(view.entry(row))


def _said(entry: Entry) -> str:
    message = entry.message
    if message is None:
        return ""
    return "\n\n".join([*message.text_blocks(), *map(image_subject, message.images())])


def _side(target: Target, name: str, base: int | None, rows: tuple[int, ...]) -> Side:
    """Read the entries of a side, each once."""
    view, table = target.view, target.view.table
    turns = turns_of(view, rows[::-1])[::-1]
    prompts = {turn.prompt for turn in turns}
    texts: dict[int, Asked] = {}
    deeds, counted = Deeds(view.header.cwd), Counted()
    models: dict[str, tuple[int, int]] = {}
    thinking: list[Setting] = []
    compactions: list[Compacted] = []
    read = iter_entries(view, [row for row in rows if table.code[row] in _READ])
    for row in rows:
        code = table.code[row]
        entry = next(read) if code in _READ else None
        counted.add(table.time_of(row), code, entry)
        if entry is None:
            continue
        message = entry.message
        deeds.add(row, code, message)
        if row in prompts:
            texts[row] = asked(_said(entry))
        if code == ASSISTANT and message is not None:
            _count_model(models, message.provider, message.model, row, 1)
        elif code == _MODEL_CHANGE:
            _count_model(models, entry.provider, entry.model_id, row, 0)
        elif code == _THINKING:
            thinking.append(Setting(entry.thinking_level or "?", row))
        elif code == COMPACTION:
            compactions.append(Compacted(row, entry.tokens_before))
    return Side(
        view,
        target.row,
        name,
        base,
        rows,
        tuple(turns),
        tuple(asked(None) if turn.prompt is None else texts[turn.prompt] for turn in turns),
        deeds.done(),
        tuple(Setting(text, row, answers) for text, (row, answers) in models.items()),
        tuple(thinking),
        tuple(compactions),
        counted.total(),
    )


def _count_model(
    models: dict[str, tuple[int, int]], provider: str | None, model: str | None, row: int, by: int
) -> None:
    text = f"{provider or '?'}/{model or '?'}"
    first, answers = models.get(text, (row, 0))
    models[text] = (first, answers + by)
