"""Sessions on disk and a store beside them, for the tests of sync."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from pivcs.ops.access import Reader
from pivcs.ops.cat import find_stream
from pivcs.ops.sync import Synced, sync_file
from pivcs.session.layout import Surroundings
from pivcs.store.records import Stream
from pivcs.store.store import Store
from tests.builders import header_line, message_line
from tests.session.streams import lines, streams
from tests.store.filling import bytes_of, columns

NOW = 1_800_000_000_000


def share(part: float) -> settings:
    """Return settings for tests of many files: a part of the profile's number of examples."""
    return settings(max_examples=max(1, int(settings().max_examples * part)))


@dataclass
class Box:
    """A store, and a directory for session files."""

    directory: Path
    store: Store = field(default_factory=Store.in_memory)
    now: int = NOW
    warnings: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.directory / "session.jsonl"

    def write(self, data: bytes, name: str = "session.jsonl") -> Path:
        """Write a file from its beginning, in place."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, data: bytes, name: str = "session.jsonl") -> Path:
        path = self.directory / name
        with path.open("ab") as file:
            file.write(data)
        return path

    def sync(self, path: Path | None = None, **options: Any) -> Synced:
        self.now += 1000
        return sync_file(self.store, path or self.path, self.now, **options)

    def put(self, data: bytes, name: str = "session.jsonl", **options: Any) -> Stream:
        """Write a file in place, sync it, and return its stream."""
        stream = self.sync(self.write(data, name), **options).stream
        assert stream is not None
        return stream

    @property
    def reader(self) -> Reader:
        home = str(self.directory / "home")
        around = Surroundings({}, home, str(self.directory))
        return Reader(self.store, around, self.now, self.warnings.append)

    def cat(self, session: str | Path, *, source: int | None = None, generation: int | None = None) -> bytes:
        return bytes_of(self.store, find_stream(self.reader, str(session), source, generation))

    def events(self) -> list[str]:
        """Return the kinds of all events, oldest first."""
        return [event.kind for event in self.store.events_of([source.id for source in self.store.sources()])]

    def changes(self) -> int:
        return self.store.database.connection.total_changes


def facts(store: Store, stream: Stream) -> dict[str, Any]:
    """Return what must not depend on when and how often a stream was synced."""
    return {
        "session": stream.session,
        "size": stream.size,
        "line_end": stream.line_end,
        "row_count": stream.row_count,
        "tail_start": stream.tail_start,
        "version1": stream.version1,
        "last_record": stream.last_record,
        "conversation": stream.conversation,
        "branches": sorted(store.refs.branches(stream)),
        "tips": [row for row in range(stream.row_count) if store.refs.is_tip(stream, row)],
        "labels": store.refs.label_settings(stream),
        "summary": json.loads(stream.summary),
        "bytes": bytes_of(store, stream),
        "table": columns(store.table_of(stream)),
    }


def session_bytes() -> st.SearchStrategy[bytes]:
    """Session files of every kind: damaged, glued, doubled, of any version, with images, long lines, many lines."""
    image = "iVBORw0KGgo" * 20
    with_image = st.builds(
        lambda i, p, at: message_line(i, p, "user", [{"type": "image", "data": image[at:], "mimeType": "image/png"}]),
        st.sampled_from(["aaaaaaaa", "bbbbbbbb"]),
        st.none() | st.sampled_from(["aaaaaaaa", "ffffffff"]),
        st.integers(0, 3),
    )
    long_line = st.sampled_from([message_line("dddddddd", "aaaaaaaa", "user", "word " * 500), b"x" * 1500 + b"\n"])
    chain = st.builds(many_lines, st.integers(5, 30), st.integers(0, 9))
    block = st.lists(lines() | lines() | with_image | long_line, max_size=10).map(b"".join)
    return st.builds(lambda *parts: b"".join(parts), streams(), chain | st.just(b""), block)


def many_lines(count: int, seed: int = 0) -> bytes:
    """Return lines of one chain."""
    ids = [f"{(seed * 7919 + number) * 2_654_435_761 & 0xFFFFFFFF:08x}" for number in range(count)]
    parents = [None, *ids]
    return b"".join(
        message_line(ident, parent, "assistant" if place % 2 else "user", f"turn {place}", ms=NOW + place)
        for place, (ident, parent) in enumerate(zip(ids, parents, strict=False))
    )


def session(count: int, seed: int = 0, **header: Any) -> bytes:
    """Return a session of one chain."""
    return header_line(**header) + many_lines(count, seed)


def cuts_of(data: bytes, places: list[float]) -> list[int]:
    """Return places in a stream, in order, the last one its end."""
    return sorted({int(place * len(data)) for place in places} | {len(data)})


def touch(path: Path, seconds: int) -> None:
    """Move a file's modification time."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + seconds * 1_000_000_000))
