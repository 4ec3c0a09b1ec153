"""Forks as pi makes them: the path to a point, or a whole session, as a session of its own (pi format 12).

Unlike a checkout, a fork has the entries anew as pi writes them: labels move to the end, and the object ids below the
first label differ from the old ones.
"""

from __future__ import annotations

from pathlib import Path

from pivcs.ops.checkout import Written
from pivcs.ops.switch import resumable_id
from pivcs.ops.view import SessionView
from pivcs.ops.writing import refuse_without_file
from pivcs.session.appending import SessionFileGone
from pivcs.session.blocks import Text
from pivcs.session.codes import USER
from pivcs.session.manager import Session
from pivcs.session.migrations import version_of
from pivcs.session.storage import line_of
from pivcs.session.wholefile import write_new
from pivcs.session.world import World


def fork(view: SessionView, row: int, *, at: bool, world: World) -> Written:
    """Write the path to an entry as a session beside its own.

    At a prompt, unless `at`, the path ends before it, and its text is given back. Raises `NotInPlace`,
    `NotInThisVersion`, `SessionFileGone`, and as `Session.fork` does.
    """
    refuse_gone(view)
    ident = resumable_id(view, row)
    before = view.table.code[row] == USER and not at
    session = Session.fork(view.where, ident, position="before" if before else "at", world=world)
    if not session.is_saved:
        # pi waits for the first message; a file that is to be opened by name must be there.
        assert session.file is not None
        write_new(session.file, map(line_of, (session.header, *session.entries)))
    return _written(session, _prompt(view, row) if before else None)


def fork_into(view: SessionView, directory: Path, *, world: World) -> Written:
    """Copy a whole session, every branch, into a session of another project.

    Raises `SessionFileGone`, and as `Session.fork_from`.
    """
    refuse_gone(view)
    return _written(Session.fork_from(view.where, directory, world=world), None)


def refuse_gone(view: SessionView) -> None:
    """Raise `SessionFileGone` where a fork would need the file of a session that only the store has any more."""
    refuse_without_file(view)
    if not Path(view.where).exists():
        error = SessionFileGone(Path(view.where))
        error.hint = "`pivcs checkout` writes the way to any entry from what the store has"
        raise error


def _prompt(view: SessionView, row: int) -> str:
    """Return the text that pi puts into its editor."""
    return "".join(block.text for block in view.entry(row).blocks() if isinstance(block, Text))


def _written(session: Session, text: str | None) -> Written:
    assert session.file is not None
    parent = session.header.get("parentSession")
    return Written(
        path=session.file,
        session_id=session.id,
        parent_session=parent if isinstance(parent, str) else None,
        version=int(version_of(session.header)),
        leaf=session.leaf,
        lines=len(session.entries),
        size=session.file.stat().st_size,
        text=text,
    )
