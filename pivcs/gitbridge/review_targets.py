"""Which refs an export writes for a session, and which entries they name.

A session may have several streams: it went on in two places, or its file was rewritten. What its branches are called in
a repository must not depend on which of them a store met first, so a name that means different things in them becomes a
name for each, told apart by the entry at which they part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pivcs.gitbridge.ref_names import branch_ref, entry_ref, label_ref, tag_ref
from pivcs.gitbridge.review import rows_above
from pivcs.ops.access import primary_stream, view_of
from pivcs.ops.merge_base import same_beginning
from pivcs.ops.view import SessionView

_DIGITS = 8


class Chosen(NamedTuple):
    """A session to export; with `rows` only what names these, and the ends of their paths that nothing names."""

    view: SessionView
    rows: Collection[int] | None = None


class Targets(NamedTuple):
    """Refs, and the rows of a stream that they name."""

    view: SessionView
    rows: dict[str, int]


@dataclass(frozen=True)
class Tip:
    """The end of a path of a stream."""

    view: SessionView
    row: int

    @cached_property
    def path(self) -> list[int]:
        """The rows from the root on."""
        return self.view.table.path(self.row)


def sessions_of(chosen: Iterable[SessionView | Chosen]) -> list[Chosen]:
    """Return what is to be exported, each session once and as its primary stream has it; only what some of its entries
    were chosen from stays as it is. Sessions without a key are left out."""
    found: dict[bytes, Chosen] = {}
    for one in chosen:
        each = one if isinstance(one, Chosen) else Chosen(one)
        key = each.view.key
        if key is not None and (each.rows is not None or key.digest not in found):
            found[key.digest] = each if each.rows is not None else Chosen(_primary(each.view))
    return list(found.values())


def _primary(view: SessionView) -> SessionView:
    """Return a session as its primary stream has it, wherever it was opened."""
    if view.store is None or view.stream is None or view.stream.session is None:
        return view
    stream = primary_stream(view.store, view.stream.session)
    return view if stream is None or stream.id == view.stream.id else view_of(view.store, stream)


def targets_of(chosen: Chosen, folder: str) -> tuple[list[Targets], dict[str, list[Tip]]]:
    """Return the refs of a session, those of its primary stream first, and the ends of what is called by one name and
    goes on in different ways: its ref stays where it is on the path to any of them."""
    view = chosen.view
    if chosen.rows is not None:
        own = dict(_own(view, folder))
        wanted = set(chosen.rows)
        own = {name: row for name, row in own.items() if row in wanted}
        above = rows_above(view, [parent for row in wanted if (parent := view.table.parent_of(row)) is not None])
        nameless = [row for row in sorted(wanted - set(own.values())) if not above[row]]
        own.update((entry_ref(folder, view.table.name(row)), row) for row in nameless)
        return [Targets(view, own)], {}
    found: dict[int, Targets] = {id(view): Targets(view, {})}
    parted: dict[str, list[Tip]] = {}

    def put(name: str, tip: Tip) -> None:
        found.setdefault(id(tip.view), Targets(tip.view, {})).rows.setdefault(name, tip.row)

    for name, tips in _branches(view).items():
        ends = _ends(tips)
        put(branch_ref(folder, name), ends[0] if len(ends) == 1 else _shared(ends))
        if len(ends) > 1:
            parted[branch_ref(folder, name)] = ends
            for place, end in enumerate(ends):
                put(branch_ref(folder, f"{name}.{_parting_id(end, ends[:place] + ends[place + 1 :])}"), end)
    for name, row in _labels_and_tags(view, folder):
        put(name, Tip(view, row))
    return list(found.values()), parted


def _own(view: SessionView, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the refs of a stream's own names."""
    for branch in view.refs.branches:
        yield branch_ref(folder, branch.name), branch.row
    yield from _labels_and_tags(view, folder)


def _labels_and_tags(view: SessionView, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the refs of labels and tags; of a label that several entries have, the last counts."""
    for row, label in sorted(view.refs.labels.items()):
        yield label_ref(folder, label), row
    for name, oid in view.refs.tags.items():
        rows = view.table.rows_with_digest_prefix(oid.digest)
        if rows:
            yield tag_ref(folder, name), rows[0]


def _branches(view: SessionView) -> dict[str, list[Tip]]:
    """Return what each name of a branch means: in the primary stream, and in others that part from it."""
    found: dict[str, list[Tip]] = {branch.name: [Tip(view, branch.row)] for branch in view.refs.branches}
    views: dict[int, SessionView] = {}
    for name, stream, row, *_ in view.refs.elsewhere:
        assert view.store is not None
        if view.stream is not None and stream.id == view.stream.id:
            other = view
        else:
            other = views.setdefault(stream.id, view_of(view.store, stream))
            stored = [branch.name for branch in view.store.refs.branches(stream) if branch.row == row]
            name = next((each for each in stored if name in (each, name.partition("/")[0] + "/" + each)), name)
        found.setdefault(name, []).append(Tip(other, row))
    return found


def _ends(tips: Iterable[Tip]) -> list[Tip]:
    """Return those of some tips that no other one goes on from; of equal ones the first."""
    found: list[Tip] = []
    for tip in tips:
        if not any(_shared_length(tip, end) == len(tip.path) for end in found):
            found = [*(end for end in found if _shared_length(tip, end) < len(end.path)), tip]
    return found


def _shared(ends: list[Tip]) -> Tip:
    """Return the last entry that the paths to some tips share; the first tip where they share none."""
    first = ends[0]
    shared = min(_shared_length(first, end) for end in ends[1:])
    return Tip(first.view, first.path[shared - 1]) if shared else first


def _parting_id(tip: Tip, others: Iterable[Tip]) -> str:
    """Return what tells a tip from others: the beginning of the object id of the first entry that it has alone."""
    shared = max(_shared_length(tip, other) for other in others)
    return tip.view.table.digest(tip.path[shared]).hex()[:_DIGITS]


def _shared_length(tip: Tip, other: Tip) -> int:
    """Return how many entries the paths to two tips have in common: an object id says all that is above."""
    return same_beginning(tip.view, tip.path, other.view, other.path)
