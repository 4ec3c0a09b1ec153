"""Object ids: digests with a type of their own, hexadecimal only at the edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DIGEST_SIZE: Final = 32
NO_PARENT: Final = bytes(DIGEST_SIZE)
"""Stands in the hash of a node for a parent that it does not have."""


@dataclass(frozen=True, slots=True, order=True)
class ObjectId:
    """The BLAKE3 digest that names a node, a session or a chunk. Raises ValueError when it is not 32 bytes."""

    digest: bytes

    def __post_init__(self) -> None:
        if len(self.digest) != DIGEST_SIZE:
            raise ValueError(f"an object id has {DIGEST_SIZE} bytes, not {len(self.digest)}")

    @classmethod
    def from_hex(cls, text: str) -> ObjectId:
        """Read 64 hexadecimal digits. Raises ValueError."""
        return cls(bytes.fromhex(text))

    @property
    def hex(self) -> str:
        """All 64 hexadecimal digits, lower case."""
        return self.digest.hex()

    def __str__(self) -> str:
        return self.digest.hex()
