"""The history of positions: where HEAD and the branches have been, newest first.

pi keeps no history of its position, but every record line is where pi was when it wrote it, so HEAD's is found from the
order of lines. A branch's comes from the operations of the store, in which the steps of a sync are told apart again by
the lines; without them, from the lines alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.objects.table import NODE
from pivcs.ops.branch_line import BranchLines
from pivcs.ops.view import SessionView
from pivcs.session.codes import LABEL, SESSION_INFO, is_conversation
from pivcs.store.refs import Operation, RefChange

_BOOK_KEEPING: Final = {LABEL: "labelled", SESSION_INFO: "named"}


class Move(NamedTuple):
    """One move of HEAD or of a branch, to `row` from `before` (None: from nowhere; or to nowhere, when deleted).

    `why`: `began`, `appended`, `branched` (what was appended follows another entry than the one before), `labelled`,
    `named`, `book-keeping`, `again` (a line written twice); of branches also `created`, `moved`, `renamed`, `deleted`,
    `undo`, `redo`. `command` is what the user ran. Times are milliseconds since 1970.
    """

    row: int | None
    before: int | None
    why: str
    time: int | None
    command: str | None = None


class NoHistory(InputError):
    """What was asked for is neither HEAD nor a branch."""


def moves_of(view: SessionView, text: str) -> tuple[str, Iterator[Move]]:
    """Return the name of HEAD or of a branch, as it can be typed, and its moves, newest first. Raises `NoHistory`."""
    if text in ("HEAD", "@"):
        return "HEAD", head_moves(view)
    name = text.removeprefix("heads/")
    if view.refs.branch(name) is None:
        hint = "HEAD and branches have a history; `pivcs branch` lists them"
        raise NoHistory(f"there is no branch '{name}'", hint=hint)
    return name, iter(branch_moves(view, name))


def head_moves(view: SessionView) -> Iterator[Move]:
    """Yield the moves of HEAD, newest first: one for every record line."""
    later: int | None = None
    for row in _records_backward(view):
        if later is not None:
            yield _head_move(view, later, row)
        later = row
    if later is not None:
        yield _head_move(view, later, None)


def _records_backward(view: SessionView) -> Iterator[int]:
    flags = view.table.flags
    return (row for row in range(len(view.table) - 1, -1, -1) if flags[row] & NODE)


def _head_move(view: SessionView, line: int, line_before: int | None) -> Move:
    table = view.table
    row = table.first_row(line)
    before = None if line_before is None else table.first_row(line_before)
    if row != line:
        why = "again"
    elif not is_conversation(table.code[row]):
        why = _BOOK_KEEPING.get(table.code[row], "book-keeping")
    elif before is None:
        why = "began"
    else:
        why = "appended" if table.parent_of(row) == before else "branched"
    return Move(row, before, why, table.time_of(line))


def head_at(view: SessionView, moves: int) -> int | None:
    """Return where HEAD was that many moves ago, None when there were not so many."""
    for number, row in enumerate(_records_backward(view)):
        if number == moves:
            return view.table.first_row(row)
    return None


def branch_moves(view: SessionView, name: str) -> list[Move]:
    """Return the moves of a branch that is there now, newest first; empty when there is none of that name."""
    branch = view.refs.branch(name)
    if branch is None:
        return []
    lines = BranchLines(view)
    moves: list[Move] = []
    at: int | None = branch.row
    for operation, change, renamed_from in _history(view, name):
        row, before = _row(view, change.new), _row(view, change.old)
        if not moves and row != at:
            break  # it came with a rewrite of the file, so the operations know it by other entries
        at = before
        if operation.kind == "sync" and row is not None:
            moves += _steps(view, lines, row, before)
        elif renamed_from is not None:
            moves.append(Move(row, row, "renamed", operation.time, operation.command))
            at = row
        else:
            moves.append(Move(row, before, _why(operation, row, before), operation.time, operation.command))
    if at is not None:
        moves += _steps(view, lines, at, None)
    return moves


def _why(operation: Operation, row: int | None, before: int | None) -> str:
    if operation.kind != "user":
        return operation.kind
    return "deleted" if row is None else "created" if before is None else "moved"


def _steps(view: SessionView, lines: BranchLines, row: int, before: int | None) -> list[Move]:
    """Return the moves, an entry each, that took a branch from `before` (None: from its beginning) to `row`."""
    table = view.table
    rows: list[int] = []
    if before is None:
        rows = lines.conversation(row)
    else:
        at: int | None = row
        while at is not None and at > before:
            if is_conversation(table.code[at]):
                rows.append(at)
            at = table.parent_of(at)
    olds = [*rows[1:], before]
    return [
        Move(to, old, "began" if old is None else "appended", table.time_of(to))
        for to, old in zip(rows, olds, strict=True)
    ]


def _row(view: SessionView, digest: bytes | None) -> int | None:
    rows = view.table.rows_with_digest_prefix(digest) if digest is not None else []
    return rows[0] if rows else None


def _history(view: SessionView, name: str) -> Iterator[tuple[Operation, RefChange, str | None]]:
    """Yield the operations on a branch, newest first, through its renamings; with the old name at each of these."""
    if view.store is None or view.stream is None:
        return
    refs, stream = view.store.refs, view.stream.id
    last: int | None = None
    while True:
        for operation, change in refs.history(stream, name, before=last):
            renamed_from = None
            if change.old is None and operation.kind != "sync":
                siblings = refs.changes_of(operation.id)
                renamed_from = next(
                    (
                        each.name
                        for each in siblings
                        if each.stream == stream and each.name != name and each.new is None and each.old == change.new
                    ),
                    None,
                )
            yield operation, change, renamed_from
            if renamed_from is not None:
                name, last = renamed_from, operation.id
                break
        else:
            return
