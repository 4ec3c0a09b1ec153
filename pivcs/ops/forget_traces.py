"""What the store says of an entry outside of its bytes: texts in the log of operations, and names made from it.

The log of operations keeps its shape: a word is replaced, an operation never removed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pivcs.errors import PivcsError
from pivcs.ops.naming import slug
from pivcs.ops.view import SessionView
from pivcs.session.codes import LABEL, SESSION_INFO
from pivcs.store.kept import KeptStore
from pivcs.store.store import Store

SHORTEST: Final = 4
"""Shorter words are not looked for: they would be found everywhere."""
PART_SHORTEST: Final = 6
"""The same for parts of a quoted text: too much is replaced rather than too little."""
KEPT_SHORTEST: Final = 16
"""The same for texts that are looked for in files."""
INSTEAD: Final = "FORGOTTEN"
_NOT_SAID: Final = frozenset(
    ("type", "id", "parentId", "timestamp", "role", "targetId", "toolCallId", "toolName", "api", "provider", "model",
     "modelId", "stopReason", "firstKeptEntryId", "fromId", "mimeType")
)  # fmt: skip
_NAME: Final = re.compile("[0-9a-f]{4,8}|HEAD|main")
"""What names an entry more likely than that it says something of one."""
_OPTION: Final = re.compile("--[a-z-]+(?:=|$)|-[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Traces:
    """Commands with other words, by operation; rows of changes with texts to replace; names of branches, by stream,
    with their new ones; and the paths of files that are kept for `undo` and have text of the entry, which stay."""

    commands: tuple[tuple[int, str], ...] = ()
    texts: tuple[bytes, ...] = ()
    branches: tuple[tuple[int, str, str], ...] = ()
    kept: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commands or self.texts or self.branches)


def find_traces(store: Store, view: SessionView, row: int) -> Traces:
    """Return what else the store has of an entry."""
    said = [text for text in _said(view.value(row)) if len(text) >= SHORTEST]
    name = slug(view.subject(row))
    texts = []
    if view.table.code[row] in (LABEL, SESSION_INFO):
        entry = view.entry(row)
        texts = [text.encode("utf-8", "surrogatepass") for text in (entry.label, entry.name) if text]
    commands = []
    for operation in store.refs.operations():
        changed = _without(operation.command, [*said, name] if len(name) >= SHORTEST else said)
        if changed != operation.command:
            commands.append((operation.id, changed))
    return Traces(tuple(commands), tuple(texts), tuple(_branches(store, name)), tuple(_kept(store, said)))


def remove_traces(store: Store, traces: Traces) -> None:
    """Replace what was found, in the caller's transaction."""
    connection = store.database.connection
    connection.executemany(
        "UPDATE operation SET command = ? WHERE id = ?", ((command, ident) for ident, command in traces.commands)
    )
    for column in ("old", "new"):
        connection.executemany(
            f"UPDATE ref_change SET {column} = ? WHERE ref IN ('label', 'session-name') AND {column} = ?",
            ((INSTEAD.encode(), text) for text in traces.texts),
        )
    for stream, old, new in traces.branches:
        connection.execute("UPDATE branch SET name = ? WHERE stream = ? AND name = ?", (new, stream, old))
        connection.execute(
            "UPDATE ref_change SET name = ? WHERE ref = 'branch' AND stream = ? AND name = ?", (new, stream, old)
        )


def _said(value: object) -> Iterator[str]:
    """Yield the texts in a value that somebody wrote."""
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, str):
            yield at
        elif isinstance(at, list):
            waiting += at
        elif isinstance(at, dict):
            waiting += [item for key, item in at.items() if key not in _NOT_SAID]


def _without(command: str, said: list[str]) -> str:
    """Return a command without the words that say what a text says, or a part of it."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    kept = [word if place < 2 or not _tells(word, said) else INSTEAD for place, word in enumerate(words)]
    return command if kept == words else shlex.join(kept)


def _tells(word: str, said: list[str]) -> bool:
    option = _OPTION.match(word)
    if option is not None:
        word = word[option.end() :]
    if len(word) < SHORTEST or _NAME.fullmatch(word):
        return False
    parts = [part for part in word.split() if len(part) >= PART_SHORTEST]
    return any(
        word in text or any(part in text for part in parts) or any(line in word for line in _lines(text))
        for text in said
    )


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if len(line.strip()) >= SHORTEST)


def _branches(store: Store, name: str) -> Iterator[tuple[int, str, str]]:
    """Yield the branches that were named after a prompt."""
    if not name:
        return
    pattern = re.compile(re.escape(name) + r"(-[0-9]+)?")
    for stream in store.streams():
        branches = store.refs.branches(stream)
        taken = {branch.name for branch in branches}
        for branch in branches:
            if branch.automatic or not pattern.fullmatch(branch.name):
                continue
            free, number = INSTEAD.lower(), 1
            while free in taken:
                number += 1
                free = f"{INSTEAD.lower()}-{number}"
            taken.add(free)
            yield stream.id, branch.name, free


def _kept(store: Store, said: list[str]) -> Iterator[str]:
    """Yield the paths of kept files that have a longer text of the entry."""
    needles = {text.encode("utf-8", "surrogatepass") for text in said if len(text) >= KEPT_SHORTEST}
    kept = KeptStore(store.database)
    found = set()
    for content in kept.contents() if needles else ():
        try:
            data = b"".join(kept.read(content))
        except PivcsError:
            continue
        if any(needle in data for needle in needles) or (
            len(data.strip()) >= KEPT_SHORTEST and any(data.strip() in needle for needle in needles)
        ):
            found.add(content)
    if found:
        with store.database.reading() as connection:
            for path, old, new in connection.execute("SELECT path, old_content, new_content FROM kept_file").fetchall():
                if old in found or new in found:
                    yield path.decode("utf-8", "backslashreplace")
