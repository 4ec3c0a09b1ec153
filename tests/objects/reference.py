"""Object ids computed as `docs/format.md` states them, with nothing of pivcs: BLAKE3, `json`, and data by recipe."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blake3 import blake3

VECTORS = Path(__file__).parent.parent / "vectors"


def load(name: str) -> dict[str, Any]:
    """Return a file of vectors."""
    return json.loads((VECTORS / name).read_text(encoding="ascii"))  # type: ignore[no-any-return]


def bytes_of(vector: dict[str, Any]) -> bytes:
    """Return the bytes that a vector states, as text (UTF-8) or as base64."""
    if "base64" in vector:
        return base64.b64decode(vector["base64"], validate=True)
    return str(vector["text"]).encode()


def node_ids(data: bytes, records: Sequence[Sequence[int]], *, version1: bool) -> list[str]:
    """Return the ids of the records of a stream in order, each given by its first offset and the one behind it."""
    last = bytes(32)
    latest: dict[str, bytes] = {}
    found = []
    for start, end in records:
        record = data[start:end]
        value = json.loads(record.decode("utf-8", "replace"))
        parent = last if version1 else latest.get(value.get("parentId"), bytes(32))
        last = declared_id(record) or blake3(parent + record, derive_key_context="pivcs node v1").digest()
        if not version1:
            latest[value["id"]] = last
        found.append(last.hex())
    return found


def declared_id(record: bytes) -> bytes | None:
    """Return the object id that stands in the place of a forgotten record; None for any other record."""
    text = r'"(?:[^"\\]|\\.)*"'
    form = rf',"id":{text},"parentId":(?:null|{text})|'
    found = re.fullmatch(
        rf'\{{"type":"pivcs\.(?:gone|forgotten)"(?:{form})(?:,"timestamp":{text})?,"oid":"([\w-]{{43}})" *\}}',
        record.decode("utf-8", "replace"), re.ASCII,
    )  # fmt: skip
    return base64.urlsafe_b64decode(found[1] + "=") if found is not None else None


def session_key(session_id: str, timestamp: str) -> str:
    """Return the key of a session from its header's two texts."""
    parts = [text.encode("utf-8", "surrogatepass") for text in (session_id, timestamp)]
    hashed = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return blake3(hashed, derive_key_context="pivcs session v1").hexdigest()


def headerless_key(first_line: bytes) -> str:
    """Return the key of a session without a header."""
    return blake3(first_line, derive_key_context="pivcs headerless v1").hexdigest()


def xorshift(seed: int, count: int) -> list[int]:
    """Return the first numbers of the generator of the recipes: 32 bits, shifts 13, 17 and 5."""
    found, state = [], seed
    for _ in range(count):
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        found.append(state)
    return found


def made(recipe: Sequence[dict[str, Any]]) -> bytes:
    """Return the bytes of a recipe, see the note in `chunks.json`."""
    parts = []
    for step in recipe:
        if "repeat" in step:
            parts.append(str(step["repeat"]).encode() * step["times"])
        else:
            alphabet = str(step["alphabet"]).encode()
            picked = bytes(alphabet[number % len(alphabet)] for number in xorshift(step["seed"], step["pick"]))
            parts.append(str(step.get("before", "")).encode() + picked + str(step.get("after", "")).encode())
    return b"".join(parts)
