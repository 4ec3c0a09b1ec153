"""Files of a work tree as they were before an operation, and as they were to be after it: what an undo needs.

The bytes are chunks like those of streams, so that equal ones are stored once and `gc` compresses them. They stay as
long as the operation is in the log of operations.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pivcs.objects.hashing import chunk_id, whole_hash
from pivcs.store.database import Database
from pivcs.store.errors import StoreDamaged
from pivcs.store.pieces import pack, unpack

PIECE: Final = 1 << 20
"""Bytes of one chunk of a kept file, at most."""

PLANNED: Final = "planned"
DONE: Final = "done"
CHANGED: Final = "changed"
FAILED: Final = "failed"


class Kept(NamedTuple):
    """What is, or was, at a path: the mode as stat() has it, None for nothing; and the number of the kept content, None
    for nothing and for a directory."""

    mode: int | None
    content: int | None = None

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
        return self.mode is not None and stat.S_ISDIR(self.mode)


NOTHING: Final = Kept(None)


class KeptFile(NamedTuple):
    """A path below the directory of an operation, what was there before, and what was to be there after.

    `outcome` is `planned` (not done yet, or stopped before it was noted), `done`, `changed` or `failed`.
    """

    place: int
    path: bytes
    old: Kept
    new: Kept
    outcome: str = PLANNED


class KeptTree(NamedTuple):
    """The directory that an operation changed. `busy`: its temporary files, named by `token`, may be there."""

    operation: int
    root: bytes
    token: str
    busy: bool


class KeptStore:
    """Kept files of all operations. Methods that write take part in the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_content(self, pieces: Iterable[bytes]) -> tuple[int, bytes]:
        """Keep bytes, given in pieces of any size; return the number of the content and the digest of the bytes."""
        connection = self._database.connection
        chunks: list[tuple[int, int]] = []
        size = 0

        def stored() -> Iterator[bytes]:
            nonlocal size
            for piece in _regular(pieces):
                chunks.append((size, self._add_chunk(piece)))
                size += len(piece)
                yield piece

        digest = whole_hash(stored())
        found = connection.execute("SELECT id FROM kept_content WHERE hash = ?", (digest,)).fetchone()
        if found is not None:
            return int(found[0]), digest
        ident = connection.execute(
            "INSERT INTO kept_content (hash, size) VALUES (?, ?)", (digest, size)
        ).lastrowid
        assert ident is not None
        connection.executemany(
            "INSERT INTO kept_piece (content, offset, chunk) VALUES (?, ?, ?)",
            ((ident, offset, chunk) for offset, chunk in chunks),
        )
        return ident, digest

    def _add_chunk(self, piece: bytes) -> int:
        connection = self._database.connection
        digest = chunk_id(piece).digest
        found = connection.execute("SELECT id, size, codec, data FROM chunk WHERE hash = ?", (digest,)).fetchone()
        if found is not None:
            ident, size, codec, data = found
            try:
                if unpack(codec, data, size) == piece:
                    return int(ident)
            except (ValueError, TypeError):
                pass
            # It is there but damaged. These are the bytes that it should have.
            codec, packed = pack(piece)
            connection.execute(
                "UPDATE chunk SET size = ?, codec = ?, data = ? WHERE id = ?", (len(piece), codec, packed, ident)
            )
            return int(ident)
        codec, packed = pack(piece)
        cursor = connection.execute(
            "INSERT INTO chunk (hash, size, codec, data) VALUES (?, ?, ?, ?)", (digest, len(piece), codec, packed)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def digest_of(self, content: int) -> bytes:
        """Return the BLAKE3 digest of kept bytes."""
        ((digest,),) = self._all("SELECT hash FROM kept_content WHERE id = ?", content)
        assert isinstance(digest, bytes)
        return digest

    def read(self, content: int) -> Iterator[bytes]:
        """Yield kept bytes in pieces, each compared with its hash. Raises `StoreDamaged`."""
        ((size,),) = self._all("SELECT size FROM kept_content WHERE id = ?", content)
        at = 0
        places = self._all("SELECT offset, chunk FROM kept_piece WHERE content = ? ORDER BY offset", content)
        for offset, chunk in places:
            rows = self._all("SELECT hash, size, codec, data FROM chunk WHERE id = ?", chunk)
            try:
                if offset != at or not rows:
                    raise ValueError(f"bytes are missing at {at}")
                digest, length, codec, data = rows[0]
                piece = unpack(codec, data, length)
                if chunk_id(piece).digest != digest:
                    raise ValueError(f"the bytes at {at} are not what their hash says")
            except (ValueError, TypeError) as error:
                raise StoreDamaged(self._database.where, f"kept content {content}: {error}") from error
            at += len(piece)
            yield piece
        if at != size:
            raise StoreDamaged(self._database.where, f"kept content {content}: {at} bytes instead of {size}")

    def add_tree(self, operation: int, root: bytes, token: str, files: Iterable[KeptFile]) -> None:
        """Record which files an operation is about to change, and mark it as busy."""
        connection = self._database.connection
        connection.execute("INSERT INTO kept_tree VALUES (?, ?, ?, 1)", (operation, root, token))
        connection.executemany(
            "INSERT INTO kept_file (operation, place, path, old_mode, old_content, new_mode, new_content, outcome) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((operation, each.place, each.path, *each.old, *each.new, each.outcome) for each in files),
        )

    def set_busy(self, operation: int, busy: bool) -> None:
        """Say whether an operation's temporary files may be there."""
        self._database.connection.execute("UPDATE kept_tree SET busy = ? WHERE operation = ?", (busy, operation))

    def set_outcomes(self, operation: int, outcomes: Iterable[tuple[int, str]]) -> None:
        """Say what became of files, by their places."""
        self._database.connection.executemany(
            "UPDATE kept_file SET outcome = ? WHERE operation = ? AND place = ?",
            ((outcome, operation, place) for place, outcome in outcomes),
        )

    def tree(self, operation: int) -> KeptTree | None:
        """Return the directory that an operation changed."""
        found = self._trees("WHERE operation = ?", operation)
        return found[0] if found else None

    def busy_trees(self, root: bytes) -> list[KeptTree]:
        """Return the operations in a directory that were stopped in the middle, or are going on."""
        return self._trees("WHERE busy AND root = ? ORDER BY operation", root)

    def files(self, operation: int) -> list[KeptFile]:
        """Return what an operation kept, in the order in which it was to be done."""
        return [
            KeptFile(place, path, Kept(old_mode, old), Kept(new_mode, new), outcome)
            for place, path, old_mode, old, new_mode, new, outcome in self._all(
                "SELECT place, path, old_mode, old_content, new_mode, new_content, outcome FROM kept_file "
                "WHERE operation = ? ORDER BY place",
                operation,
            )
        ]

    def contents(self) -> list[int]:
        """Return the numbers of all kept contents."""
        return [ident for (ident,) in self._all("SELECT id FROM kept_content ORDER BY id")]

    def _trees(self, condition: str, *values: object) -> list[KeptTree]:
        rows = self._all(f"SELECT operation, root, token, busy FROM kept_tree {condition}", *values)
        return [KeptTree(operation, root, token, bool(busy)) for operation, root, token, busy in rows]

    def _all(self, statement: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()


def _regular(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield bytes in pieces of `PIECE`, the last one shorter: equal bytes are cut alike."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= PIECE:
            yield bytes(held[:PIECE])
            del held[:PIECE]
    if held:
        yield bytes(held)
