"""Files as they are known at an entry, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.columns import column_lines
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import Looks
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.workspace.state import FileState, Provenance

_ROLES = {Provenance.PATCH: Role.WARNING, Provenance.UNKNOWN: Role.WARNING}


def files_lines(view: SessionView, states: Sequence[FileState], looks: Looks) -> Iterator[str]:
    """Yield a line a file: how it is known, size, who changed it last, when, its path, and what for.

    Files outside of the working directory follow under a heading of their own.
    """
    places = Whereabouts(view)
    inside = [state for state in states if state.path.inside]
    outside = [state for state in states if not state.path.inside]
    rows = [_row(view, state, places, looks) for state in (*inside, *outside)]
    lines = list(column_lines(rows, looks, right=frozenset((1,)), longest=60))
    yield from lines[: len(inside)]
    if outside:
        if inside:
            yield ""
        yield looks.styler(Role.HEADING, "outside of the working directory")
        yield from lines[len(inside) :]


def _row(view: SessionView, state: FileState, places: Whereabouts, looks: Looks) -> list[Span]:
    changed = state.changed_at
    known = state.provenance.value + (" gone" if state.is_exact and state.content is None else "")
    size = "" if state.content is None else format_bytes(len(state.content))
    return [
        (_ROLES.get(state.provenance, Role.DIM), known),
        (Role.PLAIN, size),
        (Role.ID, "" if changed is None else visible(view.table.name(changed), keep="")),
        (Role.DIM, "" if changed is None else looks.when(view.table.time_of(changed))),
        (Role.PLAIN, visible(state.path.text, keep="")),
        (Role.DIM, _story(view, state, places)),
    ]


def _story(view: SessionView, state: FileState, places: Whereabouts) -> str:
    """Say why a state is not known, or for which prompt it was changed last."""
    if state.provenance is Provenance.PATCH:
        return f"only {plural(len(state.patches), 'change')} known"
    if state.provenance is Provenance.UNKNOWN:
        since = state.unknown_since
        return "may have changed" if since is None else f"may have changed since {view.table.name(since)}"
    if state.changed_at is None:
        return one_line(state.base) if state.base else "read"
    prompt = places.prompt(state.changed_at)
    return "" if prompt is None else one_line(view.subject(prompt))


def file_document(view: SessionView, state: FileState) -> Document:
    """Return what is known of a file as a document."""

    def named(row: int | None) -> str | None:
        return None if row is None else view.table.name(row)

    exists = state.content is not None if state.is_exact else None
    return {
        "path": state.path.text,
        "inside": state.path.inside,
        "provenance": state.provenance.value,
        "exists": exists,
        "size": None if state.content is None else len(state.content),
        "changed_by": named(state.changed_at),
        "changed_at": None if state.changed_at is None else time_text(view.table.time_of(state.changed_at)),
        "known_by": view.table.name(state.known_at),
        "unknown_since": named(state.unknown_since),
        "base": state.base,
        "patches": len(state.patches),
    }


def name_lines(states: Iterable[FileState]) -> Iterator[str]:
    """Yield the path of each file that exists or may exist."""
    return (visible(state.path.text, keep="") for state in states if state.content is not None or not state.is_exact)
