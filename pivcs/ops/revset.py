"""Sets of entries: revisions, ranges and functions, joined by `&`, `|` and `not` (`docs/revisions.md`).

A set is one number with a byte a row, so joining two sets is one step however large they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import tzinfo
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.objects.table import NO_ROW
from pivcs.ops import predicates
from pivcs.ops.branch_line import BranchLines
from pivcs.ops.dates import parse_date
from pivcs.ops.merge_base import range_rows, symmetric_rows
from pivcs.ops.revision import InAnotherStream, Resolver, UnknownRevision
from pivcs.ops.set_syntax import BadExpression, Step, parse
from pivcs.ops.view import SessionView

_KNOWN: Final = {"role": predicates.ROLE_NAMES, "type": predicates.TYPE_NAMES}


class Selection(NamedTuple):
    """What an expression names: rows of a view (which may be that of another stream), in file order.

    `revision` is the row when the expression is nothing but one revision. `warnings` say what else names could mean.
    """

    view: SessionView
    rows: list[int]
    revision: int | None = None
    warnings: tuple[str, ...] = ()


def select(view: SessionView, text: str, now: int) -> list[int]:
    """Return the rows of this stream that an expression names, in file order. Raises as `read`, `InAnotherStream`."""
    chosen = read(view, text, now)
    if chosen.view is not view:
        raise InAnotherStream(f"'{text}' is in '{chosen.view.where}', another source or generation of the session")
    return chosen.rows


def read(view: SessionView, text: str, now: int, zone: tzinfo | None = None) -> Selection:
    """Return what an expression names; `now` is in milliseconds since 1970, `zone` that of dates (None: the machine's).

    A text that is no expression may still be the name of an entry, as a label with spaces is. Raises `BadExpression`,
    and what resolving its revisions raises.
    """
    resolver = Resolver(view)
    if text.startswith(":/") and not text.startswith(':/"'):
        return _one(resolver, text)
    try:
        steps = parse(text)
        if len(steps) == 1 and steps[0].kind == "revision":
            return _one(resolver, steps[0].text)
        return _Evaluation(view, resolver, text, now, zone).run(steps)
    except (BadExpression, UnknownRevision):
        try:
            return _one(resolver, text)
        except InputError:
            pass
        raise


def _one(resolver: Resolver, text: str) -> Selection:
    target = resolver.node(text)
    return Selection(target.view, [target.row], target.row, target.warnings)


class _Evaluation:
    """The stack machine. Every set is a number: the byte of a row in it is 1."""

    def __init__(self, view: SessionView, resolver: Resolver, text: str, now: int, zone: tzinfo | None) -> None:
        self.view = view
        self.resolver = resolver
        self.text = text
        self.now = now
        self.zone = zone
        self.warnings: dict[str, None] = {}
        self.everything = self._set(view.table.nodes())

    def run(self, steps: list[Step]) -> Selection:
        """Return what the steps leave on the stack."""
        stack: list[int] = []
        for step in steps:
            if step.kind == "revision":
                stack.append(1 << 8 * self._row(step.text, step.position))
            elif step.kind == "range":
                stack.append(self._range(step))
            elif step.kind == "not":
                stack.append(self.everything & ~stack.pop())
            elif step.kind == "and":
                stack.append(stack.pop() & stack.pop())
            elif step.kind == "or":
                stack.append(stack.pop() | stack.pop())
            elif step.text in ("ancestors", "descendants"):
                walk = self._ancestors if step.text == "ancestors" else self._descendants
                stack.append(walk(stack.pop()))
            else:
                stack.append(self._set(self._call(step)))
        return Selection(self.view, self._rows(stack.pop()), None, tuple(self.warnings))

    def _set(self, rows: Iterable[int]) -> int:
        flags = bytearray(len(self.view.table))
        for row in rows:
            flags[row] = 1
        return int.from_bytes(flags, "little")

    def _flags(self, rows: int) -> bytearray:
        return bytearray(rows.to_bytes(len(self.view.table), "little"))

    def _rows(self, rows: int) -> list[int]:
        return [row for row, flag in enumerate(self._flags(rows)) if flag]

    def _row(self, text: str, position: int) -> int:
        try:
            target = self.resolver.node(text)
        except InputError as error:
            raise BadExpression(self.text, position, error.message, hint=error.hint) from error
        if target.view is not self.view:
            why = f"'{text}' is in another source or generation of the session, so it cannot be part of a set"
            raise BadExpression(self.text, position, why, hint=f"`pivcs log {text}` shows the path to it")
        self.warnings.update(dict.fromkeys(target.warnings))
        return target.row

    def _range(self, step: Step) -> int:
        sign, _, right = step.argument.partition(" ")
        first, second = self._row(step.text, step.position), self._row(right, step.inner)
        return self._set((range_rows if sign == ".." else symmetric_rows)(self.view, first, second))

    def _ancestors(self, rows: int) -> int:
        flags, parents = self._flags(rows), self.view.table.parent
        for row in range(len(flags) - 1, -1, -1):
            if flags[row] and parents[row] != NO_ROW:
                flags[parents[row]] = 1
        return int.from_bytes(flags, "little")

    def _descendants(self, rows: int) -> int:
        flags, parents = self._flags(rows), self.view.table.parent
        for row in self.view.table.nodes():
            if parents[row] != NO_ROW and flags[parents[row]]:
                flags[row] = 1
        return int.from_bytes(flags, "little")

    def _call(self, step: Step) -> Iterable[int]:
        view, argument = self.view, step.argument
        plain: dict[str, Callable[[], Iterable[int]]] = {
            "all": view.table.nodes,
            "heads": view.tips,
            "fork_points": lambda: (row for row, children in view.children.items() if len(children) > 1),
            "branches": lambda: (branch.row for branch in view.refs.branches),
            "labels": lambda: view.labels,
            "tags": lambda: (row for oid in view.refs.tags.values() for row in self._rows_of(oid.digest)),
            "error": lambda: predicates.rows_where(view, predicates.has_failed()),
            "branch": lambda: BranchLines(view).rows(self._row(argument, step.inner)),
        }
        if step.text in plain:
            return plain[step.text]()
        rows = list(predicates.rows_where(view, self._predicate(step)))
        if not rows and step.text in _KNOWN and argument.lower() not in map(str.lower, _KNOWN[step.text]):
            raise BadExpression(
                self.text, step.inner, f"no entry has the {step.text} '{argument}'",
                hint=_like(argument, _KNOWN[step.text]),
            )  # fmt: skip
        return rows

    def _rows_of(self, digest: bytes) -> list[int]:
        return self.view.table.rows_with_digest_prefix(digest)

    def _predicate(self, step: Step) -> predicates.Predicate:
        make: dict[str, Callable[[str], predicates.Predicate]] = {
            "role": predicates.has_role,
            "type": predicates.has_type,
            "tool": predicates.uses_tool,
            "file": predicates.touches_file,
            "text": predicates.has_text,
            "after": lambda date: predicates.is_after(parse_date(date, self.now, self.zone)),
            "before": lambda date: predicates.is_before(parse_date(date, self.now, self.zone)),
        }
        try:
            return make[step.text](step.argument)
        except InputError as error:
            raise BadExpression(self.text, step.inner, error.message, hint=error.hint) from error


def _like(text: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(text, names, n=1)
    return f"did you mean '{close[0]}'?" if close else "there are " + ", ".join(names)
