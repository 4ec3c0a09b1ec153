"""What the model would see at a point of a session, as pi builds it (pi format 13 and 14).

pi reads the whole file and finds parents by their ids, the last one where an id is repeated. So does this: the answer
is pi's own also where object ids, which look only at earlier lines, say something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pivcs.errors import InputError
from pivcs.ops.view import SessionView
from pivcs.session.context import Projection, build_projection
from pivcs.session.entries import Entry
from pivcs.session.fields import SALVAGED
from pivcs.session.migrations import migrate
from pivcs.session.replay import convert_to_llm
from pivcs.session.settings import Settings
from pivcs.session.source import FileSource
from pivcs.session.state import Leaf, SessionState
from pivcs.session.tokens import Estimate, estimate_tokens
from pivcs.session.values import check_header, iter_kept


class NotRead(InputError):
    """An entry that pi passes over, or takes another one for."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of the context, and the id of the entry that it comes from."""

    entry: str | None
    message: object


@dataclass(frozen=True, slots=True)
class ShownContext:
    """The context at an entry (`leaf`; None before all entries). `answer` is the id of the answer whose usage the
    estimate relies on."""

    leaf: str | None
    messages: tuple[Spoken, ...]
    settings: Settings
    estimate: Estimate
    answer: str | None


def context_at(view: SessionView, row: int | None, *, for_provider: bool = False) -> ShownContext:
    """Return the context at a row, or with None where pi would resume.

    With `for_provider`, messages are in the four roles that providers know. Raises `NotRead`, `NotASession`,
    `BrokenEntry`.
    """
    state = _state_of(view)
    leaf = state.leaf if row is None else _leaf_of(view, row, state)
    path = state.path(leaf)
    projection = build_projection(path)
    estimate = estimate_tokens(projection, path)
    return ShownContext(
        Entry(path[-1]).id if path else None,
        tuple(_spoken(projection, for_provider=for_provider)),
        projection.settings,
        estimate,
        Entry(estimate.answer).id,
    )


def _spoken(projection: Projection, *, for_provider: bool) -> Iterator[Spoken]:
    for part in projection.entries:
        for message in convert_to_llm(part.messages) if for_provider else part.messages:
            yield Spoken(Entry(part.entry).id, message)


def _state_of(view: SessionView) -> SessionState:
    """Return what pi has of the session in memory; entries of version 1 are called by their lines."""
    numbers: list[int] = []
    values: list[object] = []
    data = _bytes_of(view)
    for number, line in enumerate(data.split(b"\n"), 1):
        for value in iter_kept([line]):
            numbers.append(number)
            values.append(value)
    if data:
        check_header(values, view.where)
    return SessionState(migrate(values, lambda place: f"L{numbers[place]}"))


def _bytes_of(view: SessionView) -> bytes:
    if view.stream is not None:
        return view.source.read_range(0, view.stream.size)
    if isinstance(view.source, FileSource):
        return view.source.read_range(0, view.source.status.st_size)
    return view.source.read_range(0, view.table.end + view.table.pending)


def _leaf_of(view: SessionView, row: int, state: SessionState) -> Leaf:
    name = view.table.name(row)
    if name not in state or view.table.kind[row] == SALVAGED:
        raise NotRead(f"pi does not read '{name}' in '{view.where}'", hint="its context is that of an entry above it")
    last = view.table.row_named(name)
    if last is not None and view.table.first_row(last) != view.table.first_row(row):
        raise NotRead(f"several entries of '{view.where}' have the id '{name}', and pi takes the last one")
    return name
