"""Which refs an export writes for a session, and which entries they name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from pivcs.gitbridge.ref_names import branch_ref, entry_ref, label_ref, tag_ref
from pivcs.gitbridge.review import rows_above
from pivcs.ops.access import view_of
from pivcs.ops.view import SessionView
from pivcs.store.records import Stream


class Chosen(NamedTuple):
    """A session to export; with `rows` only what names these, and the ends of their paths that nothing names."""

    view: SessionView
    rows: Collection[int] | None = None


class Targets(NamedTuple):
    """Refs, and the rows of a stream that they name."""

    view: SessionView
    rows: dict[str, int]


def targets_of(chosen: Chosen, folder: str) -> list[Targets]:
    """Return the refs of a session: those of its primary stream first, then those of names for other streams."""
    view = chosen.view
    own = dict(_own(view, folder))
    if chosen.rows is not None:
        wanted = set(chosen.rows)
        own = {name: row for name, row in own.items() if row in wanted}
        above = rows_above(view, [parent for row in wanted if (parent := view.table.parent_of(row)) is not None])
        ends = [row for row in sorted(wanted - set(own.values())) if not above[row]]
        own.update((entry_ref(folder, view.table.name(row)), row) for row in ends)
        return [Targets(view, own)]
    found = [Targets(view, own)]
    others: dict[int, tuple[Stream, dict[str, int]]] = {}
    for name, stream, row in view.refs.elsewhere:
        if view.stream is not None and stream.id == view.stream.id:
            own.setdefault(branch_ref(folder, name), row)
        else:
            others.setdefault(stream.id, (stream, {}))[1].setdefault(branch_ref(folder, name), row)
    for stream, rows in others.values():
        assert view.store is not None
        rest = {name: row for name, row in rows.items() if name not in own}
        if rest:
            found.append(Targets(view_of(view.store, stream), rest))
    return found


def _own(view: SessionView, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the refs of a stream's own names; of a label that several entries have, the last counts."""
    refs = view.refs
    for branch in refs.branches:
        yield branch_ref(folder, branch.name), branch.row
    for row, label in sorted(refs.labels.items()):
        yield label_ref(folder, label), row
    for name, oid in refs.tags.items():
        rows = view.table.rows_with_digest_prefix(oid.digest)
        if rows:
            yield tag_ref(folder, name), rows[0]
