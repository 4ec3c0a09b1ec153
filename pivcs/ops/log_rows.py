"""Which rows a log is about: a path, the whole tree, or a set; and which of them filters let through."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.ops.log import in_log_order, iter_path, rows_of_tree
from pivcs.ops.view import SessionView

if TYPE_CHECKING:
    from pivcs.ops.revset import Selection

_OPERATOR: Final = re.compile(r"[&|()]|\.\.|^not\s")


class Scope(NamedTuple):
    """What a log is about.

    `view` may be that of another stream of the session. `tip` is the end of the path that is shown (None: the session
    has no entry); for a set or the whole tree it is None and `rows` has them in the log's order. `is_set`: not a whole
    tree or path, so a graph has to draw what is between.
    """

    view: SessionView
    tip: int | None = None
    rows: list[int] | None = None
    is_set: bool = False
    warnings: tuple[str, ...] = ()

    def iter_rows(self) -> Iterator[int]:
        """Yield the rows, newest first; a path is followed only as far as it is asked for."""
        return iter(self.rows) if self.rows is not None else iter_path(self.view, self.tip)


def scope_of(view: SessionView, text: str | None, *, everything: bool, now: int, zone: tzinfo | None) -> Scope:
    """Return what a log of a revision, range or set is about; without a text the path to HEAD, or the whole tree.

    Raises what `pivcs.ops.revset.read` raises.
    """
    if text is None:
        return Scope(view, rows=rows_of_tree(view)) if everything else Scope(view, tip=view.head)
    chosen = chosen_by(view, text, now, zone)
    if chosen.revision is not None:
        return Scope(chosen.view, tip=chosen.revision, warnings=chosen.warnings)
    rows = in_log_order(chosen.view, chosen.rows)
    return Scope(chosen.view, rows=rows, is_set=True, warnings=chosen.warnings)


def chosen_by(view: SessionView, text: str, now: int, zone: tzinfo | None) -> Selection:
    """Return what a revision, range or set names. Raises what `pivcs.ops.revset.read` raises.

    Words without any operator are meant as a name, a label mostly, so it is the name that is said to be unknown.
    """
    from pivcs.ops.revision import resolve_target
    from pivcs.ops.revset import read
    from pivcs.ops.set_syntax import BadExpression

    try:
        return read(view, text, now, zone)
    except BadExpression:
        if not _OPERATOR.search(text):
            resolve_target(view, text)
        raise


class Filters(NamedTuple):
    """What a log may be narrowed to. Of the values of one kind any will do; of kinds that are given all must hold.

    `since` and `until` are dates as people type them.
    """

    roles: Sequence[str] = ()
    types: Sequence[str] = ()
    tools: Sequence[str] = ()
    files: Sequence[str] = ()
    patterns: Sequence[str] = ()
    ignore_case: bool = False
    errors: bool = False
    since: str | None = None
    until: str | None = None

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return any((*self[:5], self.errors, self.since, self.until))


def passing(
    view: SessionView, rows: Iterable[int], filters: Filters, *, now: int, zone: tzinfo | None
) -> Iterator[int]:
    """Yield the rows that filters let through, in order. Raises `BadPattern` and `BadDate` before the first one."""
    if not filters:
        return iter(rows)
    from pivcs.ops import predicates
    from pivcs.ops.dates import parse_date

    def any_of(several: Sequence[predicates.Predicate]) -> predicates.Predicate:
        return several[0] if len(several) == 1 else lambda view, row: any(each(view, row) for each in several)

    kinds = [
        [predicates.has_role(role) for role in filters.roles],
        [predicates.has_type(type_) for type_ in filters.types],
        [predicates.has_failed()] if filters.errors else [],
        [predicates.is_after(parse_date(filters.since, now, zone))] if filters.since else [],
        [predicates.is_before(parse_date(filters.until, now, zone))] if filters.until else [],
        [predicates.uses_tool(tool) for tool in filters.tools],
        [predicates.touches_file(glob) for glob in filters.files],
        [predicates.has_text(pattern, ignore_case=filters.ignore_case) for pattern in filters.patterns],
    ]
    return predicates.rows_where(view, *[any_of(several) for several in kinds if several], rows=rows)
