"""What an export did, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator

from pivcs.gitbridge.destination import Moved
from pivcs.gitbridge.exporting import Export, Exported
from pivcs.render.amounts import plural
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import visible

_SHORT = 10
_LEFT = {
    "moved": "somebody else has moved it; --force sets it",
    "other export": "it is of an export with other options, for which another DEST is the place; --force sets it",
    "checked out": "a work tree is on it",
    "in the way": "a ref or a directory of refs of that name is in the way",
}


def export_lines(done: Export, where: str, looks: Looks) -> Iterator[str]:
    """Yield a line a session, its refs below it where they changed, and what was written."""
    for session in done.sessions:
        changed = [moved for moved in session.moved if moved.outcome != "same"]
        new = f", {session.new:,} new" if session.new else ""
        yield f"{looks.styler(Role.ID, session.folder)}  {plural(session.commits, 'commit')}{new}" + (
            "" if changed else looks.styler(Role.DIM, "  nothing new")
        )
        for moved in changed:
            yield "  " + _moved_line(moved, looks)
        if not session.commits and not session.view.node_count():
            yield "  " + looks.styler(Role.WARNING, "there is no entry in it: no session of pi's")
        for name, entries in session.unfinished:
            left = f"{_name(name)}: {plural(entries, 'entry', 'entries')} of a turn that has not ended left out"
            yield "  " + looks.styler(Role.DIM, left)
    if done.page is not None and done.page.outcome == "refused":
        why = _LEFT_PAGE.get(done.page.reason or "moved", _LEFT_PAGE["moved"])
        yield looks.styler(Role.WARNING, f"the branch 'sessions' was left: {why}")
    yield f"{plural(done.objects, 'object')} written to {visible(where, keep='')}"


def _moved_line(moved: Moved, looks: Looks) -> str:
    name = _name(moved.name)
    if moved.outcome == "refused":
        return looks.styler(Role.WARNING, f"left      {name}{left_why(moved)}")
    old = "" if moved.old is None else f"{moved.old.hex()[:_SHORT]}.."
    return f"{moved.outcome:<9} {looks.styler(Role.BRANCH, name)}  {old}{moved.new.hex()[:_SHORT]}"


_LEFT_PAGE = {
    "moved": "somebody else has moved it meanwhile; export again",
    "checked out": "it is checked out there, see `git switch --detach`",
    "no page": "it is something else than a start page",
}


def left_why(moved: Moved) -> str:
    """Return where a ref stays that was left, and why."""
    at = f"  at {moved.old.hex()[:_SHORT]}" if moved.old is not None else ""
    return f"{at}: {_LEFT[moved.reason or 'moved']}"


def _name(ref: str) -> str:
    return visible(ref.removeprefix("refs/heads/").removeprefix("refs/"), keep="")


def export_document(done: Export, where: str) -> Document:
    """Return what an export did as a document, schema `pivcs.export/1`."""
    return {
        "schema": "pivcs.export/1",
        "repository": where,
        "objects": done.objects,
        "page": None if done.page is None else _ref(done.page),
        "sessions": [_session(each) for each in done.sessions],
    }


def _session(session: Exported) -> Document:
    return {
        "path": session.view.where,
        "key": session.view.key.hex if session.view.key is not None else None,
        "folder": session.folder,
        "commits": session.commits,
        "new": session.new,
        "unfinished": [{"name": name, "entries": entries} for name, entries in session.unfinished],
        "refs": [_ref(moved) for moved in session.moved],
    }


def _ref(moved: Moved) -> Document:
    return {
        "name": moved.name,
        "outcome": moved.outcome,
        "old": None if moved.old is None else moved.old.hex(),
        "new": moved.new.hex(),
        "reason": moved.reason,
    }
