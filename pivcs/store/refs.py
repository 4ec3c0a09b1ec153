"""Branches, tags and the log of operations, as rows. What they mean is decided above."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pivcs.store.database import Database
from pivcs.store.records import Stream


class Branch(NamedTuple):
    """A name for a conversation entry's row in a stream.

    `automatic`: nobody has made or renamed it. `deleted`: the user removed it, and it must not come back.
    """

    name: str
    row: int
    automatic: bool = True
    deleted: bool = False


class RefChange(NamedTuple):
    """One ref before and after an operation: object ids, None where it was not there. `stream` is None for a tag."""

    session: bytes
    stream: int | None
    ref: str
    name: str
    old: bytes | None
    new: bytes | None
    was_automatic: bool = False


class Operation(NamedTuple):
    """One change of refs, whole. `time` is milliseconds since 1970; `about` is what an undo or redo is about."""

    id: int
    time: int
    kind: str
    command: str
    about: int | None


class RefStore:
    """Refs of all sessions. Methods that write take part in the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def branches(self, stream: Stream) -> list[Branch]:
        """Return the branches of a stream by name, deleted ones too."""
        return self._branches("WHERE stream = ? ORDER BY name", stream.id)

    def branches_at(self, stream: Stream, row: int) -> list[Branch]:
        """Return the branches, not deleted, whose tip is a row."""
        return self._branches("WHERE stream = ? AND row = ? AND NOT deleted ORDER BY name", stream.id, row)

    def branch(self, stream: Stream, name: str) -> Branch | None:
        """Return a branch by its name, also a deleted one."""
        found = self._branches("WHERE stream = ? AND name = ?", stream.id, name)
        return found[0] if found else None

    def has_branches(self, stream: Stream) -> bool:
        """Whether a stream ever had a branch."""
        return bool(self._branches("WHERE stream = ? LIMIT 1", stream.id))

    def branch_count(self, stream: Stream) -> int:
        """Return how many branches, not deleted, a stream has."""
        ((count,),) = self._all("SELECT count(*) FROM branch WHERE stream = ? AND NOT deleted", stream.id)
        return int(count)

    def put_branches(self, stream: int, branches: Iterable[Branch]) -> None:
        """Write branches, over those of the same names."""
        self._database.connection.executemany(
            "INSERT OR REPLACE INTO branch (stream, name, row, automatic, deleted) VALUES (?, ?, ?, ?, ?)",
            ((stream, each.name, each.row, each.automatic, each.deleted) for each in branches),
        )

    def remove_branch(self, stream: int, name: str) -> None:
        """Remove a branch without a trace."""
        self._database.connection.execute("DELETE FROM branch WHERE stream = ? AND name = ?", (stream, name))

    def is_tip(self, stream: Stream, row: int) -> bool:
        """Whether a row of a node has no child in a stream."""
        return bool(self._all("SELECT 1 FROM tip WHERE stream = ? AND row = ?", stream.id, row))

    def change_tips(self, stream: int, gone: Iterable[int], new: Iterable[int]) -> None:
        """Take rows that have a child now from the tips, and add others."""
        connection = self._database.connection
        connection.executemany("DELETE FROM tip WHERE stream = ? AND row = ?", ((stream, row) for row in gone))
        connection.executemany("INSERT OR IGNORE INTO tip VALUES (?, ?)", ((stream, row) for row in new))

    def label_settings(self, stream: Stream) -> list[tuple[str, str]]:
        """Return target id and text of each label entry of a stream, in file order; an empty text clears."""
        rows = self._all("SELECT target, text FROM label WHERE stream = ? ORDER BY row", stream.id)
        return [(_text(target), _text(text)) for target, text in rows]

    def add_label_settings(self, stream: int, settings: Iterable[tuple[int, str, str]]) -> None:
        """Write row, target id and text of label entries."""
        self._database.connection.executemany(
            "INSERT INTO label (stream, row, target, text) VALUES (?, ?, ?, ?)",
            ((stream, row, _bytes(target), _bytes(text)) for row, target, text in settings),
        )

    def tags(self, session: bytes) -> dict[str, bytes]:
        """Return the tags of a session and the object ids that they name."""
        rows = self._all(
            "SELECT tag.name, tag.oid FROM tag JOIN session ON session.id = tag.session WHERE session.key = ? "
            "ORDER BY tag.name",
            session,
        )
        return dict(rows)

    def put_tag(self, session: bytes, name: str, oid: bytes | None) -> None:
        """Set a tag, or remove it with None."""
        connection = self._database.connection
        (ident,) = connection.execute("SELECT id FROM session WHERE key = ?", (session,)).fetchone()
        if oid is None:
            connection.execute("DELETE FROM tag WHERE session = ? AND name = ?", (ident, name))
        else:
            connection.execute("INSERT OR REPLACE INTO tag VALUES (?, ?, ?)", (ident, name, oid))

    def add_operation(
        self, time: int, kind: str, command: str, changes: Iterable[RefChange], about: int | None = None
    ) -> int:
        """Record an operation and its changes; returns its number."""
        connection = self._database.connection
        cursor = connection.execute(
            "INSERT INTO operation (time, kind, command, about) VALUES (?, ?, ?, ?)", (time, kind, command, about)
        )
        ident = cursor.lastrowid
        assert ident is not None
        connection.executemany(
            "INSERT INTO ref_change (operation, session, stream, ref, name, old, new, was_automatic) "
            "VALUES (?, (SELECT id FROM session WHERE key = ?), ?, ?, ?, ?, ?, ?)",
            (
                (ident, each.session, each.stream, each.ref, each.name, each.old, each.new, each.was_automatic)
                for each in changes
            ),
        )
        return ident

    def operations(self, *, kinds: Iterable[str] = (), limit: int = -1) -> list[Operation]:
        """Return operations, newest first; of some kinds only when any are given."""
        wanted = tuple(kinds)
        condition = f"WHERE kind IN ({','.join('?' * len(wanted))}) " if wanted else ""
        rows = self._all(
            f"SELECT id, time, kind, command, about FROM operation {condition}ORDER BY id DESC LIMIT ?", *wanted, limit
        )
        return [Operation(*row) for row in rows]

    def changes_of(self, operation: int) -> list[RefChange]:
        """Return the changes of an operation."""
        return [
            RefChange(key, stream, ref, name, old, new, bool(automatic))
            for key, stream, ref, name, old, new, automatic in self._all(
                "SELECT session.key, stream, ref, name, old, new, was_automatic FROM ref_change "
                "JOIN session ON session.id = ref_change.session WHERE operation = ? ORDER BY ref_change.rowid",
                operation,
            )
        ]

    def history(self, stream: int, branch: str, *, before: int | None = None) -> list[tuple[Operation, RefChange]]:
        """Return the operations that changed a branch, newest first; only those older than the operation `before`."""
        rows = self._all(
            "SELECT operation.id, time, kind, command, about, session.key, old, new, was_automatic FROM ref_change "
            "JOIN operation ON operation.id = ref_change.operation JOIN session ON session.id = ref_change.session "
            "WHERE stream = ? AND ref = 'branch' AND name = ? AND (? IS NULL OR operation.id < ?) "
            "ORDER BY ref_change.rowid DESC",
            stream, branch, before, before,
        )  # fmt: skip
        return [
            (Operation(*row[:5]), RefChange(row[5], stream, "branch", branch, row[6], row[7], bool(row[8])))
            for row in rows
        ]

    def _branches(self, condition: str, *values: object) -> list[Branch]:
        rows = self._all(f"SELECT name, row, automatic, deleted FROM branch {condition}", *values)
        return [Branch(name, row, bool(automatic), bool(deleted)) for name, row, automatic, deleted in rows]

    def _all(self, statement: str, *values: object) -> list[Any]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
