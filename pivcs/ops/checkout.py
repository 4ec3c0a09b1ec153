"""A point of a session as a session file of its own, which pi opens at that point.

The new file has a header that names the file it comes from, and the lines of the path with their bytes: the object ids
of its entries are those of the old ones, labels on the path included. It is written whole or not at all, and never over
a file that is there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pivcs.errors import InputError
from pivcs.objects.table import POSITIONAL
from pivcs.ops.live_file import is_unchanged, unchanged_file
from pivcs.ops.path_bytes import path_pieces
from pivcs.ops.view import SessionView
from pivcs.session.entries import CURRENT_VERSION
from pivcs.session.layout import read_session_dir_setting
from pivcs.session.loading import file_name
from pivcs.session.migrations import version_of
from pivcs.session.newentries import make_entry, make_header
from pivcs.session.storage import line_of
from pivcs.session.wholefile import write_new
from pivcs.session.world import World, new_entry_id, new_session_id

Object = dict[str, object]


class NotInThisVersion(InputError):
    """What was asked needs entries with ids, which a session of version 1 has not."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"'{where}' is of version 1: its entries have no ids of their own",
            hint="`pivcs migrate` writes it as version 3",
        )


@dataclass(frozen=True, slots=True)
class Written:
    """A session file that was written, or that something was appended to (`in_place`).

    `leaf` is the id of the entry where pi resumes in it, None before all entries. `lines` and `size` count what was
    written. `appended` are ids of new entries, `replayed` pairs of an entry's id and the id of its replay. `text` is a
    prompt to be typed anew.
    """

    path: Path
    session_id: str | None
    parent_session: str | None
    version: object
    leaf: str | None
    lines: int
    size: int
    in_place: bool = False
    appended: tuple[str, ...] = ()
    replayed: tuple[tuple[str, str], ...] = ()
    text: str | None = None


def checkout(
    view: SessionView, row: int, *, world: World, output: Path | None = None, entries: Sequence[Object] = ()
) -> Written:
    """Write the path to an entry as a new session file: where pi looks for it, or at `output`.

    `entries`, without parent and time, follow on the path, each below the one before it. A session of version 1 or 2
    keeps its version. Raises SessionFileExists and SessionNotWritable, and NotInThisVersion for entries below one of
    version 1; then there is no new file.
    """
    header = new_header(view, world)
    path = place_for(header, world) if output is None else Path(world.surroundings.absolute(os.fspath(output)))
    added = entries_below(view, row, entries, world)
    write_path(view, row, path, header, b"".join(map(line_of, added)))
    ids = tuple(str(entry["id"]) for entry in added)
    return Written(
        path=path,
        session_id=str(header["id"]),
        parent_session=str(header["parentSession"]),
        version=header.get("version"),
        leaf=ids[-1] if ids else view.table.name(row),
        lines=len(view.table.path(row)) + len(ids),
        size=path.stat().st_size,
        appended=ids,
    )


def entries_below(view: SessionView, row: int, entries: Sequence[Object], world: World) -> list[Object]:
    """Return entries with parents and times, and with ids where they have none, for the end of the path to a row."""
    if entries and view.table.flags[row] & POSITIONAL:
        raise NotInThisVersion(view.where)
    taken, parent, added = TakenIds(view), view.table.name(row), list[Object]()
    for entry in entries:
        own = {key: value for key, value in entry.items() if key not in ("type", "id", "parentId", "timestamp")}
        ident = str(entry["id"]) if "id" in entry else taken.new_id(world)
        added.append(make_entry(str(entry["type"]), ident, parent, world.timestamp(), own))
        parent = ident
    return added


class TakenIds:
    """The ids that a session has, and those that were given out meanwhile."""

    def __init__(self, view: SessionView) -> None:
        self._table = view.table
        self._given: set[str] = set()

    def __contains__(self, ident: object) -> bool:
        return isinstance(ident, str) and (ident in self._given or bool(self._table.records_named(ident)))

    def new_id(self, world: World) -> str:
        """Return an id for one more entry."""
        ident = new_entry_id(self, world.random)
        self._given.add(ident)
        return ident


def new_header(view: SessionView, world: World) -> Object:
    """Return the header of a new file for a path of a session: new id and time, same working directory and version.

    What else a header of version 1 or 2 says (the first model) is kept.
    """
    old = view.header
    ident, time = new_session_id(world.clock(), world.random), world.timestamp()
    cwd = world.surroundings.cwd if old.cwd is None else old.cwd
    header = make_header(ident, time, cwd, world.surroundings.absolute(view.where))
    if view.header_row is None or version_of(old.fields) == CURRENT_VERSION:
        return header
    header["version"] = old.version
    if "version" not in old.fields:
        del header["version"]
    return {**old.fields, **header} if version_of(old.fields) < CURRENT_VERSION else header


def place_for(header: Object, world: World) -> Path:
    """Return the path at which pi 1.6 would keep a new session of a header's working directory."""
    surroundings = world.surroundings
    setting = read_session_dir_setting(surroundings.agent_dir)
    return Path(surroundings.session_dir(setting=setting, cwd=str(header["cwd"])).path, file_name(header))


def write_path(view: SessionView, row: int, path: Path, header: Object, tail: bytes) -> None:
    """Write header, path and tail to a new file; the lines come from the session's file as long as nothing moves there,
    which is quicker, else from the store."""
    try:
        write_new(path, _pieces(view, row, header, tail, from_file=True))
    except _Moved:
        write_new(path, _pieces(view, row, header, tail, from_file=False))


class _Moved(Exception):
    """The file changed while it was read."""


def _pieces(view: SessionView, row: int, header: Object, tail: bytes, *, from_file: bool) -> Iterator[bytes]:
    yield line_of(header)
    file = unchanged_file(view) if from_file else None
    if file is None:
        yield from path_pieces(view, row)
    else:
        with file:
            yield from path_pieces(view, row, file)
            if not is_unchanged(file):
                raise _Moved
    yield tail
