"""Which entries a log shows, in which order, and what it says of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from pivcs.objects.oid import ObjectId
from pivcs.objects.table import FAILED, ORPHAN, TOOL_USE
from pivcs.ops.view import SessionView
from pivcs.session.codes import (
    ASSISTANT,
    BRANCH_SUMMARY,
    COMPACTION,
    CUSTOM_MESSAGE,
    FORGOTTEN,
    GONE,
    ROLE_NAMES,
    TOOL_RESULT,
    TYPE_NAMES,
    USER,
    is_conversation,
)
from pivcs.session.fields import LineKind
from pivcs.session.parts import Part, parts_of

WHO: Final = {
    TOOL_RESULT: "tool", COMPACTION: "compaction", BRANCH_SUMMARY: "summary", CUSTOM_MESSAGE: "custom",
    FORGOTTEN: "forgotten", GONE: "forgotten",
}  # fmt: skip


class MadeCommit(NamedTuple):
    """A commit of git that an entry's changes went into: its id, the names that it has, and how many of the lines that
    it added are of the entry."""

    ident: str
    refs: tuple[str, ...]
    lines: int


class LoggedEntry(NamedTuple):
    """One entry of a log.

    `name` is what can be typed to name it; `who` is `user`, `assistant`, `tool` or the kind of entry; `parent` is the
    row of its parent; `missing_parent` the id of a parent that no earlier line has. Times are milliseconds since 1970.
    `branches` and `tags` are those that point at it. `head_branch` is the branch that HEAD is on; `detached` says that
    HEAD is here and on no branch, though there are some. `commits` are those that its changes went into, newest first,
    where somebody has looked for them.
    """

    row: int
    name: str
    oid: ObjectId
    parent: int | None
    who: str
    type: str
    role: str | None
    time: int | None
    line: int
    label: str | None
    is_head: bool
    failed: bool
    missing_parent: str | None
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    head_branch: str | None = None
    detached: bool = False
    commits: tuple[MadeCommit, ...] = ()


class Turn(NamedTuple):
    """A turn: what lies between two answers that called no tool (`docs/glossary.md`).

    `last` is the row that ends it, `rows` all of it from the first on, `parent` the row that ended the turn before.
    An unfinished turn has no final answer.
    """

    last: int
    rows: tuple[int, ...]
    parent: int | None
    prompt: int | None
    finished: bool


def logged(view: SessionView, row: int) -> LoggedEntry:
    """Return what a log says of a record."""
    table, code = view.table, view.table.code[row]
    flags = table.flags[row]
    role = ROLE_NAMES.get(code)
    entry_type = "message" if role is not None else TYPE_NAMES.get(code)
    if entry_type is None:  # a type or a role without a code of its own
        entry = view.entry(row)
        entry_type = entry.type or "entry"
        role = entry.message.role if entry.message is not None else None
    missing = view.entry(row).parent_id if flags & ORPHAN else None
    refs, is_head = view.refs, row == view.head
    return LoggedEntry(
        row=row,
        name=table.name(row),
        oid=table.object_id(row),
        parent=table.parent_of(row),
        who=WHO.get(code) or role or entry_type,
        type=entry_type,
        role=role,
        time=table.time_of(row),
        line=table.line_number(row),
        label=view.labels.get(row),
        is_head=is_head,
        failed=bool(flags & FAILED),
        missing_parent=(missing or "(unreadable)") if flags & ORPHAN else None,
        branches=tuple(refs.branches_at(row)),
        tags=tuple(refs.tags_at(row)),
        head_branch=refs.head_branch if is_head else None,
        detached=is_head and refs.head_branch is None and bool(refs.branches),
        commits=view.commits.get(row, ()),
    )


def iter_path(view: SessionView, row: int | None) -> Iterator[int]:
    """Yield the records from `row` up to its root, newest first."""
    at = row
    while at is not None:
        yield at
        at = view.table.parent_of(at)


def rows_of_path(view: SessionView, row: int | None) -> list[int]:
    """Return the records from `row` up to its root, newest first."""
    return list(iter_path(view, row))


def rows_of_tree(view: SessionView) -> list[int]:
    """Return all nodes so that each comes before its parent and every branch stays together, newest branch first."""
    preorder: list[int] = []
    stack = [row for row in view.table.nodes() if view.table.parent_of(row) is None]
    stack.reverse()
    while stack:
        row = stack.pop()
        preorder.append(row)
        stack.extend(reversed(view.children.get(row, ())))
    preorder.reverse()
    return preorder


def in_log_order(view: SessionView, rows: Sequence[int]) -> list[int]:
    """Return rows, given in file order, as a log shows them: along a path, or as in the whole tree."""
    newest_first = list(reversed(rows))
    if all(view.table.parent[row] == above for row, above in pairwise(newest_first)):
        return newest_first
    wanted = set(newest_first)
    return [row for row in rows_of_tree(view) if row in wanted]


def entries(view: SessionView, rows: Iterable[int]) -> Iterator[LoggedEntry]:
    """Yield what a log says of records, in the given order."""
    return (logged(view, row) for row in rows)


def parts(view: SessionView, row: int) -> tuple[Part, ...]:
    """Return what an entry says, in parts."""
    return parts_of(view.value(row))


def damaged_before(view: SessionView, row: int) -> int | None:
    """Return the row of the last damaged line before an orphan, which is where its parent may have stood."""
    damaged = view.table.rows_of_kind(LineKind.DAMAGED, LineKind.GLUED, LineKind.FOREIGN)
    before = [line for line in damaged if line < row]
    return before[-1] if before else None


def ends_turn(view: SessionView, row: int) -> bool:
    """Whether a record ends a turn: an answer that did not stop to call tools."""
    return view.table.code[row] == ASSISTANT and not view.table.flags[row] & TOOL_USE


def turns_of(view: SessionView, rows: Sequence[int]) -> list[Turn]:
    """Return the turns that end in `rows` (a path or a tree, newest first), newest first.

    A tip that ends no turn is the end of an unfinished one, if there is conversation in it.
    """
    table = view.table
    listed = set(rows)
    has_child = {table.parent_of(row) for row in rows}
    turns = []
    for row in rows:
        finished = ends_turn(view, row)
        if not finished and row in has_child:
            continue
        part = [row]
        at = table.parent_of(row)
        while at is not None and at in listed and not ends_turn(view, at):
            part.append(at)
            at = table.parent_of(at)
        part.reverse()
        if finished or any(is_conversation(table.code[each]) for each in part):
            prompt = next((each for each in part if table.code[each] == USER), None)
            turns.append(Turn(row, tuple(part), at, prompt, finished))
    return turns


def is_landmark(view: SessionView, row: int) -> bool:
    """Whether a graph shows a record even inside a long run: prompts, final answers, summaries, HEAD, what has a
    name."""
    code = view.table.code[row]
    return (
        code in (USER, COMPACTION, BRANCH_SUMMARY)
        or ends_turn(view, row)
        or row in view.labels
        or bool(view.refs.branches_at(row) or view.refs.tags_at(row))
        or row == view.head
        or bool(view.table.flags[row] & ORPHAN)
    )
