"""A session of version 1 or 2 as a new file of the current version (pi format 8); the old one stays."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pivcs.errors import InputError
from pivcs.ops.checkout import Written
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind
from pivcs.session.loading import migrated
from pivcs.session.migrations import needs_migration, version_of
from pivcs.session.state import SessionState
from pivcs.session.storage import line_of
from pivcs.session.values import open_values
from pivcs.session.wholefile import write_new
from pivcs.session.world import World


class NothingToMigrate(InputError):
    """The session is of the current version already."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """What was written, and how many lines that are no entries stayed behind."""

    written: Written
    old_version: float
    left_out: int


def migrate(view: SessionView, output: Path, *, world: World) -> Migrated:
    """Write a session as version 3 to a new file, as pi would rewrite it; entries of version 1 get ids from `world`.

    Raises NotASession, NothingToMigrate, SessionFileExists and SessionNotWritable.
    """
    data = view.source.read_range(0, view.table.end + view.table.pending)
    values = open_values(data, view.where).values
    header = values[0] if values else None
    if not isinstance(header, dict) or not needs_migration(header):
        raise NothingToMigrate(f"'{view.where}' needs no migration", hint="only versions 1 and 2 do")
    state = SessionState(migrated(values, world))
    path = Path(world.surroundings.absolute(os.fspath(output)))
    write_new(path, map(line_of, state.values))
    parent = state.header.get("parentSession")
    written = Written(
        path=path,
        session_id=str(state.header["id"]),
        parent_session=parent if isinstance(parent, str) else None,
        version=state.header["version"],
        leaf=state.leaf if isinstance(state.leaf, str) else None,
        lines=len(state.entries),
        size=path.stat().st_size,
    )
    blank = view.table.counts()[LineKind.BLANK]
    lines = view.table.line_count() + (view.table.pending > 0)
    return Migrated(written, version_of(header), lines - blank - len(values))
