"""What a search for secrets has found in each stream, how far it got, and which secrets are allowed to leave."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from pivcs.store.database import Database


class ScannedSecret(NamedTuple):
    """A secret in a stream, without the secret: its row (None: in the unfinished last line, which is not kept), the
    rule, the place in the entry, the line there, a fingerprint, and what may be shown of it."""

    row: int | None
    rule: str
    place: str
    line: int
    fingerprint: str
    excerpt: str


class Scanned(NamedTuple):
    """The first `rows` rows of a stream, `end` bytes, were looked through with rules of this version."""

    rules: str
    rows: int
    end: int
    secrets: tuple[ScannedSecret, ...]


class AllowedSecret(NamedTuple):
    """A secret that may leave. `time` is when that was said, in milliseconds since 1970."""

    fingerprint: str
    time: int
    note: str


class ScanStore:
    """The tables about secrets. Methods that write take part in the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def scanned(self, stream: int) -> Scanned | None:
        """Return what is known of a stream; None when it was never looked through, or that cannot be read."""
        rows = self._all("SELECT rules, row_count, end, secrets FROM scan WHERE stream = ?", stream)
        if not rows:
            return None
        rules, count, end, secrets = rows[0]
        try:
            return Scanned(rules, count, end, tuple(ScannedSecret(*each) for each in json.loads(secrets)))
        except (TypeError, ValueError):
            return None

    def fingerprints(self) -> set[str]:
        """Return the fingerprints of all that was found in streams, by whatever rules."""
        streams = [stream for (stream,) in self._all("SELECT stream FROM scan")]
        found = (self.scanned(stream) for stream in streams)
        return {secret.fingerprint for each in found if each is not None for secret in each.secrets}

    def put_scanned(self, stream: int, scanned: Scanned) -> None:
        """Remember what was found in a stream in place of what was known."""
        secrets = json.dumps(scanned.secrets, separators=(",", ":")).encode()
        self._database.connection.execute(
            "INSERT OR REPLACE INTO scan (stream, rules, row_count, end, secrets) VALUES (?, ?, ?, ?, ?)",
            (stream, scanned.rules, scanned.rows, scanned.end, secrets),
        )

    def allowed(self) -> list[AllowedSecret]:
        """Return the secrets that may leave, by fingerprint."""
        return [
            AllowedSecret(*row)
            for row in self._all("SELECT fingerprint, time, note FROM allowed_secret ORDER BY fingerprint")
        ]

    def allow(self, secrets: Iterable[AllowedSecret]) -> int:
        """Let secrets leave; returns how many of them were not allowed before. What was said first stays."""
        before = self._database.connection.total_changes
        self._database.connection.executemany(
            "INSERT OR IGNORE INTO allowed_secret (fingerprint, time, note) VALUES (?, ?, ?)", secrets
        )
        return self._database.connection.total_changes - before

    def disallow(self, fingerprints: Iterable[str]) -> int:
        """Let secrets leave no more; returns how many of them were allowed."""
        before = self._database.connection.total_changes
        self._database.connection.executemany(
            "DELETE FROM allowed_secret WHERE fingerprint = ?", ((each,) for each in fingerprints)
        )
        return self._database.connection.total_changes - before

    def _all(self, statement: str, *values: object) -> list[Any]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()
