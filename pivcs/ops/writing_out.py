"""Session files for sessions that came from another machine: where pi looks for those of a project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from pivcs.ops.access import primary_stream, source_of, view_of, whole_digest
from pivcs.ops.kept_streams import kept_views
from pivcs.ops.locate import session_directory
from pivcs.ops.sync import sync_file
from pivcs.ops.through import keys_through
from pivcs.ops.view import SessionView
from pivcs.session.layout import Surroundings, is_session_id, session_file_name
from pivcs.session.times import parse_time
from pivcs.session.wholefile import write_new
from pivcs.store.store import Store

_LONGEST_ID: Final = 128
_DIGITS: Final = 8


def file_name(ident: str | None, timestamp: str | None, key: bytes, digest: bytes | None = None) -> str:
    """Return pi's name for a session's file; one made of the key where the header's id may be no part of a name.

    With the digest of a stream, the name of a further stream of the session.
    """
    ident, timestamp = ident or "", timestamp or ""
    name = f"{key.hex()[:16]}.jsonl"
    if is_session_id(ident) and len(ident) <= _LONGEST_ID and _is_plain(timestamp):
        name = session_file_name(timestamp, ident)
    return name if digest is None else f"{name.removesuffix('.jsonl')}.{digest.hex()[:_DIGITS]}.jsonl"


def _is_plain(time: str) -> bool:
    if parse_time(time) is None or len(time) > 40:
        return False
    return all(sign.isascii() and (sign.isalnum() or sign in "+-:. ") for sign in time)


def write_out(store: Store, surroundings: Surroundings, now: int) -> list[Path]:
    """Write what came through the project's repository, and is in no file here, into pi's directory for the current
    one; returns the new files. A file that is there is never changed.

    Of several streams of a session the primary one has pi's name, the others eight digits of their digest in it. `now`
    is in milliseconds since 1970. Raises `SessionNotWritable`.
    """
    directory = Path(session_directory(surroundings, surroundings.cwd))
    written = []
    for key in sorted(keys_through(store, surroundings.cwd)):
        primary = primary_stream(store, key)
        if primary is None:
            continue
        views = sorted(kept_views(view_of(store, primary)), key=lambda view: view.stream != primary)
        in_files = [view for view in views if _is_in_file(store, view)]
        for view in views:
            if view in in_files:
                continue
            assert view.stream is not None
            path = directory / file_name(view.header.id, view.header.timestamp, key)
            if in_files or path.exists():
                digest = whole_digest(store, view.stream)
                path = directory / file_name(view.header.id, view.header.timestamp, key, digest)
            in_files.append(view)
            if not path.exists():
                write_new(path, view.source.iter_range(0, view.stream.size))
                sync_file(store, path, now)
                written.append(path)
    return written


def _is_in_file(store: Store, view: SessionView) -> bool:
    """Whether a file that is there has a stream."""
    assert view.stream is not None
    source = source_of(store, view.stream)
    return source.is_file and os.path.isfile(source.path) and store.current_stream(source.id) == view.stream
