"""Forgetting a session: everything that the store has of it goes for good, and it is not taken in again.

What other sessions have in common with it stays with them: bytes are stored once for all that have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pivcs.errors import StateError
from pivcs.ops.access import view_of
from pivcs.ops.fresh import RealPaths
from pivcs.ops.operations import NoNames
from pivcs.ops.view import SessionView
from pivcs.store.records import Source, Stream
from pivcs.store.snapshots import snapshots_of
from pivcs.store.store import Store

if TYPE_CHECKING:
    import sqlite3


class Restoring(StateError):
    """A restore in the session's directory is under way, or was stopped in the middle."""


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """What forgetting a session removes; `ident` is the id that its header has. Of its text there is nothing here.

    `files` are there and stay as they are. `shared` has the keys of other sessions and how many entries each has in
    common with it. `snapshots` are the numbers of its snapshots, whose files go as well. `again`: the store has nothing
    of it any more.
    """

    key: bytes
    ident: str
    streams: int
    size: int
    entries: int
    names: int
    operations: int
    snapshots: tuple[int, ...]
    files: tuple[str, ...]
    shared: tuple[tuple[bytes, int], ...]
    again: bool = False


_OF_SESSION: Final = "SELECT id FROM session WHERE key = ?"
_OPERATIONS: Final = (
    f"SELECT DISTINCT operation FROM ref_change WHERE session = ({_OF_SESSION}) AND NOT EXISTS "
    "(SELECT 1 FROM ref_change AS other WHERE other.operation = ref_change.operation "
    "AND other.session <> ref_change.session)"
)
"""Operations that are about this session alone."""


def plan_session(view: SessionView) -> SessionPlan:
    """Return what forgetting a session would remove. Raises `NoNames` when there is no store."""
    store = view.store
    if store is None and view.key is None:
        raise NoNames("there is no store that could forget anything")
    key = view.key
    if store is None or view.stream is None or key is None:
        raise NoNames(f"the store has nothing of '{view.where}'")
    streams = store.streams_of_session(key.digest)
    oids: set[bytes] = set()
    for stream in streams:
        table = store.table_of(stream)
        oids.update(table.digest(row) for row in table.nodes())
    sources = [store.source(stream.source) for stream in streams]
    files = [view_of(store, stream).where for stream, source in zip(streams, sources, strict=True)
             if source is not None and _has_file(store, source, stream)]  # fmt: skip
    with store.database.reading() as connection:
        (operations,) = connection.execute(f"SELECT count(*) FROM ({_OPERATIONS})", (key.digest,)).fetchone()
    names = sum(1 for stream in streams for branch in store.refs.branches(stream) if not branch.automatic)
    return SessionPlan(
        key.digest, view.header.id or "", len(streams), sum(stream.size for stream in streams),
        len(oids), names + len(store.refs.tags(key.digest)), operations,
        tuple(each.id for each in snapshots_of(store, key.digest, deleted=True) if not each.collected),
        tuple(dict.fromkeys(files)), tuple(_shared(store, key.digest, oids)),
    )  # fmt: skip


def plan_again(key: bytes, where: str) -> SessionPlan:
    """Return the plan for a session that was forgotten already: its file is at a path."""
    return SessionPlan(key, "", 0, 0, 0, 0, 0, (), (where,), (), again=True)


def _has_file(store: Store, source: Source, stream: Stream) -> bool:
    return source.is_file and store.current_stream(source.id) == stream and RealPaths().has_file(source.path)


def _shared(store: Store, key: bytes, oids: set[bytes]) -> list[tuple[bytes, int]]:
    counts: dict[bytes, set[bytes]] = {}
    for stream in store.streams():
        if stream.session is not None and stream.session != key:
            table = store.table_of(stream)
            common = oids.intersection(table.digest(row) for row in table.nodes())
            counts.setdefault(stream.session, set()).update(common)
    return [(other, len(common)) for other, common in sorted(counts.items()) if common]


def forget_session(store: Store, plan: SessionPlan, now: int) -> None:
    """Remove all that the store has of a session, and let it be kept no more.

    The files of its snapshots are removed before, by whoever knows git; `pivcs.ops.forget.finish` is to be called then.
    Raises `Restoring`, `StoreBusy`, `StoreReadOnly`.
    """
    store.database.connection.execute("PRAGMA secure_delete = ON")
    with store.writing() as connection:
        _refuse_busy(connection, plan.key)
        found = connection.execute(_OF_SESSION, (plan.key,)).fetchone()
        if found is not None:
            _remove(store, connection, plan.key, found[0])
        store.forgotten.add_session(plan.key)
        store.forgotten.begin_erasure(now)
        if not plan.again:
            store.refs.add_operation(now, "user", f"pivcs forget {plan.key.hex()[:16]}", [])


def _refuse_busy(connection: sqlite3.Connection, key: bytes) -> None:
    busy = connection.execute(
        f"SELECT 1 FROM kept_tree WHERE busy AND operation IN ({_OPERATIONS})", (key,)
    ).fetchone()
    if busy is not None:
        raise Restoring(
            "a restore of the session is under way, or was stopped in the middle",
            hint="`pivcs undo` finishes it; then forget the session",
        )


def _remove(store: Store, connection: sqlite3.Connection, key: bytes, session: int) -> None:
    streams = store.streams_of_session(key)
    operations = [ident for (ident,) in connection.execute(_OPERATIONS, (key,)).fetchall()]
    _remove_operations(connection, operations)
    connection.execute("DELETE FROM ref_change WHERE session = ?", (session,))
    for stream in streams:
        connection.execute("DELETE FROM ref_change WHERE stream = ?", (stream.id,))
        store.remove_stream(stream.id)
    for source in dict.fromkeys(stream.source for stream in streams):
        _settle_source(store, connection, source)
    connection.execute("DELETE FROM tag WHERE session = ?", (session,))
    connection.execute("DELETE FROM remote_names WHERE session = ?", (session,))
    # The numbers of snapshots are never given again, so their rows stay, with nothing in them.
    connection.execute(
        "UPDATE snapshot SET deleted = 2, message = '', oid = NULL, root = x'', prefix = x'' WHERE session = ?",
        (session,),
    )
    connection.execute(
        "DELETE FROM session WHERE id = ? AND NOT EXISTS (SELECT 1 FROM snapshot WHERE session = ?)",
        (session, session),
    )


def _remove_operations(connection: sqlite3.Connection, operations: Sequence[int]) -> None:
    """Remove operations, what they kept, and what is about them."""
    waiting = list(operations)
    while waiting:
        ident = waiting.pop()
        waiting += [about for (about,) in connection.execute("SELECT id FROM operation WHERE about = ?", (ident,))]
        for table in ("kept_file", "kept_tree", "ref_change"):
            connection.execute(f"DELETE FROM {table} WHERE operation = ?", (ident,))
        connection.execute("UPDATE operation SET about = NULL WHERE about = ?", (ident,))
        connection.execute("DELETE FROM operation WHERE id = ?", (ident,))
    unused = (
        "SELECT id FROM kept_content WHERE NOT EXISTS (SELECT 1 FROM kept_file WHERE old_content = kept_content.id) "
        "AND NOT EXISTS (SELECT 1 FROM kept_file WHERE new_content = kept_content.id)"
    )
    connection.execute(f"DELETE FROM kept_piece WHERE content IN ({unused})")
    connection.execute(f"DELETE FROM kept_content WHERE id IN ({unused})")


def _settle_source(store: Store, connection: sqlite3.Connection, source: int) -> None:
    """Remove a source that has no stream any more; else number its generations anew, as they have no gaps."""
    left = store.streams_of_source(source)
    if not left:
        connection.execute("DELETE FROM event WHERE source = ?", (source,))
        connection.execute("DELETE FROM source WHERE id = ?", (source,))
        return
    numbers = {stream.generation for stream in left}
    connection.execute(
        f"DELETE FROM event WHERE source = ? AND generation NOT IN ({','.join('?' * len(numbers))})", (source, *numbers)
    )
    for number, stream in enumerate(left, 1):
        connection.execute("UPDATE stream SET generation = ? WHERE id = ?", (number, stream.id))
        connection.execute(
            "UPDATE event SET generation = ? WHERE source = ? AND generation = ?", (number, source, stream.generation)
        )
