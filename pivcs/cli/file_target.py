"""Which file a command line names, and the sessions of the project that may have written it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pivcs.cli.bases import base_for
from pivcs.cli.target import current_directory, open_session, reader, resolve_warned, text_of
from pivcs.errors import InputError
from pivcs.ops.access import Reader
from pivcs.ops.blame import BaseOf, Blame, NotKnown, blame_at, blame_disk
from pivcs.ops.listing import gone_sessions
from pivcs.ops.locate import project_files
from pivcs.ops.project import project_directories
from pivcs.ops.replaying import replay_path
from pivcs.ops.through import files_through, keys_through, merged
from pivcs.ops.view import SessionView
from pivcs.session.source import SourceNotReadable
from pivcs.workspace.base import Base
from pivcs.workspace.paths import file_path
from pivcs.workspace.state import FilePath


class NoSuchFile(InputError):
    """There is no such file on disk."""


def named_file(view: SessionView, argument: str) -> FilePath:
    """Return the file of a session that an argument means.

    A relative path starts at the current directory where that belongs to the session's project, else at the session's
    own working directory.
    """
    return file_path(_whole(view, text_of(argument)), view.header.cwd)


def _whole(view: SessionView, path: str) -> str:
    here = current_directory()
    cwd = view.header.cwd
    if cwd is not None and cwd.rstrip("/") in project_directories(here):
        return os.path.join(here, path)
    return path


def file_on_disk(view: SessionView, path: FilePath) -> bytes:
    """Return what a file holds now. Raises `NoSuchFile`."""
    where = Path(path.text) if not path.inside else Path(view.header.cwd or current_directory(), path.text)
    if where.exists() and not where.is_file():  # reading a pipe would wait for a writer
        raise NoSuchFile(f"cannot read '{where}': it is no regular file")
    try:
        return where.read_bytes()
    except OSError as error:
        raise NoSuchFile(
            f"cannot read '{where}': {(error.strerror or str(error)).lower()}",
            hint="`--at REV` looks at the file as it was at an entry, `pivcs files` lists what is known",
        ) from error


def project_views(first: SessionView | None, opener: Reader | None = None) -> tuple[SessionView, ...]:
    """Return the sessions of the current project, `first` before all others, then by latest activity.

    Files that cannot be read are passed over: they tell nothing. `opener` opens them; by default the usual one.
    """
    opened = list(_opened(opener if opener is not None else reader()))
    opened.sort(key=lambda view: -(_latest(view)))
    if first is None:
        return tuple(opened)
    return (first, *(view for view in opened if view.key != first.key or view.where != first.where))


def quiet_base_of(option: str | None) -> BaseOf:
    """Return what gives the base of each of many sessions, without a word on how it was found."""

    def base_of(view: SessionView) -> Base | None:
        return base_for(view, option)[0]

    return base_of


def blamed(path: str, revision: str | None, session: str | None, base: str | None) -> Blame:
    """Return who wrote the lines of a file: as it is now, or as it was at a revision.

    With a session only that one is looked at, else all of the project. Raises `NoSuchFile`, `NotKnown`.
    """
    base_of = quiet_base_of(base)
    first = open_session(session)
    file = named_file(first, path)
    others = project_views(first)[1:] if session is None else ()
    if revision is None:
        return blame_disk(file, file_on_disk(first, file), (first, *others), base_of)
    row = resolve_warned(first, revision)
    state = replay_path(first, row, base_of(first)).get(file)
    if state is None:
        raise NotKnown(
            f"nothing is known of '{file.text}' at '{revision}'", hint=f"`pivcs files {revision}` lists what is known"
        )
    return blame_at(first, state, others, base_of)


def _opened(reader: Reader) -> Iterator[SessionView]:
    cwd = reader.surroundings.cwd
    for path in merged(list(project_files(reader.surroundings)), files_through(reader.store, cwd)):
        try:
            yield reader.open_path(path)
        except SourceNotReadable:
            continue
    if reader.store is not None:
        for session in gone_sessions(reader.store, project_directories(cwd), keys_through(reader.store, cwd)):
            yield reader.open(str(session.path))


def _latest(view: SessionView) -> int:
    return max(view.table.time, default=0)
