"""The story behind a line: the prompt, the reasoning and the edit that wrote it, and what else was tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pivcs.errors import InputError
from pivcs.objects.table import FAILED
from pivcs.ops.blame import Author, BaseOf, Blame, BlamedLine, Kind
from pivcs.ops.file_versions import file_changes
from pivcs.ops.merge_base import merge_base
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, USER
from pivcs.workspace.calls import path_of
from pivcs.workspace.paths import file_path
from pivcs.workspace.state import Change, FilePath


class NoSuchLine(InputError):
    """The file has no such line."""


class Attempt(NamedTuple):
    """Another change of the file that was tried: `row` is that of the result, `call_row` that of the answer."""

    row: int
    call_row: int
    failed: bool
    change: Change | None


@dataclass(frozen=True, slots=True)
class Story:
    """What is known of a line.

    `author` is who wrote it, or who first wrote the same text elsewhere when it is of unknown origin; None when nobody
    did. Rows are rows of `view`: of the prompt, and of the answers from there to the one that called the tool, which is
    last. `change` is what that call did.
    """

    line: BlamedLine
    author: Author | None
    view: SessionView | None
    prompt: int | None
    answers: tuple[int, ...]
    change: Change | None
    attempts: tuple[Attempt, ...]


def story_of(blame: Blame, number: int, base_of: BaseOf) -> Story:
    """Return the story of a line, by its number from 1. Raises `NoSuchLine`."""
    total = len(blame.lines)
    if not 1 <= number <= total:
        raise NoSuchLine(f"'{blame.path.text}' has {total} line{'' if total == 1 else 's'}, and no line {number}")
    line = blame.lines[number - 1]
    author = line.author if line.author.kind is Kind.ENTRY else line.elsewhere
    if author is None or author.row is None:
        return Story(line, None, None, None, (), None, ())
    view = blame.views[author.view]
    path = _path_in(blame, view)
    prompt = Whereabouts(view).prompt(author.row)
    changes = list(file_changes(view, path, base_of(view)))
    change = next((each for each in changes if each.row == author.row and each.after.is_exact), None) or next(
        (each for each in changes if each.row == author.row), None
    )
    answers = tuple(_answers(view, author, prompt))
    found = {each.row: each for each in _attempts(view, path, author, prompt, changes)}
    attempts = tuple(found[row] for row in sorted(found))
    return Story(line, author, view, prompt, answers, change, attempts)


def _path_in(blame: Blame, view: SessionView) -> FilePath:
    if view is blame.views[0] or not blame.path.inside:
        return blame.path
    whole = f"{blame.views[0].header.cwd or ''}/{blame.path.text}"
    return file_path(whole, view.header.cwd)


def _answers(view: SessionView, author: Author, prompt: int | None) -> Iterator[int]:
    """Yield the answers between the prompt and the call, oldest first."""
    last = author.call_row if author.call_row is not None else author.row
    assert last is not None
    found = []
    at: int | None = last
    while at is not None and at != prompt:
        if view.table.code[at] == ASSISTANT:
            found.append(at)
        at = view.table.parent_of(at)
    return reversed(found)


def _attempts(
    view: SessionView, path: FilePath, author: Author, prompt: int | None, changes: list[Change]
) -> Iterator[Attempt]:
    """Yield what else was tried with the file: from the same prompt on along other paths, and calls that failed.

    A prompt that was given again is another child of what the first one was given after.
    """
    assert author.row is not None
    table = view.table
    since = table.parent_of(prompt) if prompt is not None else None
    for change in changes:
        if change.kind not in ("write", "edit") or change.row == author.row:
            continue
        base = merge_base(view, author.row, change.row)
        parted = base not in (author.row, change.row) and (since is None or (base is not None and base >= since))
        if parted and _tried_for_the_same(view, change.row, base, prompt):
            yield Attempt(change.row, change.call_row, failed=False, change=change)
    at = table.parent_of(author.row)
    while at is not None and at != prompt:
        if table.code[at] == TOOL_RESULT and table.flags[at] & FAILED:
            call = view.call_of(at)
            named = path_of(call.name, call.arguments) if call is not None else None
            if named is not None and file_path(named, view.header.cwd) == path:
                yield Attempt(at, at, failed=True, change=None)
        at = table.parent_of(at)


def _tried_for_the_same(view: SessionView, row: int, base: int | None, prompt: int | None) -> bool:
    """Whether a change on another path was made for the first prompt there: later ones ask for something else."""
    prompts = 0
    at: int | None = row
    while at is not None and at != base:
        prompts += view.table.code[at] == USER
        at = view.table.parent_of(at)
    return prompts <= 1
