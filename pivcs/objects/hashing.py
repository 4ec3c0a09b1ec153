"""The only user of BLAKE3: what exactly is hashed for each kind of object (`docs/format.md`, "Object ids").

Every kind has its own derive-key context, so no two kinds can share an id and a later change of a recipe gets a new
context. All of it can be checked by hand with the public `b3sum --derive-key`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from blake3 import blake3

from pivcs.objects.oid import NO_PARENT, ObjectId

NODE_CONTEXT: Final = "pivcs node v1"
SESSION_CONTEXT: Final = "pivcs session v1"
HEADERLESS_CONTEXT: Final = "pivcs headerless v1"
CONTENT_CONTEXT: Final = "pivcs content v1"


class NodeHasher:
    """Computes node ids, one after the other, with one BLAKE3 state (a new one per record costs a third more)."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = blake3(derive_key_context=NODE_CONTEXT)

    def digest(self, parent: bytes, record: bytes | memoryview) -> bytes:
        """Return the digest of a node: 32 bytes of the parent's digest (zeros for none), then the record's bytes."""
        state = self._state
        state.reset()
        state.update(parent)
        state.update(record)
        return state.digest()

    def digest_pieces(self, parent: bytes, pieces: Iterable[bytes]) -> bytes:
        """As `digest`, for a record that comes in pieces."""
        state = self._state
        state.reset()
        state.update(parent)
        for piece in pieces:
            state.update(piece)
        return state.digest()


def node_id(parent: ObjectId | None, record: bytes) -> ObjectId:
    """Return the id of the node of a record (its bytes in the file without the LF) below `parent`."""
    return ObjectId(NodeHasher().digest(parent.digest if parent else NO_PARENT, record))


def session_key(session_id: str, timestamp: str) -> ObjectId:
    """Return the key of the session whose header has this id and this timestamp (empty when it has none).

    Hashed are both texts in UTF-8, each behind its length in bytes as eight bytes, little-endian. Lone surrogates are
    encoded as three bytes each.
    """
    state = blake3(derive_key_context=SESSION_CONTEXT)
    for text in (session_id, timestamp):
        data = text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return ObjectId(state.digest())


def headerless_key(first_line: Iterable[bytes]) -> ObjectId:
    """Return the key of a session without a header: a hash of its first line that is not blank, given in pieces."""
    state = blake3(derive_key_context=HEADERLESS_CONTEXT)
    for piece in first_line:
        state.update(piece)
    return ObjectId(state.digest())


def content_digest(said: bytes) -> bytes:
    """Return the digest of what a record says, given as JSON without the ids of itself and its parent."""
    return blake3(said, derive_key_context=CONTENT_CONTEXT).digest()


def chunk_id(data: bytes | memoryview) -> ObjectId:
    """Return the id of a chunk: the plain BLAKE3 hash of its bytes."""
    return ObjectId(blake3(data).digest())


def whole_hash(pieces: Iterable[bytes]) -> bytes:
    """Return the plain BLAKE3 digest of a stream given in pieces."""
    state = blake3()
    for piece in pieces:
        state.update(piece)
    return state.digest()
