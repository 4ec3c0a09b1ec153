"""Branches, tags and labels as lists, and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pivcs.ops import log as ops
from pivcs.ops.branch_list import ListedBranch
from pivcs.ops.label_list import ListedLabel
from pivcs.ops.refs import Elsewhere
from pivcs.ops.tag_list import ListedTag
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.columns import column_lines
from pivcs.render.documents import Document, session_document, time_text
from pivcs.render.log_text import SHORT_OID, Looks, oneline
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible

_RIGHT = frozenset({3, 4, 5})


def branch_lines(
    view: SessionView,
    branches: Sequence[ListedBranch],
    elsewhere: Sequence[tuple[Elsewhere, SessionView]],
    looks: Looks,
) -> Iterator[str]:
    """Yield a line for each branch: name, id of its tip, when, how much it has, and what it was about."""
    refs = view.refs
    if refs.head is not None and refs.head_branch is None and view.table.conversation_ancestor(refs.head) is not None:
        entry = ops.logged(view, refs.head)
        here = oneline(entry, view.subject(refs.head), looks, beside=12)
        yield looks.styler(Role.CURRENT, "* detached") + "  " + here
    rows: list[list[Span]] = []
    for branch in branches:
        rows.append(
            [
                *_name(branch.name, current=branch.current),
                (Role.ID, visible(view.table.name(branch.row), keep="")),
                (Role.DIM, looks.when(view.table.time_of(branch.row))),
                (Role.DIM, plural(branch.entries, "entry", "entries")),
                (Role.DIM, f"+{branch.ahead}" if branch.ahead else ""),
                (Role.DIM, f"-{branch.behind}" if branch.behind else ""),
                (Role.PLAIN, one_line(view.subject(branch.about))),
            ]
        )
    for name, other in elsewhere:
        rows.append(
            [
                *_name(name.name, current=False),
                (Role.ID, visible(other.table.name(name.row), keep="")),
                (Role.DIM, looks.when(other.table.time_of(name.row))),
                (Role.DIM, ""),
                (Role.DIM, ""),
                (Role.DIM, ""),
                (Role.DIM, f"({_origin_of(name, view, other)}) " + one_line(other.subject(name.row))),
            ]
        )
    yield from column_lines(rows, looks, right=_RIGHT)


def _name(name: str, *, current: bool) -> list[Span]:
    return [(Role.CURRENT if current else Role.BRANCH, ("* " if current else "  ") + visible(name, keep=""))]


def _origin_of(name: Elsewhere, view: SessionView, other: SessionView) -> str:
    """Return why a name is not one of this stream's: another store gave it, or what it names is elsewhere."""
    if name.store is not None:
        return _of_store(name.store)
    if other.where == view.where:
        return f"generation {name.stream.generation} of the file"
    where = one_line(other.where)
    return f"generation {name.stream.generation} of {where}" if name.stream.generation > 1 else f"in {where}"


def _of_store(store: bytes) -> str:
    return f"named by the store {store.hex()[:8]}"


def branch_document(
    view: SessionView, branches: Sequence[ListedBranch], elsewhere: Sequence[tuple[Elsewhere, SessionView]]
) -> Document:
    """Return the branches as a JSON document."""
    table = view.table
    return {
        "schema": "pivcs.branch/1",
        "session": session_document(view),
        "branches": [
            {
                "name": branch.name,
                "entry": table.name(branch.row),
                "oid": table.object_id(branch.row).hex,
                "time": time_text(table.time_of(branch.row)),
                "automatic": branch.automatic,
                "current": branch.current,
                "entries": branch.entries,
                "parted": table.name(branch.parted) if branch.parted is not None else None,
                "ahead": branch.ahead,
                "behind": branch.behind,
                "about": view.subject(branch.about),
            }
            for branch in branches
        ],
        "elsewhere": [
            {
                "name": name.name,
                "entry": other.table.name(name.row),
                "oid": other.table.object_id(name.row).hex,
                "time": time_text(other.table.time_of(name.row)),
                "path": other.where,
                "generation": name.stream.generation,
                "store": name.store.hex() if name.store is not None else None,
            }
            for name, other in elsewhere
        ],
    }


def tag_lines(view: SessionView, tags: Sequence[ListedTag], looks: Looks) -> Iterator[str]:
    """Yield a line for each tag: name, id, when, and what the entry is."""
    rows: list[list[Span]] = []
    for tag in tags:
        row = tag.row
        about = "" if row is None else one_line(view.subject(row))
        if tag.store is not None:
            last = (Role.DIM, f"({_of_store(tag.store)}) {about}")
        elif row is None:
            last = (Role.DIM, "(not in this generation of the file)")
        else:
            last = (Role.PLAIN, about)
        rows.append(
            [
                (Role.LABEL, visible(tag.name, keep="")),
                (Role.ID, tag.oid.hex[:SHORT_OID] if row is None else visible(view.table.name(row), keep="")),
                (Role.DIM, "" if row is None else looks.when(view.table.time_of(row))),
                last,
            ]
        )
    yield from column_lines(rows, looks)


def tag_document(view: SessionView, tags: Sequence[ListedTag]) -> Document:
    """Return the tags as a JSON document."""
    table = view.table
    return {
        "schema": "pivcs.tag/1",
        "session": session_document(view),
        "tags": [
            {
                "name": tag.name,
                "oid": tag.oid.hex,
                "entry": table.name(tag.row) if tag.row is not None else None,
                "time": time_text(table.time_of(tag.row)) if tag.row is not None else None,
                "store": tag.store.hex() if tag.store is not None else None,
            }
            for tag in tags
        ],
    }


def label_lines(view: SessionView, labels: Sequence[ListedLabel], looks: Looks) -> Iterator[str]:
    """Yield a line for each label: the entry's id, when it was labelled, the text, and what the entry is."""
    rows: list[list[Span]] = [
        [
            (Role.ID, visible(view.table.name(label.row), keep="")),
            (Role.DIM, looks.when(label.time)),
            (Role.LABEL, one_line(label.text)),
            (Role.PLAIN, one_line(view.subject(label.row))),
        ]
        for label in labels
    ]
    yield from column_lines(rows, looks)


def label_document(view: SessionView, labels: Sequence[ListedLabel]) -> Document:
    """Return the labels as a JSON document."""
    table = view.table
    return {
        "schema": "pivcs.label/1",
        "session": session_document(view),
        "labels": [
            {
                "label": label.text,
                "entry": table.name(label.row),
                "oid": table.object_id(label.row).hex,
                "time": time_text(label.time),
            }
            for label in labels
        ],
    }
