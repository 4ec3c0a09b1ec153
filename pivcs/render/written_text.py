"""Session files that were written, as text and as a document."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pivcs.ops.checkout import Written
from pivcs.ops.log import logged
from pivcs.ops.view import SessionView
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks, fitted, subject_spans
from pivcs.render.style import Role
from pivcs.render.text import visible


def written_lines(view: SessionView, row: int | None, written: Written, looks: Looks) -> Iterator[str]:
    """Yield the path of a new file, or the entry of the old one at which pi resumes, and how to resume there.

    `row` is the entry of `view` that the file is about.
    """
    for old, new in written.replayed:
        found = view.table.row_named(old)
        about = subject_spans(logged(view, found), view.subject(found)) if found is not None else []
        ids = [(Role.DIM, visible(old, keep="") + " -> "), (Role.ID, new), (Role.PLAIN, " ")]
        yield looks.styler.spans(fitted([*ids, *about], looks.columns))
    if not written.in_place:
        yield visible(str(written.path), keep="")
    elif row is not None and not written.replayed:
        name = (Role.ID, visible(view.table.name(row), keep=""))
        about = subject_spans(logged(view, row), view.subject(row))
        said = "now at " if written.appended else "already at "
        yield looks.styler.spans(fitted([(Role.PLAIN, said), name, (Role.PLAIN, " "), *about], looks.columns))
    yield looks.styler(Role.DIM, visible(shlex.join(resume(written)), keep=""))
    if written.text is not None:
        yield ""
        for line in visible(written.text).split("\n"):
            yield "    " + line


def resume(written: Written) -> list[str]:
    """Return the command that opens the session in pi."""
    return ["pi", "--session", str(written.path)]


def written_document(written: Written) -> Document:
    """Return what was written as a JSON document."""
    return {
        "schema": "pivcs.written/1",
        "path": str(written.path),
        "id": written.session_id,
        "parent_session": written.parent_session,
        "version": written.version,
        "leaf": written.leaf,
        "in_place": written.in_place,
        "lines": written.lines,
        "size": written.size,
        "appended": list(written.appended),
        "replayed": [{"old": old, "new": new} for old, new in written.replayed],
        "text": written.text,
        "resume": resume(written),
    }
