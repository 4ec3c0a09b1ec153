"""What the store keeps of searches for secrets."""

from __future__ import annotations

import pytest

from pivcs.store.scans import AllowedSecret, Scanned, ScannedSecret
from pivcs.store.store import Store

SECRET = ScannedSecret(3, "github-token", 'data["\ud800 é"]', 2, "0123456789abcdef", "ghp_… (40)")
SCANNED = Scanned("1+1.5.52", 7, 900, (SECRET, SECRET._replace(row=None)))


def test_what_was_found_is_given_back_and_replaced():
    with Store.in_memory() as store:
        assert store.scans.scanned(1) is None
        with store.writing() as connection:
            connection.execute("PRAGMA defer_foreign_keys = ON")
            store.scans.put_scanned(1, SCANNED)
            assert store.scans.scanned(1) == SCANNED
            store.scans.put_scanned(1, SCANNED._replace(rows=8, secrets=()))
            assert store.scans.scanned(1) == Scanned("1+1.5.52", 8, 900, ())
            connection.execute("DELETE FROM scan")


@pytest.mark.parametrize("data", [b"", b"[", b"[[1]]", b"3", b"\xff"])
def test_what_cannot_be_read_counts_as_never_looked_through(data: bytes):
    with Store.in_memory() as store, store.writing() as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        store.scans.put_scanned(1, SCANNED)
        connection.execute("UPDATE scan SET secrets = ?", (data,))
        assert store.scans.scanned(1) is None
        connection.execute("DELETE FROM scan")


def test_allowed_secrets_are_counted_once_and_keep_their_first_note():
    first, second = AllowedSecret("aa", 1, "why"), AllowedSecret("bb", 2, "")
    with Store.in_memory() as store:
        with store.writing():
            assert store.scans.allow([second, first]) == 2
            assert store.scans.allow([first._replace(note="other"), second]) == 0
        assert store.scans.allowed() == [first, second]
        with store.writing():
            assert store.scans.disallow(["aa", "cc"]) == 1
        assert store.scans.allowed() == [second]
