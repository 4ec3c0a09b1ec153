"""Where an id is that the stream which is shown does not have: a colleague quotes one of how the session went on there.

Only asked when a name is unknown: it reads all other streams of the session.
"""

from __future__ import annotations

from pivcs.ops.access import view_of
from pivcs.ops.names import Names
from pivcs.ops.view import SessionView

_KINDS = ("entry id", "beginning of the id")


def where_else(view: SessionView, text: str) -> str | None:
    """Return a hint for an id that only another source or generation of the session has: where, and what shows it."""
    if view.store is None or view.stream is None or view.stream.session is None:
        return None
    for stream in reversed(view.store.streams_of_session(view.stream.session)):
        if stream.id == view.stream.id:
            continue
        other = view_of(view.store, stream)
        found = next((each for each in Names(other).find(text) if each.kind in _KINDS), None)
        if found is None:
            continue
        rows = {row for _, row in found.places}
        for name in view.refs.elsewhere:
            if name.stream.id == stream.id and not rows.isdisjoint(other.table.path(name.row)):
                return f"it is in another stream of the session, '{other.where}': `pivcs log {name.name}` shows it"
        if view.store.current_stream(stream.source) == stream:
            return f"it is in another stream of the session: `pivcs log -s {other.where} {text}` shows it"
        return f"it was in generation {stream.generation} of '{other.where}', where no branch leads to it any more"
    return None
