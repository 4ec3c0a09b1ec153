"""What a name that has been begun may become: for completion in a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pivcs.objects.table import NODE, OTHER_ID, POSITIONAL
from pivcs.ops.locate import locate
from pivcs.ops.view import SessionView, open_file
from pivcs.session.layout import Surroundings
from pivcs.store.store import Store

SHORTEST_ID: Final = 2
"""Characters of an entry id from which on ids are proposed."""
READ_WHOLE: Final = 8 << 20
"""Files up to this many bytes are read when the store has nothing of them yet."""
_RANGE: Final = re.compile(r"(.*\.\.\.?)(.*)\Z", re.DOTALL)


def known_view(store: Store | None, session: str | None, surroundings: Surroundings) -> SessionView | None:
    """Return a session as the store knows it, without syncing; a small file that it does not know is read.

    Raises what finding the session raises.
    """
    from pivcs.ops.access import view_of

    path = locate(session, surroundings)
    if store is not None:
        source = store.source_at(os.fsencode(os.path.realpath(path)))
        stream = store.current_stream(source.id) if source is not None else None
        if stream is not None:
            return view_of(store, stream)
    return open_file(Path(path)) if os.path.getsize(path) <= READ_WHOLE else None


def names_like(view: SessionView, typed: str, *, most: int = 200) -> Iterator[tuple[str, str]]:
    """Yield names that a text may become, each with what it is: branches, tags, labels, entry ids.

    Behind the dots of a range the second name is completed. At most `most`.
    """
    found = _RANGE.match(typed)
    before, begun = (found[1], found[2]) if found is not None else ("", typed)
    names = [("HEAD", "where pi would go on")]
    names += [(branch.name, "branch") for branch in view.refs.branches]
    names += [(name, "tag") for name in view.refs.tags]
    names += sorted({(text, "label") for text in view.labels.values() if text.isprintable()})
    for name, what in names:
        if name.startswith(begun):
            yield before + name, what
            most -= 1
            if not most:
                return
    for row in _ids_like(view, begun)[:most]:
        yield before + view.table.name(row), view.subject(row)


def _ids_like(view: SessionView, begun: str) -> list[int]:
    """Return the rows of entries whose id begins with a text, in file order."""
    table = view.table
    if len(begun) < SHORTEST_ID:
        return []
    rows = [row for row, ident in table.other_ids.items() if ident.startswith(begun)]
    if len(begun) <= 8 and not begun.strip("0123456789abcdef"):
        low, high = int(begun.ljust(8, "0"), 16), int(begun.ljust(8, "f"), 16)
        rows += [
            row
            for row, ident in enumerate(table.entry_id)
            if low <= ident <= high and table.flags[row] & (NODE | POSITIONAL | OTHER_ID) == NODE
        ]
    return sorted(rows)
