"""Streams read back from a repository, and compared with all that they say of themselves.

The trees of a stream are made again from the ids of its parts: one that has a file too many, too few or under another
name is not what was written. Bytes are handed out before the last of them is checked, so whoever takes them must not
use them before the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from traceback import clear_frames
from typing import TYPE_CHECKING, Final, NamedTuple

from blake3 import blake3

from pivcs.errors import DataError, UnsupportedFormat
from pivcs.gitbridge.objects import BLOB, KIND_NAMES, TREE, object_id
from pivcs.gitbridge.streams import (
    ATTRIBUTES,
    DESCRIPTION,
    FORMAT,
    MOST_PARTS,
    NO_CONVERSION,
    describe,
    part_path,
    stream_trees,
)

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_LARGEST_DESCRIPTION: Final = 1 << 12


class StreamDamaged(DataError):
    """A stream in a repository is not what was written. `where` is the ref or the folder, `path` the file in it."""

    def __init__(self, where: str, path: str, what: str) -> None:
        place = f"'{where}', file '{path}'" if path else f"'{where}'"
        super().__init__(
            f"a stream is damaged: {place}: {what}",
            hint="it was changed or is incomplete; take it from another copy of the repository",
        )
        self.where = where
        self.path = path


class NewerStream(UnsupportedFormat):
    """A stream that a newer pivcs wrote."""

    def __init__(self, where: str, found: str) -> None:
        super().__init__(f"'{where}' has the format '{found}', and this pivcs knows '{FORMAT}'", hint="update pivcs")


class StoredStream(NamedTuple):
    """A stream as its description has it: where it was found, the session's key, digest and number of bytes, and its
    parts' ids."""

    where: str
    key: bytes
    digest: bytes
    size: int
    parts: tuple[bytes, ...]


def read_stream(objects: DiskObjectStore, tree: bytes, where: str) -> StoredStream:
    """Return what a tree holds as a stream, without its bytes. Raises `StreamDamaged`, `NewerStream`."""
    entries = _entries(objects, tree, where, "")
    description = entries.get(DESCRIPTION)
    if description is None:
        raise StreamDamaged(where, DESCRIPTION.decode(), "it is missing")
    raw = _raw(objects, BLOB, description, where, DESCRIPTION.decode())
    key, digest, size, count = _described(raw, where)
    parts: list[bytes] = []
    for first in range(0, count, 100):
        high, middle, _ = part_path(first)
        outer = _entries(objects, _entry(entries, high, where, high), where, high.decode())
        place = high + b"/" + middle
        inner = _entries(objects, _entry(outer, middle, where, place), where, place.decode())
        for number in range(first, min(first + 100, count)):
            name = part_path(number)[2]
            parts.append(_entry(inner, name, where, place + b"/" + name))
    attributes = object_id(BLOB, NO_CONVERSION)
    made = b""
    for each in stream_trees(parts, object_id(BLOB, raw), attributes):
        made = object_id(TREE, each)
    if made != tree or describe(key, digest, size, count) != raw:
        path = "" if entries.get(ATTRIBUTES) == attributes else ATTRIBUTES.decode()
        raise StreamDamaged(where, path, "its files are not those of a stream")
    return StoredStream(where, key, digest, size, tuple(parts))


def stream_bytes(objects: DiskObjectStore, stream: StoredStream) -> Iterator[bytes]:
    """Yield the bytes of a stream, part by part. Raises `StreamDamaged`, at the latest behind the last part."""
    state = blake3()
    size = 0
    for number, ident in enumerate(stream.parts):
        part = _raw(objects, BLOB, ident, stream.where, b"/".join(part_path(number)).decode())
        state.update(part)
        size += len(part)
        if size > stream.size:
            break
        yield part
    if size != stream.size:
        raise StreamDamaged(stream.where, "", f"its parts have {size:,} bytes, and {stream.size:,} are told")
    if state.digest() != stream.digest:
        raise StreamDamaged(stream.where, "", "its bytes do not have the digest that is told")


def _described(raw: bytes, where: str) -> tuple[bytes, bytes, int, int]:
    """Return key, digest, size and number of parts."""
    name = DESCRIPTION.decode()
    try:
        value = json.loads(raw) if len(raw) <= _LARGEST_DESCRIPTION else None
    except (ValueError, RecursionError) as error:
        raise StreamDamaged(where, name, "it is no JSON") from error
    if not isinstance(value, dict) or not isinstance(value.get("format"), str):
        raise StreamDamaged(where, name, "it describes no stream")
    if value["format"] != FORMAT:
        if value["format"].startswith(FORMAT.rstrip("0123456789")):
            raise NewerStream(where, value["format"])
        raise StreamDamaged(where, name, "it describes no stream")
    try:
        key, digest = bytes.fromhex(value["session"]), bytes.fromhex(value["blake3"])
        size, parts = value["size"], value["parts"]
    except (KeyError, TypeError, ValueError) as error:
        raise StreamDamaged(where, name, "something is missing in it") from error
    if type(size) is not int or type(parts) is not int or not 0 <= parts <= MOST_PARTS or len(key) != 32:
        raise StreamDamaged(where, name, "a number in it cannot be right")
    return key, digest, size, parts


def _entry(entries: dict[bytes, bytes], name: bytes, where: str, path: bytes) -> bytes:
    found = entries.get(name)
    if found is None:
        raise StreamDamaged(where, path.decode(), "it is missing")
    return found


def _entries(objects: DiskObjectStore, ident: bytes, where: str, path: str) -> dict[bytes, bytes]:
    """Return the names in a tree and their ids."""
    raw = _raw(objects, TREE, ident, where, path)
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(raw):
        space, end = raw.find(b" ", at), raw.find(b"\0", at)
        if not at < space < end or end + 21 > len(raw):
            raise StreamDamaged(where, path, "it is no tree")
        found[raw[space + 1 : end]] = raw[end + 1 : end + 21]
        at = end + 21
    return found


def _raw(objects: DiskObjectStore, kind: int, ident: bytes, where: str, path: str) -> bytes:
    """Return the bytes of an object after comparing them with its id."""
    from dulwich.objects import ObjectID

    what = ""
    found, raw = 0, b""
    try:
        found, raw = objects.get_raw(ObjectID(ident.hex().encode()))
    except KeyError:
        what = f"the repository does not have the object {ident.hex()}"
    except Exception as error:  # what dulwich makes of damaged bytes has no bounds
        what = f"the object {ident.hex()} cannot be read"
        clear_frames(error.__traceback__)  # they hold pieces of the pack, which could not be closed then
    if what:
        raise StreamDamaged(where, path, what)
    if found != kind or object_id(kind, raw) != ident:
        name = KIND_NAMES[kind].decode()
        raise StreamDamaged(where, path, f"the object {ident.hex()} is not the {name} that its id says")
    return raw
