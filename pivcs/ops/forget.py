"""Forgetting an entry: its bytes go from the store for good, its object id stays, and it is never taken in again.

First a plan, which changes nothing; then all of it in one transaction, and the file of the store written anew. Whatever
is stopped in the middle is either not done, or done but for the last step, which saying it again completes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pivcs.errors import StateError
from pivcs.ops.access import view_of
from pivcs.ops.covering import CannotForget, Cover, covered_view, same_rows
from pivcs.ops.forget_traces import Traces, find_traces, remove_traces
from pivcs.ops.fresh import RealPaths
from pivcs.ops.kept_streams import prefix_digests
from pivcs.ops.masking import Guard, Masks, mask_of, record_of
from pivcs.ops.operations import NoNames
from pivcs.ops.view import SessionView
from pivcs.session.fields import SALVAGED
from pivcs.store.content import ChunkVanished
from pivcs.store.errors import StoreBusy, StreamMoved
from pivcs.store.forgotten import ForgottenRecord, erase
from pivcs.store.records import Stream
from pivcs.store.refs import RefChange
from pivcs.store.store import Store

TRIES: Final = 10
DIGEST_BEGINNING: Final = 8
"""Bytes of a stream's digest by which refs name it."""


class NothingForgotten(StateError):
    """Nothing that was forgotten has such a key or object id."""


class NotErased(StateError):
    """Another process uses the store, so its file cannot be written anew."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"forgotten, but the bytes may still stand in free parts of '{where}': another process uses the store",
            hint="`pivcs gc --apply` removes them when the other one is done",
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A stream that has the entry: where it comes from, which session and generation it is, and the entry's lines.

    `file`: a file is there whose bytes pivcs does not change. `torn`: a line has more than the entry, which stays.
    """

    where: str
    session: bytes | None
    generation: int
    lines: tuple[int, ...]
    size: int
    file: bool
    torn: bool


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """What forgetting an entry removes: the entry and its copies under other object ids, where they are, and what else
    says something of it.

    `kind` is its type, with the role of a message, and `size` its bytes; of its text there is nothing here, as a plan
    is shown. `again`: the store has forgotten it already. `digests` are the keys of the sessions whose streams have it,
    with the first 8 bytes of the digest that such a stream has. `seen` are the streams that were looked through, by
    number and size.
    """

    name: str
    kind: str
    size: int
    records: tuple[ForgottenRecord, ...]
    places: tuple[Place, ...]
    traces: Traces
    again: bool
    masks: tuple[tuple[Stream, Masks], ...]
    digests: tuple[tuple[bytes, bytes], ...]
    seen: frozenset[tuple[int, int]]

    @property
    def sessions(self) -> tuple[bytes, ...]:
        """Keys of the sessions that have the entry."""
        return tuple(dict.fromkeys(place.session for place in self.places if place.session is not None))


def plan_forget(view: SessionView, row: int) -> ForgetPlan:
    """Return what forgetting an entry would do. Raises `NoNames` without a store, `CannotForget`, `StoreDamaged`."""
    if view.store is None or view.stream is None:
        raise NoNames("there is no store that could forget anything")
    store, table = view.store, view.table
    known = next((each for each in store.forgotten.records() if each.oid == table.digest(row)), None)
    again = row in table.forgotten_rows()
    target = known if known is not None else record_of(table, row, view.source)
    guard = Guard([target])
    records, places, masks, digests = {target.oid: target}, [], [], []
    streams = store.streams()
    for stream in streams:
        found = guard.rows(store.table_of(stream), store.bytes_of(stream))
        if found:
            records |= {record.oid: record for _, record in found}
            place, covers = _covered(store, stream, [each for each, _ in found])
            places.append(place)
            masks.append((stream, covers))
            if stream.session is not None:
                digest = prefix_digests(store.bytes_of(stream), [stream.size])[stream.size]
                digests.append((stream.session, digest[:DIGEST_BEGINNING]))
    traces = Traces() if again and not places else find_traces(store, view, row)
    entry = view.entry(row)
    role = entry.message.role if entry.message is not None else None
    kind = ", ".join(text for text in (entry.type, role) if text)
    return ForgetPlan(
        table.name(row), "" if again else kind, table.length[row], tuple(records.values()), tuple(places), traces,
        again and not places, tuple(masks), tuple(digests), _sizes(streams),
    )  # fmt: skip


def _sizes(streams: Iterable[Stream]) -> frozenset[tuple[int, int]]:
    return frozenset((stream.id, stream.size) for stream in streams)


def _covered(store: Store, stream: Stream, rows: list[int]) -> tuple[Place, Masks]:
    """Return what covers records of a stream, after making sure that nothing else changes by it."""
    view = view_of(store, stream)
    table, masks = view.table, Masks()
    for row in rows:
        mask = mask_of(table, row, view.source, version1=bool(stream.version1))
        if mask is None:
            raise CannotForget(table.name(row), view.where, "it is too short for what must stand in its place")
        masks.add([mask])
    covered = covered_view(store, stream, masks, view.where)
    if not same_rows(table, covered.table):
        raise CannotForget(table.name(rows[0]), view.where, "what stands beside it in its line would be read otherwise")
    if covered.key != view.key:
        why = "the file has no header, and the session's key is made of it"
        raise CannotForget(table.name(rows[0]), view.where, why)
    source = store.source(stream.source)
    is_latest = store.current_stream(stream.source) == stream
    lines = tuple(dict.fromkeys(table.line_number(row) for row in rows))
    place = Place(
        view.where, stream.session, stream.generation, lines, sum(table.length[row] for row in rows),
        source is not None and source.is_file and is_latest and RealPaths().has_file(source.path),
        any(table.kind[row] == SALVAGED for row in rows),
    )  # fmt: skip
    return place, masks


def forget(view: SessionView, plan: ForgetPlan, row: int, now: int) -> ForgetPlan:
    """Do what a plan says, and what has come to it since; returns what was done.

    `finish` is to be called then. Raises `StoreBusy`, `StoreReadOnly`, and as `plan_forget`.
    """
    assert view.store is not None
    store, tries = view.store, 0
    while True:
        try:
            covers = [Cover(store, stream, masks) for stream, masks in plan.masks]
            store.database.connection.execute("PRAGMA secure_delete = ON")
            with store.writing():
                _apply(store, view, plan, covers, now)
            del covers  # as long as they live, nobody may remove chunks
            break
        except (StreamMoved, ChunkVanished):  # a session has grown meanwhile
            tries += 1
            stream = store.stream(view.stream.id) if view.stream is not None else None
            if tries == TRIES or stream is None:
                raise
            view = view_of(store, stream)
            plan = plan_forget(view, row)
    return plan


def finish(store: Store, *, always: bool = False) -> None:
    """Remove from the store's file itself what was forgotten: the last step. Raises `NotErased`; then it is to be said
    again, or `gc` does it."""
    if not always and not store.forgotten.needs_erasure():
        return
    try:
        erase(store.database)
    except StoreBusy as error:
        raise NotErased(store.database.where) from error


def _apply(store: Store, view: SessionView, plan: ForgetPlan, covers: list[Cover], now: int) -> None:
    if _sizes(store.streams()) != plan.seen:  # what is new may have the entry
        raise StreamMoved(store.database.where)
    store.forgotten.add_streams(plan.digests)
    for cover in covers:
        cover.put()
    store.forgotten.add(plan.records)
    remove_traces(store, plan.traces)
    if covers or plan.traces:
        store.forgotten.begin_erasure(now)
    session = view.stream.session if view.stream is not None else None
    if session is not None and not plan.again:
        assert view.stream is not None
        change = RefChange(session, view.stream.id, "forgotten", plan.name, plan.records[0].oid, None)
        store.refs.add_operation(now, "user", f"pivcs forget {plan.records[0].oid.hex()[:16]}", [change])


def remember(store: Store, prefix: str) -> tuple[list[bytes], list[bytes]]:
    """Let forgotten sessions and records be taken in again whose key or object id begins with a text of four digits or
    more; returns their keys and object ids. Their bytes come back only from a file that still has them.

    Raises `NothingForgotten`.
    """
    sessions = [key for key in store.forgotten.sessions() if key.hex().startswith(prefix)]
    records = store.forgotten.records()
    named = [each for each in records if each.oid.hex().startswith(prefix)]
    contents = {each.content for each in named if each.content is not None}
    oids = [each.oid for each in records if each in named or each.content in contents]
    if len(prefix) < 4 or not (sessions or oids):
        raise NothingForgotten(f"nothing was forgotten whose key or object id begins with '{prefix}'")
    with store.writing() as connection:
        for key in sessions:
            store.forgotten.remove_session(key)
        store.forgotten.remove(oids)
        store.forgotten.clear_streams()
        for stream in store.streams():
            table = store.table_of(stream)
            if any(table.digest(row) in oids for row in table.forgotten_rows()):
                # The next sync compares the file, and finds that it has other bytes.
                connection.execute("UPDATE stream SET file_mtime = 0, verified_size = 0 WHERE id = ?", (stream.id,))
    return sessions, oids
