"""What became of one file in all that a session ever tried: its changes on every path, in file order."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Final

from pivcs.objects.table import ORPHAN
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT
from pivcs.workspace.base import Base
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change, FilePath

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._+@~ -]+")
"""Names that JSON writes as they are, so that bytes can be searched for them."""


class _Walk:
    """A replay that is fed only what may concern one file."""

    __slots__ = ("replay", "wanted")

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.wanted = False
        """Whether the results that come now belong to an answer that may concern the file."""

    def fork(self) -> _Walk:
        """Return a copy for another path."""
        copy = _Walk(self.replay.fork())
        copy.wanted = self.wanted
        return copy


def file_changes(view: SessionView, path: FilePath, base: Base | None = None) -> Iterator[Change]:
    """Yield what the results of every path of a session did to a file, or told about it, in file order.

    Only records with the file's base name in them, and the results of their calls, are parsed, so this takes little
    more than reading the session's bytes. As many file states live as there are paths that may still go on.
    """
    matters = _named(posixpath.basename(path.text))
    codes = view.table.code
    for row, walk in walk_tree(view, lambda: _Walk(Replay(view.header.cwd, base)), _Walk.fork):
        if codes[row] == TOOL_RESULT and not view.table.flags[row] & ORPHAN:
            # A result names the file only sometimes, but nested calls of a script stand in it.
            if not walk.wanted and not matters(view.record(row)):
                continue
        else:
            found = matters(view.record(row))
            walk.wanted = found if codes[row] == ASSISTANT else walk.wanted
            if not found:
                continue
        for change in walk.replay.apply(row, view.entry(row)):
            if change.path == path:
                yield change


def _named(name: str) -> Callable[[bytes], bool]:
    """Return whether a record may have a name in it."""
    if not _PLAIN_NAME.fullmatch(name):
        return lambda record: True
    wanted = name.encode()
    return lambda record: wanted in record or b"\\u00" in record
