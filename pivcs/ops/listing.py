"""What `ls` says of each session file. Files that cannot be read are findings, never failures of the whole list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pivcs.errors import PivcsError
from pivcs.ops.view import open_file
from pivcs.session.fields import LineKind


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session file. `time` is that of its latest entry, in milliseconds since 1970; `size` in bytes.

    `state` has the words for what is unusual: `damaged`, `pending`, `no header`, `empty`.
    """

    path: Path
    id: str | None
    key: str | None
    cwd: str | None
    name: str | None
    first_prompt: str | None
    time: int | None
    size: int
    entries: int
    tips: int
    state: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A session file that cannot be read, and why."""

    path: Path
    error: PivcsError


def summaries(paths: Iterable[Path]) -> Iterator[SessionSummary | Unreadable]:
    """Yield what there is to say of each file, in the given order."""
    for path in paths:
        try:
            yield summary_of(path)
        except PivcsError as error:
            yield Unreadable(path, error)


def summary_of(path: Path) -> SessionSummary:
    """Return what `ls` says of a session file. Raises `SourceNotReadable`."""
    with open_file(path) as view:
        table = view.table
        times = [time for row in table.nodes() if (time := table.time_of(row)) is not None]
        counts = table.counts()
        state = []
        if counts[LineKind.DAMAGED] or counts[LineKind.GLUED]:
            state.append("damaged")
        if table.pending:
            state.append("pending")
        if not len(table) and not table.pending:
            state.append("empty")
        elif not counts[LineKind.HEADER]:
            state.append("no header")
        return SessionSummary(
            path=path,
            id=view.header.id,
            key=view.key.hex if view.key else None,
            cwd=view.header.cwd,
            name=view.name,
            first_prompt=view.first_prompt,
            time=max(times, default=None),
            size=table.end + table.pending,
            entries=view.node_count(),
            tips=len(view.tips()),
            state=tuple(state),
        )


def by_activity(found: Iterable[SessionSummary]) -> list[SessionSummary]:
    """Return sessions by their latest entry, newest first; those without any time last, by name."""
    return sorted(found, key=lambda each: (each.time is None, -(each.time or 0), each.path.name))
