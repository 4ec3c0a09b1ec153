"""Every byte back: which stream a path, a key, a source number or a generation names."""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.errors import InputError
from pivcs.ops.access import Reader, latest_generations
from pivcs.store.records import Stream
from pivcs.store.store import Store


class NoSuchStream(InputError):
    """A source or a generation that the session does not have."""


def find_stream(reader: Reader, session: str | None, source: int | None, generation: int | None) -> Stream:
    """Return the stream whose bytes are asked for, after syncing what the session comes from.

    A path means what was last seen there, a key or an id the session's primary stream. `source` counts the session's
    sources from 1 in the order in which they were seen, `generation` from 1. Raises `NoSession`, `NoSuchStream`.
    """
    view = reader.open(session)
    store, stream = view.store, view.stream
    if store is None or stream is None:
        raise NoSuchStream("there is no store to take bytes from")
    if source is not None:
        sources = sources_of(store, stream)
        if not 1 <= source <= len(sources):
            raise NoSuchStream(f"the session has no source {source}: it has {_range(len(sources))}")
        stream = sources[source - 1]
    if generation is not None:
        streams = store.streams_of_source(stream.source)
        chosen = next((each for each in streams if each.generation == generation), None)
        if chosen is None:
            raise NoSuchStream(f"there is no generation {generation}: there is {_range(len(streams))}")
        stream = chosen
    return stream


def sources_of(store: Store, stream: Stream) -> list[Stream]:
    """Return the latest generation of each source of a stream's session, in the order of the sources."""
    if stream.session is None:
        return [stream]
    return sorted(latest_generations(store.streams_of_session(stream.session)), key=lambda each: each.source)


def _range(count: int) -> str:
    return "1" if count == 1 else f"1 to {count}"


def path_of(store: Store, stream: Stream) -> Path:
    """Return the path of a stream's source."""
    source = store.source(stream.source)
    assert source is not None
    return Path(os.fsdecode(source.path))
