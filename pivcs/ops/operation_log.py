"""The log of operations: what changed branches and tags, of all sessions in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pivcs.store.refs import Operation, RefChange
from pivcs.store.store import Store


class LoggedOperation(NamedTuple):
    """An operation and its changes."""

    operation: Operation
    changes: tuple[RefChange, ...]


def list_operations(store: Store, *, kinds: Iterable[str] = (), count: int | None = None) -> Iterator[LoggedOperation]:
    """Yield operations, newest first: at most `count`, and of some kinds only when any are given."""
    for operation in store.refs.operations(kinds=kinds, limit=-1 if count is None else count):
        yield LoggedOperation(operation, tuple(store.refs.changes_of(operation.id)))
