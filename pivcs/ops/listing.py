"""What `ls` says of each session. Files that cannot be read are findings, never failures of the whole list."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pivcs.errors import PivcsError
from pivcs.ops.access import CannotWrite, Reader
from pivcs.ops.fresh import RealPaths
from pivcs.ops.summary import Summary, decode_summary, summarise
from pivcs.ops.sync import Synced, sync_files
from pivcs.ops.view import open_file
from pivcs.store.records import Stream
from pivcs.store.store import Store


class ListedSession(NamedTuple):
    """One session file. `size` is in bytes, `facts.time` that of the latest entry in milliseconds since 1970.

    `state` has the words for what is unusual: `damaged`, `pending`, `no header`, `empty`, `gone` (only the store has
    it), `imported` (the store has it from a repository; `origin` says which), `generation 2` (the file was rewritten
    or cut), `forgotten` (the store keeps nothing of it).
    """

    path: Path
    key: str | None
    size: int
    facts: Summary
    branches: int
    state: tuple[str, ...]
    origin: str | None = None


class Unreadable(NamedTuple):
    """A session file that cannot be read, and why."""

    path: Path
    error: PivcsError


def list_sessions(reader: Reader, paths: Iterable[Path]) -> Iterator[ListedSession | Unreadable]:
    """Yield what there is to say of each file, in the given order, from the store where it has news of the file."""
    if reader.store is None:
        yield from _without_store(paths)
        return
    for result in sync_files(reader.store, paths, reader.now):
        path = Path(result.path)
        if isinstance(result, Synced):
            if result.stream is not None:
                yield _of_stream(reader.store, result.stream, path, gone=result.outcome == "gone")
            elif result.outcome == "forgotten":
                for each in _without_store([path]):
                    if isinstance(each, ListedSession):
                        each = each._replace(state=(*each.state, "forgotten"))
                    yield each
        elif isinstance(result.error, CannotWrite):
            yield from _known_or_read(reader.store, path)
        else:
            yield Unreadable(path, result.error)


def gone_sessions(
    store: Store, directories: Iterable[str] | None, keys: Container[bytes] = ()
) -> Iterator[ListedSession]:
    """Yield the sessions that only the store still has: of projects in `directories` and with some `keys`, or all of
    them for None."""
    wanted = None if directories is None else set(directories)
    for source in store.sources():
        if source.is_file and os.path.exists(source.path):
            continue
        stream = store.current_stream(source.id)
        if stream is None:
            continue
        if wanted is None or stream.session in keys or decode_summary(stream.summary).cwd in wanted:
            yield _of_stream(store, stream, Path(os.fsdecode(source.path)), gone=True)


def known_elsewhere(store: Store, files: Iterable[Path]) -> list[Path]:
    """Return the session files that the store knows, that are there, and that are none of `files`."""
    real_paths = RealPaths()
    listed = {real_paths.of(path) for path in files}
    others = (source.path for source in store.sources() if source.is_file and source.path not in listed)
    return [Path(os.fsdecode(path)) for path in others if os.path.isfile(path)]


class OneRow(NamedTuple):
    """A session of a list, and what the store has of it from repositories besides, each of which goes on in another
    way: where these came from."""

    listed: ListedSession
    others: tuple[str | None, ...]


def one_row_each(sessions: Iterable[ListedSession]) -> list[OneRow]:
    """Return sessions in the same order, without those that were imported and of which there is a file, or another row
    before."""
    ordered = list(sessions)
    rows: dict[str, ListedSession] = {}
    for each in ordered:
        if each.key is not None and (each.key not in rows or _was_imported(rows[each.key]) > _was_imported(each)):
            rows[each.key] = each
    others: dict[str, list[str | None]] = {}
    shown = []
    for each in ordered:
        if each.key is None or rows[each.key] is each or not _was_imported(each):
            shown.append(each)
        else:
            others.setdefault(each.key, []).append(each.origin)
    return [OneRow(each, tuple(others.get(each.key or "", ())) if rows.get(each.key or "") is each else ())
            for each in shown]  # fmt: skip


def _was_imported(listed: ListedSession) -> bool:
    return "imported" in listed.state


def by_activity(found: Iterable[ListedSession]) -> list[ListedSession]:
    """Return sessions by their latest entry, newest first; those without any time last, by name."""
    return sorted(found, key=lambda each: (each.facts.time is None, -(each.facts.time or 0), each.path.name))


def _of_stream(store: Store, stream: Stream, path: Path, *, gone: bool) -> ListedSession:
    facts = decode_summary(stream.summary)
    key = stream.session.hex() if stream.session is not None else None
    state = _state(facts, stream.size, stream.size - stream.line_end)
    origin = _origin(store, stream) if gone else None
    if origin is not None:
        state.append("imported")
    elif gone:
        state.append("gone")
    if stream.generation > 1:
        state.append(f"generation {stream.generation}")
    branches = store.refs.branch_count(stream)
    return ListedSession(path, key, stream.size, facts, branches, tuple(state), origin)


def _origin(store: Store, stream: Stream) -> str | None:
    """Return where a source that is no file came from last, as its event has it; None for a file."""
    source = store.source(stream.source)
    if source is None or source.is_file:
        return None
    events = [event.detail for event in store.events_of([source.id]) if event.kind == "imported"]
    return events[-1].removeprefix("from ") if events else ""


def _state(facts: Summary, size: int, pending: int) -> list[str]:
    state = []
    if facts.damaged:
        state.append("damaged")
    if pending:
        state.append("pending")
    if not size:
        state.append("empty")
    elif not facts.headers:
        state.append("no header")
    return state


def _without_store(paths: Iterable[Path]) -> Iterator[ListedSession | Unreadable]:
    for path in paths:
        try:
            with open_file(path) as view:
                facts, size = summarise(view), view.table.end + view.table.pending
                state = _state(facts, size, view.table.pending)
                branches = len(view.refs.branches)
                key = view.key.hex if view.key else None
                yield ListedSession(path, key, size, facts, branches, tuple(state))
        except PivcsError as error:
            yield Unreadable(path, error)


def _known_or_read(store: Store, path: Path) -> Iterator[ListedSession | Unreadable]:
    source = store.source_at(os.fsencode(os.path.realpath(path)))
    stream = store.current_stream(source.id) if source is not None else None
    if stream is not None:
        yield _of_stream(store, stream, path, gone=not path.exists())
    else:
        yield from _without_store([path])
