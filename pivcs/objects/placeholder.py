"""What stands in a stream where a forgotten record was: an entry of the same length that declares the object id.

So no offset moves, everything below verifies as before, and whoever is given the stream needs nothing beside it
(`docs/format.md`, "Forgotten records").
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Iterable
from itertools import chain
from typing import Final, NamedTuple

from pivcs.session.codes import FORGOTTEN, GONE, is_conversation
from pivcs.session.fields import FieldsLike
from pivcs.session.times import parse_time

HEAD: Final = 1 << 16
"""Bytes of a record in which everything but the padding must stand."""
_NAMES: Final = {FORGOTTEN: b"pivcs.forgotten", GONE: b"pivcs.gone"}
_STRING: Final = rb'"(?:[^"\\]|\\.)*"'
# Compiled when it is needed: mostly nothing was forgotten.
_BEGINNING: Final = (
    rb'\{"type":"pivcs\.(?:forgotten|gone)"'
    rb'(?:,"id":' + _STRING + rb',"parentId":(?:' + _STRING + rb"|null))?"
    rb'(?:,"timestamp":' + _STRING + rb')?,"oid":"([A-Za-z0-9_-]{43})"'
)


class Placeholder(NamedTuple):
    """The bytes that stand for a forgotten record of `length` bytes: `head`, spaces, and a closing brace."""

    head: bytes
    length: int

    def part(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""
        stop = min(stop, self.length)
        end = self.length - 1
        padding = b" " * (min(stop, end) - max(start, len(self.head)))
        return self.head[start:stop] + padding + (b"}" if start <= end < stop else b"")


def make_placeholder(
    fields: FieldsLike, code: int, digest: bytes, length: int, *, version1: bool
) -> Placeholder | None:
    """Return what takes the place of a record of `length` bytes with an object id; None when it is too short for that.

    Id and parent are those of the record, in a stream of version 1 there are none; the time is kept if there is room.
    """
    from pivcs.session.jsonwrite import dump_json

    head = b'{"type":"' + _NAMES[FORGOTTEN if is_conversation(code) else GONE] + b'"'
    if not version1:
        parent = fields.parentId
        head += b',"id":' + dump_json(fields.id or "") + b',"parentId":'
        head += dump_json(parent) if parent is not None else b"null"
    oid = b',"oid":"' + b64encode(digest, b"-_").rstrip(b"=") + b'"'
    stamp = b""
    if len(fields.timestamp) <= 40 and parse_time(fields.timestamp) is not None:
        stamp = b',"timestamp":' + dump_json(fields.timestamp)
    for whole in (head + stamp + oid, head + oid):
        if len(whole) < length and len(whole) <= HEAD:
            return Placeholder(whole, length)
    return None


def read_placeholder(head: bytes, rest: Iterable[bytes] = ()) -> bytes | None:
    """Return the object id that a record declares, given by its first bytes (up to `HEAD`) and the others in pieces;
    None for a record that is no placeholder."""
    found = re.match(_BEGINNING, head, re.DOTALL)
    if found is None:
        return None
    closed = False
    for piece in chain((head[found.end() :],), rest):
        if piece and closed:
            return None
        body = piece.lstrip(b" ")
        if body == b"}":
            closed = True
        elif body:
            return None
    digest = urlsafe_b64decode(found[1] + b"=")
    return digest if closed and b64encode(digest, b"-_").rstrip(b"=") == found[1] else None


def placeholder_of(record: bytes, length: int) -> Placeholder:
    """Return the placeholder that begins with `record`, which `read_placeholder` has taken."""
    found = re.match(_BEGINNING, record, re.DOTALL)
    assert found is not None
    return Placeholder(found[0], length)
