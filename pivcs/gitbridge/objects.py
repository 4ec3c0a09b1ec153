"""Git's objects as bytes, and their ids: pure functions, as cheap as they can be for millions of objects.

Ids are SHA-1 digests of 20 bytes; a repository of SHA-256 objects is refused where it is opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha1
from typing import Final, NamedTuple, Protocol

COMMIT: Final = 1
TREE: Final = 2
BLOB: Final = 3

KIND_NAMES: Final = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}
_PREFIX: Final = {kind: name + b" %d\0" for kind, name in KIND_NAMES.items()}

FILE_MODE: Final = b"100644"
EXECUTABLE_MODE: Final = b"100755"
TREE_MODE: Final = b"40000"
LINK_MODE: Final = b"160000"
"""Of another repository's commit, as submodules have it."""

LATEST_TIME: Final = 253_402_300_799
"""The end of the year 9999, in seconds: what git and other readers of dates can show."""


class ObjectSink(Protocol):
    """Takes objects: writes them into a pack, or only tells their ids."""

    def add(self, kind: int, data: bytes, base: bytes | None = None, delta: bytes | None = None) -> bytes:
        """Take an object, and return its id; `delta` makes it of the object `base`."""


class Identity(NamedTuple):
    """Who did something and when: seconds since 1970, in UTC."""

    name: bytes
    email: bytes
    time: int

    def encode(self) -> bytes:
        """Return the line's value as git has it. Characters that would end a part of it are left out."""
        return b"%s <%s> %d +0000" % (_clean(self.name), _clean(self.email), self.time)


def object_id(kind: int, data: bytes | memoryview) -> bytes:
    """Return the id of an object."""
    state = sha1(_PREFIX[kind] % len(data), usedforsecurity=False)
    state.update(data)
    return state.digest()


def tree_entry(mode: bytes, name: bytes, ident: bytes) -> bytes:
    """Return one entry of a tree; entries must be joined in the order of `tree_order`."""
    return mode + b" " + name + b"\0" + ident


def tree_order(mode: bytes, name: bytes) -> bytes:
    """Return what entries of a tree are sorted by: a directory as if its name ended in a slash."""
    return name + b"/" if mode == TREE_MODE else name


def tree_bytes(entries: Iterable[tuple[bytes, bytes, bytes]]) -> bytes:
    """Return a tree of mode, name and id of its entries, in any order."""
    ordered = sorted(entries, key=lambda entry: tree_order(entry[0], entry[1]))
    return b"".join([tree_entry(*entry) for entry in ordered])


def commit_bytes(
    tree: bytes, parents: Iterable[bytes], author: Identity, committer: Identity, message: bytes
) -> bytes:
    """Return a commit; ids are those of 20 bytes, the message is UTF-8 without NUL."""
    lines = [b"tree " + tree.hex().encode()]
    lines += [b"parent " + parent.hex().encode() for parent in parents]
    lines += [b"author " + author.encode(), b"committer " + committer.encode(), b"", message]
    return b"\n".join(lines)


def seconds(milliseconds: int | None) -> int:
    """Return a time as commits have it: whole seconds, 0 for none, within what git takes for a date."""
    return min(max((milliseconds or 0) // 1000, 0), LATEST_TIME)


_CRUD: Final = bytes(range(33)) + b'.,:;<>"\\\''
"""What git takes off both ends of a name or an address."""


def _clean(text: bytes) -> bytes:
    """Return a name or an address as git itself would write it."""
    return text.strip(_CRUD).translate(None, b"\n<>\0")
