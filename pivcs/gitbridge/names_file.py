"""The branches and tags that people made for a session, as a commit without parents (`docs/git-bridge.md`, "Names").

Each store has a ref of its own for them, so that machines never overwrite each other's names.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from pivcs.gitbridge.objects import BLOB, COMMIT, FILE_MODE, TREE, Identity, commit_bytes, seconds, tree_bytes
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.streams import ADDRESS, WRITER
from pivcs.store.remote import NAMES_FORMAT, StoreNames
from pivcs.store.store import Store

FILE: Final = b"names.json"


class NamesCommit(NamedTuple):
    """Names in git: the commit, and how many names it has."""

    commit: bytes
    names: int


def names_of(store: Store, key: bytes) -> StoreNames:
    """Return the names that this store's user gave a session, of all its streams, in order.

    `time` is that of the latest operation on them: of two states of the same store the later one counts.
    """
    branches: set[tuple[str, bytes]] = set()
    for stream in store.streams_of_session(key):
        made = [each for each in store.refs.branches(stream) if not each.automatic and not each.deleted]
        if made:
            table = store.table_of(stream)
            branches.update((branch.name, table.digest(branch.row)) for branch in made)
    return StoreNames(store.remote.latest_change(key), tuple(sorted(branches)), tuple(store.refs.tags(key).items()))


def encode_names(names: StoreNames, key: bytes, store_id: bytes) -> bytes:
    """Return what `names.json` says."""
    value = {
        "format": NAMES_FORMAT,
        "session": key.hex(),
        "store": store_id.hex(),
        "time": names.time,
        "branches": [{"name": name, "node": oid.hex()} for name, oid in names.branches],
        "tags": [{"name": name, "node": oid.hex()} for name, oid in names.tags],
    }
    return json.dumps(value, indent=1).encode() + b"\n"


def write_names(writer: PackWriter, names: StoreNames, key: bytes, store_id: bytes) -> NamesCommit:
    """Add the names of a session to a pack. Raises `NotWritten`."""
    blob = writer.add(BLOB, encode_names(names, key, store_id))
    tree = writer.add(TREE, tree_bytes([(FILE_MODE, FILE, blob)]))
    who = Identity(WRITER, ADDRESS, seconds(names.time))
    message = f"names of session {key.hex()[:16]}\n\nPivcs-Session: {key.hex()}\n"
    commit = writer.add(COMMIT, commit_bytes(tree, [], who, who, message.encode()))
    return NamesCommit(commit, len(names.branches) + len(names.tags))

