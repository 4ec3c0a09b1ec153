"""What the store says of an entry outside of its bytes: texts in the log of operations, and names made from it.

The log of operations keeps its shape: a word is replaced, an operation never removed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

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
"""The same for texts that are looked for in parts of files."""
INSTEAD: Final = "FORGOTTEN"
_NOT_SAID: Final = frozenset(
    ("type", "id", "parentId", "timestamp", "role", "targetId", "toolCallId", "toolName", "api", "provider", "model",
     "modelId", "stopReason", "firstKeptEntryId", "fromId", "mimeType")
)  # fmt: skip
_NAME: Final = re.compile("[0-9a-f]{4,8}|HEAD|main")
"""What names an entry more likely than that it says something of one."""
_BETWEEN: Final = re.compile(r"[\W_]+")
_ODD: Final = re.compile("[0-9].*[A-Za-z]|[A-Za-z].*[0-9]|[a-z][A-Z]")
_OPTION: Final = re.compile("--[a-z-]+(?:=|$)|-[A-Za-z]")


class LeftName(NamedTuple):
    """A branch or tag (`ref`) of a session that keeps its name, as the words of an entry in it are ordinary ones."""

    ref: str
    session: bytes
    name: str


@dataclass(frozen=True, slots=True)
class Traces:
    """Commands with other words, by operation; rows of changes with texts to replace; names of branches, by stream,
    and of tags, by session, with their new ones; names that are in the log of operations alone. What stays: names that
    may be said for other reasons, and the paths of files that are kept for `undo` and have text of the entry."""

    commands: tuple[tuple[int, str], ...] = ()
    texts: tuple[bytes, ...] = ()
    branches: tuple[tuple[int, str, str], ...] = ()
    tags: tuple[tuple[bytes, str, str], ...] = ()
    gone: tuple[str, ...] = ()
    left: tuple[LeftName, ...] = ()
    kept: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commands or self.texts or self.branches or self.tags or self.gone)


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
    branches, tags, left = _names(store, said, name, view.key.digest if view.key is not None else None)
    return Traces(
        tuple(commands), tuple(texts), branches, tags, tuple(_gone(store, said)), left, tuple(_kept(store, said))
    )


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
    for key, old, new in traces.tags:
        session = "(SELECT id FROM session WHERE key = ?)"
        connection.execute(f"UPDATE tag SET name = ? WHERE session = {session} AND name = ?", (new, key, old))
        connection.execute(
            f"UPDATE ref_change SET name = ? WHERE ref = 'tag' AND session = {session} AND name = ?", (new, key, old)
        )
    for name in traces.gone:
        connection.execute(
            "UPDATE ref_change SET name = ? WHERE ref IN ('branch', 'tag') AND name = ?", (INSTEAD, name)
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
    return _quotes(word, said) or any(
        word in text or any(part in text for part in parts) or any(line in word for line in _lines(text))
        for text in said
    )


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if len(line.strip()) >= SHORTEST)


def _names(
    store: Store, said: list[str], made: str, session: bytes | None
) -> tuple[tuple[tuple[int, str, str], ...], tuple[tuple[bytes, str, str], ...], tuple[LeftName, ...]]:
    """Return the branches and the tags that get another name, and those of a session that keep theirs though they have
    words of an entry. `made` is the name that a branch gets that is named after the entry."""
    branches, tags, left = [], [], []
    for stream in store.streams():
        there = store.refs.branches(stream)
        own = [branch.name for branch in there if not branch.automatic]
        changed = _renamed(own, {branch.name for branch in there}, said, made)
        branches += [(stream.id, old, new) for old, new in changed.items()]
        if session is not None and stream.session == session:
            shown = [branch.name for branch in there if not branch.automatic and not branch.deleted]
            left += [LeftName("branch", session, name) for name in shown if name not in changed and _tells(name, said)]
    for key in store.session_keys():
        names = list(store.refs.tags(key))
        changed = _renamed(names, set(names), said, made)
        tags += [(key, old, new) for old, new in changed.items()]
        if key == session:
            left += [LeftName("tag", key, name) for name in names if name not in changed and _tells(name, said)]
    return tuple(branches), tuple(tags), tuple(dict.fromkeys(left))


def _renamed(names: list[str], taken: set[str], said: list[str], made: str) -> dict[str, str]:
    """Return other names for those that were made after a prompt, or say what no name says by chance."""
    found = {}
    after = re.compile(re.escape(made) + r"(-[0-9]+)?") if made else None
    for name in names:
        if not (after is not None and after.fullmatch(name)) and not _quotes(name, said):
            continue
        free, number = INSTEAD.lower(), 1
        while free in taken:
            number += 1
            free = f"{INSTEAD.lower()}-{number}"
        taken.add(free)
        found[name] = free
    return found


def _quotes(name: str, said: list[str]) -> bool:
    """Whether a name has a whole text in it, or a word that is no ordinary one: with digits or capitals among its
    letters."""
    if _NAME.fullmatch(name):
        return False
    odd = [part for part in (name, *_BETWEEN.split(name)) if len(part) >= PART_SHORTEST and _ODD.search(part)]
    return any(
        name == text.strip() or (len(text.strip()) >= PART_SHORTEST and text.strip() in name)
        or any(part in text for part in odd)
        for text in said
    )  # fmt: skip


def _gone(store: Store, said: list[str]) -> Iterator[str]:
    """Yield names with words of an entry that only the log of operations has any more."""
    with store.database.reading() as connection:
        names = connection.execute(
            "SELECT DISTINCT name FROM ref_change WHERE ref IN ('branch', 'tag') "
            "AND name NOT IN (SELECT name FROM branch) AND name NOT IN (SELECT name FROM tag)"
        ).fetchall()
    yield from (name for (name,) in names if name != INSTEAD and _tells(name, said))


def _kept(store: Store, said: list[str]) -> Iterator[str]:
    """Yield the paths of kept files that have a longer text of the entry, or nothing but a part of one."""
    texts = [text.encode("utf-8", "surrogatepass") for text in said]
    needles = [text for text in texts if len(text) >= KEPT_SHORTEST]
    kept = KeptStore(store.database)
    found = set()
    for content in kept.contents() if texts else ():
        try:
            data = b"".join(kept.read(content))
        except PivcsError:
            continue
        whole = data.strip()
        if any(needle in data for needle in needles) or (
            len(whole) >= SHORTEST and any(whole in text for text in texts)
        ):
            found.add(content)
    if found:
        with store.database.reading() as connection:
            for path, old, new in connection.execute("SELECT path, old_content, new_content FROM kept_file").fetchall():
                if old in found or new in found:
                    yield path.decode("utf-8", "backslashreplace")
